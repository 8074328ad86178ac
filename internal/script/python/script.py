"""One script, from its text to the report of its end.

This is the same wherever CPython runs: in a process behind walls (internal/zygote),
or as WebAssembly. It knows nothing of how a script comes here, nor of where its
report goes; what differs is given to it. It becomes a part of a larger program, and
shares its names.

Everything it uses is built into the interpreter: an import here is paid by every
start.
"""
import marshal
import sys

CODE_AT_MOST = 64 << 10  # see internal/zygote/codes.go


def prepare(preload):
    """Makes the interpreter look as a script expects, and imports what the
    policy names. site is not run: it would execute .pth files."""
    import builtins

    import _sitebuiltins

    builtins.exit = _sitebuiltins.Quitter("exit", "Ctrl-D")
    builtins.quit = _sitebuiltins.Quitter("quit", "Ctrl-D")
    builtins.help = _sitebuiltins._Helper()
    missing = []
    for name in preload:
        try:
            __import__(name)
        except ImportError as error:
            missing.append("%s (%s)" % (name, error))
    if missing:
        raise ImportError("cannot import " + ", ".join(missing))
    # A line at a time: what a guest printed before it was killed is there.
    sys.stdout.reconfigure(line_buffering=True)


def bounded(make, value, limit):
    """str() or repr() of something hostile: short, and never an exception."""
    try:
        text = text_of(make(value))  # which may be of a class of the guest's
        return text if len(text) <= limit else text[:limit] + "…"
    except BaseException:
        return "<%s that cannot be shown>" % text_of(_NAME(type(value)))


def plain(value, where, depth=0):
    """Rebuilds subclasses of JSON's types as those types, or says where the
    first thing is that is none."""
    if value is None or value is True or value is False:
        return value
    if depth > 400:
        raise TypeError("%s is nested deeper than 400 levels, or contains itself" % (where[:60] + "…"))
    for kind in (str, int, float):
        if is_kind(value, kind):
            return text_of(value) if kind is str else kind.__pos__(value)
    if is_kind(value, dict):
        return {
            plain_key(k, where): plain(v, "%s[%r]" % (where, plain_key(k, where)), depth + 1)
            for k, v in dict.items(value)
        }
    for kind in (list, tuple):
        if is_kind(value, kind):
            return [plain(v, "%s[%d]" % (where, i), depth + 1) for i, v in enumerate(kind.__iter__(value))]
    raise TypeError(
        "%s is a %s object, which is not a JSON value (convert it to str, int, float, bool, None, list or dict)"
        % (where, text_of(_NAME(type(value))))
    )


def plain_key(key, where):
    if key is None or any(is_kind(key, kind) for kind in (str, int, float)):
        return plain(key, where)
    raise TypeError("%s has a key that is a %s object; JSON keys are strings" % (where, text_of(_NAME(type(key)))))


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
            found[name] = {"$type": text_of(_NAME(type(value))), "$repr": bounded(repr, value, 1000)}
    return found


def contains_nan(value):
    if isinstance(value, float):
        return value != value or value in (float("inf"), float("-inf"))
    if isinstance(value, dict):
        return any(map(contains_nan, value.values())) or any(map(contains_nan, value))
    return isinstance(value, list) and any(map(contains_nan, value))


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


# The names of internal/language, where its rules are used.
LANGUAGE = {}
RULES_REFUSE = ()


def load_language(code, source):
    """Loads the language rules: their code if it was made by this version of
    Python, which its first bytes tell, else their source."""
    magic = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
    LANGUAGE["__name__"] = "cordon"
    exec(marshal.loads(code[4:]) if code[:4] == magic else compile(source, "<cordon>", "exec"), LANGUAGE)


def learn_language(modules, names, ahead):
    """Gives the rules that scripts go by. What was imported by now is the library;
    ahead of the first script, so is what scripts may import."""
    global RULES_REFUSE
    RULES_REFUSE = (LANGUAGE["Refused"],)
    rules = LANGUAGE["Language"](modules, names)
    if ahead:
        rules.load(rules.modules)
    return rules


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


def sharing(compiled, give):
    """Gives what compiles a script, and gives its code away, for those who run the
    script again. In any case something is given, before the guest runs: what
    comes first is ours. A compiler that warns shall do so every time."""
    def compile_and_give(script, name):
        data = b""
        sys.stderr = listener = Listener(sys.stderr)
        try:
            code = compiled(script, name)
            if not listener.heard:
                data = marshalled(code)
            return code
        finally:
            sys.stderr = listener.stream
            give(data)

    return compile_and_give


def marshalled(code):
    try:
        data = marshal.dumps(code)
        return data if len(data) <= CODE_AT_MOST else b""
    except ValueError:  # nested too deeply
        return b""


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
    status = field_of(leaving, SystemExit, "code")
    if status is None or status is False:
        return 0
    if not is_kind(status, int):
        print(bounded(str, status, 4000), file=sys.stderr)
        return 1
    return int.__and__(status, 0xFF)


def run(script, name, context, wanted, code, space, compiled, last=True):
    """Runs one guest and gives the report of its end. Its code is there if it is
    known from an earlier time. A warm-up is not the last thing to run: threads
    and exit handlers must survive it."""
    space["context"] = context
    space["__file__"] = name
    sys.argv = [name]
    if "import" in script and any(word in script for word in SHOWS_LINES):
        show_lines(name, script)
    try:
        code = marshal.loads(code) if code else compiled(script, name)
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


def pack(report, most):
    """Values that marshal takes go out as they are; the Runner judges them.
    What it does not take is rebuilt, or named. Of a report above most bytes,
    which the Runner would not read, the rest is sent (wire.MaxReport)."""
    # marshal takes whatever has a buffer for bytes, numpy's numbers too.
    words = None if "numpy" in sys.modules or "array" in sys.modules else packed(report)
    problem = ""
    if words is None:
        problem = rebuild(report)
        words = packed(report)
        if words is None:
            raise MemoryError  # for which marshal has no word of its own
    if problem:
        report.update(result=None, end="invalid", message=problem)
        words = marshal.dumps(report, 2)
    if len(words) > most:
        report.update(result=None, end="large")
        words = marshal.dumps(report, 2)
    if len(words) > most:
        report["variables"] = {}
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


def raised(kind, message="", **more):
    """The report of an exception that is our own word for what happened."""
    exception = {"type": kind, "message": message, "line": 0, "traceback": ""}
    if kind == "MemoryError":
        exception["kind"] = "memory"
    return marshal.dumps(dict(more, end="raised", code=1, exception=exception), 2)
