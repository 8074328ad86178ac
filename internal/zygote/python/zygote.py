"""The guest side of the fork server. See docs/architecture.md.

A loader of a few lines (bytecode.go) starts this as __main__, behind the walls
of the jail, with one descriptor: the control socket. It imports what scripts
use most, then forks a worker for each request that the Runner will have, ahead
of time. It never runs guest code; a worker runs exactly one guest and dies.

Everything it uses is built into the interpreter: an import here is paid by
every start, a page touched here by every fork.
"""
import gc
import marshal
import posix
import sys

CONTROL, CHANNEL = 1020, 3
READ_AT_ONCE = 4096

# From <linux/...>: system calls that no module wraps go through libc's
# syscall(). Their numbers come from the Runner, which knows the architecture.
CLONE_NEWNS, CLONE_NEWPID = 0x00020000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
PR_SET_PDEATHSIG, SIGKILL = 1, 9
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8
LANDLOCK_RULE_PATH_BENEATH = 1
O_PATH, O_CLOEXEC = 0o10000000, 0o2000000
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
MAP_PRIVATE, MAP_ANONYMOUS = 2, 0x20
MREMAP_MAYMOVE, MREMAP_FIXED = 1, 2
MADV_HUGEPAGE, LARGE_PAGE = 14, 2 << 20


class SetupFailure(Exception):
    """A step that did not work; nothing of the guest's has run."""


def syscaller(numbers):
    """Binds libc's syscall() with _ctypes alone: ctypes itself would add a
    third to the start of the interpreter."""
    import _ctypes

    class Long(_ctypes._SimpleCData):
        _type_ = "l"

    class Function(_ctypes.CFuncPtr):
        _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
        _restype_ = Long

    function = Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall"))

    def syscall(name, *args):
        # Integers go as C ints, which libffi extends to whole registers, and
        # bytes as their address. No argument of ours needs more.
        out = function(numbers[name], *args)
        if out < 0:
            errno = _ctypes.get_errno()
            raise SetupFailure("%s: %s" % (name, posix.strerror(errno)))
        return out

    return syscall


