"""Second part: the worker, which is walled in, runs exactly one guest and dies."""
import gc
import marshal
import posix
import sys

READ_AT_ONCE, CODE_AT_MOST = 4096, 64 << 10  # see codes.go
REPORT_AT_MOST = 64 << 20  # run.MaxPayload


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
    """For a start: script, name, context, variables, limits, code, ask. See
    startFields in ending.go."""
    return marshal.loads(data[5:] if len(data) <= READ_AT_ONCE else memoryview(data)[5:])


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


def without_ours(tb):
    """A traceback without our own frames: those that a script was called from,
    and those of the guards that it called."""
    theirs = []
    while tb is not None:
        if tb.tb_frame.f_globals is not globals() and tb.tb_frame.f_globals is not LANGUAGE:
            theirs.append(tb)
        tb = tb.tb_next
    for at in reversed(theirs):
        tb = type(at)(tb, at.tb_frame, at.tb_lasti, at.tb_lineno)
    return tb


def describe(error, name, script):
    """What an uncaught exception looks like to its author: our own frames
    left out, the script's lines shown."""
    tb = without_ours(error.__traceback__)
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
    out, err = sys.stdout, sys.stderr
    streams = STREAMS
    if out is not streams[0] or err is not streams[1]:
        streams += out, err  # the guest put its own in their place
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


def compiled(script, name):
    return compile(script, name, "exec", 0, True)


class Listener:
    """Stands in for a stream, and notices whether it is written to."""

    def __init__(self, stream):
        self.stream, self.heard = stream, False

    def write(self, text):
        self.heard = True
        return self.stream.write(text)

    def flush(self):
        self.stream.flush()


def shared(script, name, compiled):
    """Compiles, and gives the Runner the code for those who run the script again.
    In any case it is told something, before the guest runs: what comes first on
    the channel is ours. A compiler that warns shall do so every time."""
    data = b""
    sys.stderr = listener = Listener(sys.stderr)
    try:
        code = compiled(script, name)
        if not listener.heard:
            data = marshalled(code)
        return code
    finally:
        sys.stderr = listener.stream
        send(frame(b"C", data))


def marshalled(code):
    try:
        data = marshal.dumps(code)
        return data if len(data) <= CODE_AT_MOST else b""
    except ValueError:  # nested too deeply
        return b""


# The names of internal/language, where its rules are used.
LANGUAGE = {}
RULES_REFUSE = ()


def stage(names=sys.modules["builtins"]):
    """A fresh __main__; made before the guest comes, who then need not wait."""
    module = sys.modules["__main__"] = type(sys)("__main__")
    space = module.__dict__
    space["__builtins__"] = names
    space["result"] = None
    return space


def compile_report(error, name, script):
    """The report on a script that was not started."""
    if isinstance(error, RULES_REFUSE):
        return {"end": "refused", "code": 1, "findings": LANGUAGE["findings_of"](error)}
    end = "raised" if isinstance(error, MemoryError) else "syntax"
    return {"end": end, "code": 1, "exception": describe(error, name, script)}


def exit_status(leaving):
    """The exit code of a SystemExit; words go to standard error, as ever."""
    status = leaving.code
    if status is None or status is False:
        return 0
    if not isinstance(status, int):
        print(bounded(str, status, 4000), file=sys.stderr)
        return 1
    return status & 0xFF


def run(start, space, compiled, last=True):
    """Runs one guest and gives the report of its end. A warm-up is not the
    last thing to run: threads and exit handlers must survive it."""
    script, name, space["context"], wanted, _, code, ask = start
    space["__file__"] = name
    sys.argv = [name]
    if "import" in script and any(word in script for word in SHOWS_LINES):
        show_lines(name, script)
    try:
        if code:
            code = marshal.loads(code)
        elif ask:
            code = shared(script, name, compiled)
        else:
            code = compiled(script, name)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) + RULES_REFUSE as error:
        return compile_report(error, name, script)
    try:
        try:
            exec(code, space)
        finally:
            finish_threads(last)
    except SystemExit as leaving:
        status = exit_status(leaving)
        if status:
            return {"end": "exit", "code": status, "variables": variables(wanted, space)}
    except BaseException as error:
        report = {"end": "raised", "code": 1, "exception": describe(error, name, script)}
        report["variables"] = variables(wanted, space)
        return report
    report = {"end": "ok", "code": 0}
    if wanted:
        report["variables"] = variables(wanted, space)
    # Last: a value that the Runner cannot skip hides nothing behind it.
    report["result"] = space.get("result")
    return report


def pack(report):
    """Values that marshal takes go out as they are; the Runner judges them.
    What it does not take is rebuilt, or named."""
    # marshal takes whatever has a buffer for bytes, numpy's numbers too.
    words = None if "numpy" in sys.modules or "array" in sys.modules else packed(report)
    problem = ""
    if words is None:
        problem = rebuild(report)
        words = packed(report)
        if words is None:
            raise MemoryError  # for which marshal has no word of its own
    if len(words) > REPORT_AT_MOST:
        problem = "result takes %d bytes, and may take %d" % (len(words), REPORT_AT_MOST)
    if problem:
        report.update(result=None, end="invalid", message=problem)
        words = marshal.dumps(report, 2)
    return words


def packed(report):
    """The report as marshal, or None."""
    try:
        return marshal.dumps(report, 2)
    except ValueError:
        return None


def rebuild(report):
    """Makes the result of JSON's own types, or leaves none and says why."""
    result = report.pop("result", None)
    try:
        report["result"] = plain(result, "result")
        return ""
    except MemoryError:
        raise
    except RecursionError:
        return "result is nested too deeply, or contains itself"
    except TypeError as error:
        return bounded(str, error, 1000)
    except BaseException as error:
        # A guest's own objects may raise anything when they are looked at.
        return "result cannot be read: %s" % bounded(str, error, 900)


def warm_up(start, names, compiled):
    """Goes the way of a guest, with one of ours, but for what can be done
    only once."""
    if not missing(start):
        report = run(opened(start), stage(names), compiled, last=False)
        flush()
        frame(b"D", pack(report))


def raised(kind, message="", **more):
    """The report of an exception that is our own word for what happened."""
    exception = {"type": kind, "message": message, "line": 0, "traceback": ""}
    return marshal.dumps(dict(more, end="raised", code=1, exception=exception), 2)


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
        if config["filter"]:
            install_filter(syscall, config["filter"], 0)
        step = "warm up"
        # Everything that the guest will make us touch is touched once before
        # it arrives: pages are copied and caches filled off the clock.
        if wanted["warm"]:
            warm_up(config["warmup"], config["builtins"], config["compiled"])
            send(bytes(READ_AT_ONCE)[:0])
        space = stage(config["builtins"])
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
            report = run(start, space, config["compiled"])
        elif kind == b"V":
            report = {"end": "checked", "code": 0, "findings": config["rules"].check(start[0], start[1])}
        else:
            serve_hook(config["rules"], start[0], start[1])
            posix._exit(0)
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
