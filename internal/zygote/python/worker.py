"""Third part: the worker, which is walled in, runs exactly one guest and dies."""
import gc
import marshal
import posix
import sys

READ_AT_ONCE = 4096


def frame(kind, payload):
    """Kind, length, payload. See internal/wire."""
    return kind + len(payload).to_bytes(4, "little") + payload


def send(data):
    sent = posix.write(CHANNEL, data)
    while sent < len(data):
        data = memoryview(data)[sent:]
        sent = posix.write(CHANNEL, data)


def receive():
    """Reads a frame: its kind, and what is in it. An end of file means that
    nobody needs us."""
    data = posix.read(CHANNEL, READ_AT_ONCE)
    while missing(data):
        more = posix.read(CHANNEL, min(missing(data), 1 << 20))
        if not more:
            posix._exit(0)
        data += more
    return data[:1], opened(data)


def missing(data):
    """How much of a frame is not there yet."""
    have = len(data)
    return 5 - have if have < 5 else 5 + int.from_bytes(data[1:5], "little") - have


def opened(data):
    """For a start: script, name, context, variables, limits, code, ask, most. See
    startFields in ending.go."""
    return marshal.loads(data[5:] if len(data) <= READ_AT_ONCE else memoryview(data)[5:])


def give_code(data):
    """Tells the Runner what a script is compiled to; nothing if it is of no use."""
    send(frame(b"C", data))


def warm_up(start, names, compiled):
    """Goes the way of a guest, with one of ours, but for what can be done
    only once."""
    if not missing(start):
        script, name, context, shown, _, code, _, most = opened(start)
        report = run(script, name, context, shown, code, stage(names), compiled, last=False)
        flush()
        frame(b"D", pack(report, most))


OUT_OF_MEMORY = frame(b"D", raised("MemoryError"))  # made before memory can run out


def worker(syscall, config, fds, wanted):
    """The straight line from fork to the one guest. Each wall is put up by
    its own name, in an order that the next one does not undo."""
    step = "streams"
    try:
        channel, stdin, stdout, stderr = fds[:4]
        # First of all, so that every page we touch is counted.
        for join in fds[4:]:
            posix.write(join, b"0")
        # The received descriptors are above the standard ones, so no dup2
        # can overwrite one that is still needed.
        for fd, target in ((stdin, 0), (stdout, 1), (stderr, 2), (channel, CHANNEL)):
            if fd != target:
                posix.dup2(fd, target)
        if not config["oneshot"]:  # which leads its session already
            posix.setsid()
        posix.chdir(config["home"])
        step = "limits"
        limit = config["limit"]
        limit(wanted["limits"])
        step = "landlock"
        if config["landlock"]:
            restrict_paths(syscall, config["landlock"])
        step = "descriptors"
        posix.closerange(CHANNEL + 1, CONTROL)
        for fd in config["descriptors"]:
            posix.close(fd)
        step = "capabilities"
        if config["drop"]:
            syscall("capset", b"\x22\x05\x08\x20" + bytes(4), bytes(24))
        # After the last change of credentials, which would clear the wish, and
        # with a look at whether it comes too late.
        step = "parent death signal"
        if config["parent"] is not None:
            syscall("prctl", PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
            if posix.getppid() != config["parent"]:
                posix._exit(0)
        step = "seccomp"
        if config["own"]:
            pid = posix.getpid().to_bytes(4, sys.byteorder)
            install_filter(syscall, pid.join(config["own"]), 0)
        if config["filter"]:
            install_filter(syscall, config["filter"], 0)
        step = "randomness"
        if config["randomness"]:
            config["randomness"].renew()
        step = "warm up"
        # Everything that the guest will make us touch is touched once before
        # it arrives: pages are copied and caches filled off the clock.
        if wanted["warm"]:
            warm_up(config["warmup"], config["builtins"], config["compiled"])
            send(bytes(READ_AT_ONCE)[:0])
        space = stage(config["builtins"])
        # What guests could have written is for guests alone: the fork server
        # must not import it.
        if config["guest_path"]:
            sys.path[:] = config["guest_path"]
        gc.enable()
        send(frame(b"R", b""))
        kind, start = receive()
        step = "narrow limits"
        if start[4]:
            limit(start[4])
    except BaseException as error:
        try:
            send(frame(b"R", marshal.dumps({"step": step, "error": bounded(str, error, 500)}, 2)))
        finally:
            posix._exit(1)
    try:
        if kind == b"S":
            script, name, context, shown, _, code, ask, most = start
            how = sharing(config["compiled"], give_code) if ask else config["compiled"]
            report = run(script, name, context, shown, code, space, how)
        elif kind == b"V":
            report = {"end": "checked", "code": 0, "findings": config["rules"].check(start[0], start[1])}
            most = start[7]
        else:
            serve_hook(config["rules"], start[0], start[1], start[7], config["randomness"])
            posix._exit(0)
        flush()
        last_words = frame(b"D", pack(report, most))
    except MemoryError:
        last_words = OUT_OF_MEMORY
        flush()
    send(last_words)
    # The Runner looks at what we used, and kills us. Whoever comes past this
    # has replaced its channel: its result went nowhere.
    posix.read(CHANNEL, 1)
    posix._exit(1)
