"""The worker, which gets its walls, serves exactly one guest and dies."""
import gc
import marshal
import posix
import sys

import _signal

READ_AT_ONCE = 4096


def frame(kind, payload):
    """Returns kind, length, payload. See internal/wire."""
    return kind + len(payload).to_bytes(4, "little") + payload


def send(data):
    sent = posix.write(CHANNEL, data)
    while sent < len(data):
        data = memoryview(data)[sent:]
        sent = posix.write(CHANNEL, data)


def receive(data=None):
    """Reads a frame, of which data may be the beginning, and returns its kind and payload. An
    end of file means that the Runner does not need this worker."""
    if data is None:
        data = posix.read(CHANNEL, READ_AT_ONCE)
    if missing_bytes(data):
        data = receive_rest(data)
    return data[:1], decode_start(data)


def receive_rest(data):
    """Reads the rest of a frame into one buffer. A large frame has many parts, and appending
    each of them would copy all that came before."""
    while len(data) < 5:
        data += posix.read(CHANNEL, 5 - len(data)) or posix._exit(0)
    at, missing = len(data), missing_bytes(data)
    try:
        whole = memoryview(bytearray(at + missing))
    except MemoryError:
        # The Runner reads no answer before it has sent everything.
        while missing:
            missing -= len(posix.read(CHANNEL, min(missing, READ_AT_ONCE)) or posix._exit(0))
        raise
    whole[:at] = data
    while at < len(whole):
        at += posix.readv(CHANNEL, [whole[at:]]) or posix._exit(0)
    return whole


def missing_bytes(data):
    """Returns how many bytes of a frame have not arrived."""
    have = len(data)
    return 5 - have if have < 5 else 5 + int.from_bytes(data[1:5], "little") - have


def decode_start(data):
    """Decodes a start frame: script, name, context, variables, code, ask, more,
    library_threads, max_answer. See startFields in ending.go."""
    return marshal.loads(data[5:] if len(data) <= READ_AT_ONCE else memoryview(data)[5:])


def enter_work():
    """Starts the guest in /work, and lets it import what is there. The Runner has made the
    directory if it has put files into it."""
    work = "/tmp/work"
    try:
        posix.mkdir(work, 0o755)
    except FileExistsError:
        pass
    try:
        if posix.readlink("/work") == work:
            work = "/work"
    except OSError:
        pass  # the host's, with granted files
    posix.chdir(work)
    sys.path.insert(0, work)


def provide(config, more, threads):
    """Gives a guest what few need: threads for libraries, and /work. Returns its arguments."""
    if threads > 1:
        grow_libraries(config, threads)
    args, work = more or ((), False)
    if work:
        enter_work()
    return args


def give_code(data):
    """Sends the Runner the bytecode of a script, or nothing if it cannot be cached."""
    send(frame(b"C", data))


def buffer_output(number, frame):
    """Handles the signal that the Runner sends to a guest that prints much: buffers standard
    output from now on, and writes the buffer out at each further signal."""
    out = STREAMS[0]
    try:
        if out.line_buffering:
            out.reconfigure(line_buffering=False)
        else:
            out.flush()
    except BaseException:
        pass  # the guest closed it, or the signal came while it was written to


def grow_libraries(config, threads):
    """Gives libraries for numeric work more threads than the one that they have."""
    load_late()
    setters = thread_setters() if config["oneshot"] else config["setters"]
    use_threads(config["variables"], setters, threads)


OUT_OF_MEMORY = frame(b"D", raised("MemoryError"))  # made in advance, while there is memory


def worker(syscall, config, fds, wanted):
    """The straight line from fork to the guest. Each wall is a named step, in an order in
    which no step undoes another."""
    step = "streams"
    try:
        channel, stdin, stdout, stderr = fds[:4]
        # First of all, so that every page we touch counts for the cgroup.
        for join in fds[4:]:
            posix.write(join, b"0")
        # The received descriptors are above the standard ones, so no dup2 overwrites
        # one that is still needed.
        for fd, target in ((stdin, 0), (stdout, 1), (stderr, 2), (channel, CHANNEL)):
            if fd != target:
                posix.dup2(fd, target)
        if not config["oneshot"]:  # a single worker already leads its session
            posix.setsid()
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGCHLD])
        posix.chdir(config["home"])
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
        # After the last change of credentials, which would clear the setting. Then
        # check that the parent has not died before it.
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
        # Touch everything that the guest will need before it arrives: pages are copied
        # and caches filled ahead of time.
        if wanted["warm"]:
            warm_up(config["warmup"], config["builtins"], config["compiled"])
            warm_up_failure()
            send(bytes(READ_AT_ONCE)[:0])
        step = "module rules"
        modules = config["modules"]
        if modules is not None:
            modules.install()
        space = stage(config["builtins"])
        # Only guests may import what guests could have written. The fork server must
        # not.
        if config["guest_path"]:
            sys.path[:] = config["guest_path"]
        gc.enable()
        send(frame(b"R", b""))
        # The limits come before anything that a caller wrote, and hold while it is read.
        step = "limits"
        beginning = config["limit"]()
    except BaseException as error:
        try:
            load_late()
            send(frame(b"R", marshal.dumps({"step": step, "error": bounded(str, error, 500)}, 2)))
        finally:
            posix._exit(1)
    try:
        kind, start = receive(beginning)
        if kind == b"S":
            script, name, context, shown, code, ask, more, threads, max_answer = start
            args = provide(config, more, threads)
            how = sharing(config["compiled"], give_code) if ask else config["compiled"]
            report = run(script, name, context, shown, code, space, how, args)
            if modules is not None:
                report = modules.report_with(report)
        elif kind == b"V":
            report = {"end": "checked", "code": 0, "findings": config["rules"].check(start[0], start[1])}
            max_answer = start[-1]
        elif kind == b"N":
            load_late()
            *_, more, threads, _ = start
            provide(config, more, threads)
            serve_session(Session(space, config["compiled"], "rules" in config), modules)
        else:
            load_late()
            serve_hook(config["rules"], start[0], start[1], start[-1], config["randomness"], modules)
            posix._exit(0)
        flush()
        report_frame = frame(b"D", pack(report, max_answer))
    except MemoryError:
        report_frame = OUT_OF_MEMORY
        flush()
    except LateFailure as problem:
        report_frame = frame(b"D", raised("RuntimeError", problem.args[0]))
        flush()
    send(report_frame)
    # The Runner measures what we used and kills us. Only a guest that replaced its channel
    # gets past this line; its result went nowhere.
    posix.read(CHANNEL, 1)
    posix._exit(1)