def enlarge(numbers, ranges):
    """Moves the interpreter's code into large pages, each of which a fork
    copies with one entry of a table. Otherwise every worker finds the code
    again page by page, at a tenth of its costs, and forgets it at its end."""
    import _ctypes

    class Word(_ctypes._SimpleCData):
        _type_ = "l"

    class Function(_ctypes.CFuncPtr):
        _flags_ = _ctypes.FUNCFLAG_CDECL
        _restype_ = Word

    function = Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall"))
    copy = Function(_ctypes._memmove_addr)

    def call(name, *args):
        return function(Word(numbers[name]), *map(Word, args))

    for start, end in ranges:
        size = end - start
        room = call("mmap", 0, size + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        if room < 0:
            return  # nothing has changed, here and below
        made = (room + LARGE_PAGE - 1) // LARGE_PAGE * LARGE_PAGE
        if call("madvise", made, size, MADV_HUGEPAGE) == 0:
            copy(Word(made), Word(start), Word(size))
            if call("mprotect", made, size, PROT_READ | PROT_EXEC) == 0:
                # In one step: there is no moment without code to run.
                call("mremap", made, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, start)
        call("munmap", room, size + LARGE_PAGE)  # what is left of it


def u16(n):
    return n.to_bytes(2, sys.byteorder)


def u64(n):
    return n.to_bytes(8, sys.byteorder)


def address(data):
    """Where a bytes object keeps its bytes; CPython's layout since 3.3."""
    return id(data) + bytes.__basicsize__ - 1


def install_filter(syscall, program, flags):
    """Installs a compiled seccomp program and gives what the kernel answers:
    the listener, when flags ask for one."""
    header = u16(len(program) // 8) + bytes(6) + u64(address(program))
    return syscall("seccomp", SECCOMP_SET_MODE_FILTER, flags, header)


def limiter(syscall, oneshot):
    """Gives the function that lowers limits for good: without capabilities
    none can be raised again. The module is quicker to call, and takes longer
    to load than one run saves by it."""
    if oneshot:
        def setrlimit(which, pair):
            syscall("prlimit64", 0, which, u64(pair[0]) + u64(pair[1]), 0)
    else:
        from resource import setrlimit

    def limit(limits):
        for which, value in limits:
            setrlimit(which, (value, value))

    return limit


def rule_for(path, access):
    """A struct landlock_path_beneath_attr, which is packed, with its open
    descriptor in it."""
    return u64(access) + posix.open(path, O_PATH | O_CLOEXEC).to_bytes(4, sys.byteorder)


def prepare_rules(plan, home):
    """What is the same for all workers is opened once, and not where a worker
    will have its channel."""
    while posix.open("/", O_PATH | O_CLOEXEC) < CHANNEL:
        pass
    plan["attr"] = b"".join(u64(n) for n in plan["handled"])
    plan["common"] = [rule_for(path, access) for path, access in plan["rules"] if path != home]
    plan["own"] = [rule for rule in plan["rules"] if rule[0] == home]


def restrict_paths(syscall, plan):
    """Landlock: what the plan grants, and nothing else, for good. The
    descriptors are left open."""
    ruleset = syscall("landlock_create_ruleset", plan["attr"], len(plan["attr"]), 0)
    for rule in plan["common"]:
        syscall("landlock_add_rule", ruleset, LANDLOCK_RULE_PATH_BENEATH, rule, 0)
    for path, access in plan["own"]:
        syscall("landlock_add_rule", ruleset, LANDLOCK_RULE_PATH_BENEATH, rule_for(path, access), 0)
    syscall("landlock_restrict_self", ruleset, 0)


# --- the worker ------------------------------------------------------------


def frame(kind, payload):
    """Kind, length, payload. See internal/wire."""
    return kind + len(payload).to_bytes(4, "little") + payload


def send(data):
    sent = posix.write(CHANNEL, data)
    if sent < len(data):
        send(memoryview(data)[sent:])


def receive():
    """Reads the start frame; an end of file means that nobody needs us."""
    data = posix.read(CHANNEL, READ_AT_ONCE)
    while missing(data):
        more = posix.read(CHANNEL, min(missing(data), 1 << 20))
        if not more:
            posix._exit(0)
        data += more
    return opened(data)


def missing(data):
    """How much of a frame is not there yet."""
    if len(data) < 5:
        return 5 - len(data)
    return 5 + int.from_bytes(data[1:5], "little") - len(data)


def opened(data):
    return marshal.loads(memoryview(data)[5:])


def bounded(make, value, limit):
    """str() or repr() of something hostile: short, and never an exception."""
    try:
        text = make(value)
        return text if len(text) <= limit else text[:limit] + "…"
    except BaseException:
        return "<%s that cannot be shown>" % type(value).__name__


def plain(value, where, depth=0):
    """Rebuilds subclasses of JSON's types as those types, or says where the
    first thing is that is none."""
    if value is None or value is True or value is False:
        return value
    if depth > 400:
        raise TypeError("%s is nested deeper than 400 levels, or contains itself" % (where[:60] + "…"))
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind.__str__(value) if kind is str else kind.__pos__(value)
    if isinstance(value, dict):
        return {
            plain_key(k, where): plain(v, "%s[%r]" % (where, k) if isinstance(k, (str, int)) else where, depth + 1)
            for k, v in dict.items(value)
        }
    if isinstance(value, (list, tuple)):
        return [plain(v, "%s[%d]" % (where, i), depth + 1) for i, v in enumerate(value)]
    raise TypeError(
        "%s is a %s object, which is not a JSON value (convert it to str, int, float, bool, None, list or dict)"
        % (where, type(value).__name__)
    )


def plain_key(key, where):
    if key is None or isinstance(key, (str, int, float)):
        return plain(key, where)
    raise TypeError("%s has a key that is a %s object; JSON keys are strings" % (where, type(key).__name__))


def variables(names, space):
    found = {}
    for name in names:
        if name not in space:
            continue
        value = space[name]
        try:
            found[name] = plain(value, name)
            marshal.dumps(found[name], 2)
            if contains_nan(found[name]):
                raise ValueError
        except BaseException:
            found[name] = {"$type": type(value).__name__, "$repr": bounded(repr, value, 1000)}
    return found


def contains_nan(value):
    if isinstance(value, float):
        return value != value or value in (float("inf"), float("-inf"))
    if isinstance(value, dict):
        return any(map(contains_nan, value.values())) or any(map(contains_nan, value))
    return isinstance(value, list) and any(map(contains_nan, value))


def describe(error, name, script):
    """What an uncaught exception looks like to its author: our own frames
    left out, the script's lines shown."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_globals is globals():
        tb = tb.tb_next
    line, at = 0, tb
    while at is not None:
        if at.tb_frame.f_code.co_filename == name:
            line = at.tb_lineno
        at = at.tb_next
    if isinstance(error, SyntaxError) and error.filename == name:
        line = error.lineno or 0
    report = {"type": type(error).__name__, "message": bounded(str, error, 4000), "line": line, "traceback": ""}
    if isinstance(error, OSError):
        report["errno"] = error.errno if isinstance(error.errno, int) else 0
        report["filename"] = error.filename if isinstance(error.filename, str) else ""
    try:
        import traceback

        show_lines(name, script)
        text = "".join(traceback.format_exception(type(error), error, tb))
        report["traceback"] = text if len(text) <= 20000 else text[:10000] + "\n…\n" + text[-10000:]
    except BaseException:
        report["traceback"] = "%s: %s\n" % (report["type"], report["message"])
    try:
        sys.stderr.write(report["traceback"])
    except BaseException:
        pass  # the guest closed or replaced its stderr
    return report


def finish_threads(last):
    """What the interpreter does at its own end: threads that are not daemons
    are waited for, exit handlers run, and what was printed is written."""
    threading = sys.modules.get("threading")
    if threading is not None and last:
        threading._shutdown()
    atexit = sys.modules.get("atexit")
    if atexit is not None and last:
        try:
            atexit._run_exitfuncs()
        except BaseException:
            pass  # reported by then, and too late to matter; 3.9 raises it again


def flush():
    streams = (sys.stdout, sys.stderr)
    if streams != STREAMS:
        streams += STREAMS  # the guest put its own in their place
    for stream in streams:
        try:
            stream.flush()
        except BaseException:
            pass  # closed by the guest: nothing is left to save


STREAMS = (sys.stdout, sys.stderr)


# Modules that show a script its own lines, and find them in linecache alone.
SHOWS_LINES = ("traceback", "inspect", "warnings", "logging", "doctest", "unittest", "linecache")


def show_lines(name, script):
    import linecache

    linecache.cache[name] = (len(script), None, [line + "\n" for line in script.splitlines()], name)


def run(start, last=True):
    """Runs one guest and gives the report of its end. A warm-up is not the
    last thing to run: threads and exit handlers must survive it."""
    script, name = start["script"], start["name"]
    module = type(sys)("__main__")
    space = module.__dict__
    space["__builtins__"] = sys.modules["builtins"]
    space["__file__"] = name
    space["context"] = start["context"]
    space["result"] = None
    sys.modules["__main__"] = module
    sys.argv = [name]
    code = 0
    if "import" in script and any(word in script for word in SHOWS_LINES):
        show_lines(name, script)
    try:
        compiled = compile(script, name, "exec", 0, True)
    except MemoryError as error:
        return {"end": "raised", "code": 1, "exception": describe(error, name, script)}
    except (SyntaxError, ValueError, OverflowError, RecursionError) as error:
        return {"end": "syntax", "code": 1, "exception": describe(error, name, script)}
    try:
        try:
            exec(compiled, space)
        finally:
            finish_threads(last)
    except SystemExit as leaving:
        code = leaving.code
        if code is None or code is False:
            code = 0
        elif not isinstance(code, int):
            print(bounded(str, code, 4000), file=sys.stderr)
            code = 1
        code &= 0xFF
        if code:
            return {"end": "exit", "code": code, "variables": variables(start["variables"], space)}
    except BaseException as error:
        report = {"end": "raised", "code": 1, "exception": describe(error, name, script)}
        report["variables"] = variables(start["variables"], space)
        return report
    report = {"end": "ok", "code": 0}
    if start["variables"]:
        report["variables"] = variables(start["variables"], space)
    # Last: a value that the Runner cannot skip hides nothing behind it.
    report["result"] = space.get("result")
    return report


def pack(report):
    """Values that marshal takes go out as they are; the Runner judges them.
    What it does not take is rebuilt, or named."""
    try:
        # marshal takes whatever has a buffer for bytes, numpy's numbers too.
        if "numpy" not in sys.modules and "array" not in sys.modules:
            return marshal.dumps(report, 2)
    except ValueError:
        pass
    try:
        if "result" in report:
            report["result"] = plain(report["result"], "result")
        return marshal.dumps(report, 2)
    except RecursionError:
        message = "result is nested too deeply, or contains itself"
    except TypeError as error:
        message = bounded(str, error, 1000)
    except BaseException as error:
        # A guest's own objects may raise anything when they are looked at.
        message = "result cannot be read: %s" % bounded(str, error, 900)
    report.update(result=None, end="invalid", message=message)
    return marshal.dumps(report, 2)


def warm_up(start):
    """Goes the way of a guest, with one of ours, but for what can be done
    only once."""
    if not missing(start):
        report = run(opened(start), last=False)
        flush()
        frame(b"D", pack(report))


# Made before memory can run out.
OUT_OF_MEMORY = frame(b"D", marshal.dumps(
    {"end": "raised", "code": 1, "exception": {"type": "MemoryError", "message": "", "line": 0, "traceback": ""}}, 2
))


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
        if config["filter"]:
            install_filter(syscall, config["filter"], 0)
        step = "warm up"
        # Everything that the guest will make us touch is touched once before
        # it arrives: pages are copied and caches filled off the clock.
        if wanted["warm"]:
            warm_up(config["warmup"])
            send(bytes(READ_AT_ONCE)[:0])
        gc.enable()
        send(frame(b"R", b""))
        start = receive()
        step = "narrow limits"
        if start["limits"]:
            limit(start["limits"])
    except BaseException as error:
        try:
            send(frame(b"R", marshal.dumps({"step": step, "error": bounded(str, error, 500)}, 2)))
        finally:
            posix._exit(1)
    try:
        report = run(start)
        flush()
        last_words = frame(b"D", pack(report))
    except MemoryError:
        last_words = OUT_OF_MEMORY
        flush()
    send(last_words)
    # The Runner looks at what we used, and kills us. Whoever comes past this
    # has replaced its channel: its result went nowhere.
    posix.read(CHANNEL, 1)
    posix._exit(1)


# --- the fork server -------------------------------------------------------


def prepare(config):
    """Makes the interpreter look as a script expects, and imports what the
    policy names. site is not run: it would execute .pth files."""
    import builtins

    import _sitebuiltins

    builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D")
    builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D")
    builtins.help = _sitebuiltins._Helper()
    sys.path[:] = config["path"]
    missing = []
    for name in config["preload"]:
        try:
            __import__(name)
        except ImportError as error:
            missing.append("%s (%s)" % (name, error))
    if missing:
        raise SetupFailure("cannot import " + ", ".join(missing))
    # A line at a time: what a guest printed before it was killed is there.
    sys.stdout.reconfigure(line_buffering=True)


def main():
    import _socket

    control = _socket.socket(fileno=CONTROL)
    SCM = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS)
    step = "configuration"
    try:
        config = marshal.loads(control.recv(1 << 18))
        syscall = syscaller(config["numbers"])
        step = "preload"
        prepare(config)
        if not config["oneshot"]:
            control.send(b"M")
            enlarge(config["numbers"], marshal.loads(control.recv(4096)))
        step = "warm up"
        if config["warmup"]:
            warm_up(config["warmup"])
            gc.collect()
        gc.disable()
        step = "seccomp"
        ready, ancillary = b"Z", []
        if config["exposed"]:
            install_filter(syscall, config["exposed"], 0)
        if config["notify"]:
            listener = install_filter(syscall, config["notify"], SECCOMP_FILTER_FLAG_NEW_LISTENER)
            ancillary = [SCM + (listener.to_bytes(4, sys.byteorder),)]
        control.sendmsg([ready], ancillary)
        if config["notify"]:
            posix.close(listener)
    except BaseException as error:
        control.send(("E%s\0%s" % (step, bounded(str, error, 1000))).encode("utf-8", "replace"))
        posix._exit(1)

    # With a pid namespace a worker dies with us. Without one, or when we are
    # the worker ourselves, it must ask for that.
    config["parent"] = None
    config["limit"] = limiter(syscall, config["oneshot"])
    config["descriptors"] = [CONTROL] + config["namespaces"]
    if config["landlock"]:
        prepare_rules(config["landlock"], config["home"])
    config["fresh"] = CLONE_NEWNS if config["unshare_mount"] else 0
    if config["oneshot"]:
        config["parent"] = posix.getppid()
        fds, wanted = next_order(control)
        fork(syscall, config, control, fds, wanted)
    if config["unshare_pid"]:
        config["fresh"] |= CLONE_NEWPID
    else:
        config["parent"] = posix.getpid()
    serve(syscall, config, control)


def serve(syscall, config, control):
    """Forks when told to, and tells when a worker is dead."""
    import _signal
    import select

    children, wakeup = posix.pipe()
    posix.set_blocking(children, False)
    posix.set_blocking(wakeup, False)
    _signal.signal(_signal.SIGCHLD, lambda *_: None)
    _signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(children, select.POLLIN)
    gc.freeze()
    numbers = {}  # of the workers, by pid
    while True:
        for fd, _ in poll.poll():
            if fd == children:
                posix.read(children, 4096)
                reap(control, numbers)
            else:
                fds, wanted = next_order(control)
                pid = fork(syscall, config, control, fds, wanted)
                numbers[pid] = wanted["number"]


def next_order(control):
    message, parts, _, _ = control.recvmsg(4096, 256)
    if not message:
        posix._exit(0)  # the Runner is gone: everything ends with us
    fds = []
    for _, _, data in parts:
        fds += [int.from_bytes(data[i:i + 4], sys.byteorder) for i in range(0, len(data), 4)]
    return fds, marshal.loads(message)


def fork(syscall, config, control, fds, wanted):
    """Forks one worker into namespaces of its own. The mount is made here and
    not in the worker, so that the Runner lets one process mount, and only it."""
    import _signal

    pid, fresh = -1, config["fresh"]
    # A system call that waits for the Runner's answer would be interrupted by
    # the death of another worker.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGCHLD])
    try:
        if fresh:
            syscall("unshare", fresh)
        if fresh & CLONE_NEWNS:
            options = b"mode=0700,nr_inodes=4096,size=%d\0" % wanted["scratch"]
            syscall("mount", b"cordon\0", b"/tmp\0", b"tmpfs\0", MS_NOSUID | MS_NODEV | MS_NOEXEC, options)
        pid = 0 if config["oneshot"] else posix.fork()
        if pid == 0:
            _signal.set_wakeup_fd(-1)
            _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
            _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGCHLD])
            control.detach()
            worker(syscall, config, fds, wanted)
        if fresh & CLONE_NEWNS:
            syscall("setns", config["namespaces"][0], CLONE_NEWNS)
        if fresh & CLONE_NEWPID:
            syscall("setns", config["namespaces"][-1], CLONE_NEWPID)
    except BaseException as error:
        if pid == 0:
            posix._exit(1)
        control.send(b"X" + bounded(str, error, 500).encode("utf-8", "replace"))
        posix._exit(1)  # half-way through namespaces: a new fork server is safer
    for fd in fds:
        posix.close(fd)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGCHLD])
    return pid


def reap(control, numbers):
    """Tells the Runner how each worker ended; it alone draws conclusions."""
    while True:
        try:
            pid, status, usage = posix.wait4(-1, posix.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        cpu = int((usage.ru_utime + usage.ru_stime) * 1e6)
        control.send(b"D%d %d %d %d" % (numbers.pop(pid), status, cpu, usage.ru_maxrss))


main()
