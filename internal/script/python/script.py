"""One script, from its text to the report of its end.

This is the same wherever CPython runs: in a process behind walls (internal/zygote) or as
WebAssembly. It does not know where a script comes from or where its report goes; whatever
differs is passed in. It becomes part of a larger program and shares its names.

Everything it uses is built into the interpreter: each import costs every start.
"""
import marshal
import sys

MAX_CODE = 64 << 10  # see internal/zygote/codes.go

# The directory of the standard library.
LIBRARY = sys.modules["encodings"].__path__[0][:-len("encodings")]

# The marshalled code of the second half of the program, where that is loaded on demand.
LATE = globals().pop("late", None)


class LateFailure(Exception):
    """The second half of the program could not be loaded: an audit hook prevents it."""


def load_late(execute=exec, names=globals()):
    """Loads the second half of the program, if that has not happened yet: failures.py and all
    else that a script which just succeeds does not need. Loading it takes as long as such a
    script."""
    global LATE
    late, LATE = LATE, None
    if late is not None:
        try:
            execute(marshal.loads(late), names)
        except MemoryError:
            raise
        except BaseException as problem:
            raise LateFailure("the script ended, and its audit hook prevents the report: " + type(problem).__name__)


def prepare(preload, optional=()):
    """Sets up the interpreter as a script expects it, and imports the modules that the
    policy names, and the optional ones that exist. site is not run: it would execute .pth
    files."""
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
    for name in optional:
        try:
            __import__(name)
        except ImportError:
            pass
    sys.meta_path.insert(0, type(sys.implementation)(find_spec=find_fonts))
    # Line by line, so that the output of a guest that is killed is not lost.
    sys.stdout.reconfigure(line_buffering=True)


def find_fonts(name, path=None, target=None):
    """Finds the module of matplotlib that would start a program; see fonts.py."""
    if name == "matplotlib.font_manager":
        load_late()
        return fonts_spec(name, path)


def finish_threads(last):
    """Does what the interpreter does at its end: waits for non-daemon threads, runs exit
    handlers and writes buffered output."""
    threading = sys.modules.get("threading")
    if threading is not None and last:
        threading._shutdown()
    atexit = sys.modules.get("atexit")
    if atexit is not None and last:
        try:
            atexit._run_exitfuncs()
        except BaseException:
            pass  # already reported; 3.9 raises it again


def flush():
    out, err = sys.stdout, sys.stderr
    streams = STREAMS
    if out is not streams[0] or err is not streams[1]:
        streams += out, err  # the guest replaced them
    for stream in streams:
        try:
            stream.flush()
        except BaseException:
            pass  # closed by the guest


STREAMS = (sys.stdout, sys.stderr)


# Modules that show a script its own lines, which they find only in linecache.
SHOWS_LINES = ("traceback", "inspect", "warnings", "logging", "doctest", "unittest", "linecache")


def show_lines(name, script):
    import linecache

    linecache.cache[name] = (len(script), None, [line + "\n" for line in script.splitlines()], name)


# The names of internal/language, if its rules are loaded.
LANGUAGE = {}
RULES_REFUSE = ()


def load_language(code, source):
    """Loads the language rules: the bytecode if its first bytes show that this version of
    Python made it, else the source."""
    magic = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
    LANGUAGE["__name__"] = "cordon"
    exec(marshal.loads(code[4:]) if code[:4] == magic else compile(source, "<cordon>", "exec"), LANGUAGE)


def learn_language(modules, names, ahead):
    """Returns the rules of a policy. All modules that are imported by now belong to the
    library; with ahead, also those that scripts may import."""
    global RULES_REFUSE
    RULES_REFUSE = (LANGUAGE["Refused"],)
    rules = LANGUAGE["Language"](modules, names)
    if ahead:
        rules.load(rules.modules)
    return rules


def compiled(script, name):
    return compile(script, name, "exec", 0, True)


class Listener:
    """Wraps a stream and records whether it is written to."""

    def __init__(self, stream):
        self.stream, self.heard = stream, False

    def write(self, text):
        self.heard = True
        return self.stream.write(text)

    def flush(self):
        self.stream.flush()


def sharing(compiled, give):
    """Returns a function that compiles a script and passes its code to give, for later runs
    of the same script. give is always called once, before the guest runs, so that the first
    message is ours. Code that compiles with a warning is not passed on: the warning must
    appear every time."""
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
        return data if len(data) <= MAX_CODE else b""
    except ValueError:  # nested too deeply
        return b""


def stage(names=sys.modules["builtins"]):
    """Makes a new __main__ before the guest arrives."""
    module = sys.modules["__main__"] = type(sys)("__main__")
    space = module.__dict__
    space["__builtins__"] = names
    space["result"] = None
    return space


def run(script, name, context, wanted, code, space, compiled, args=(), last=True, execute=exec):
    """Runs one guest and returns the report of its end. code is the compiled script if it is
    known, and args are what follows the name in sys.argv. With last=False, for a warm-up or a
    step of a session, threads and exit handlers are left alone. execute runs what compiled
    returns."""
    space["context"] = context
    space["__file__"] = name
    sys.argv = [name, *args]
    if "import" in script and any(word in script for word in SHOWS_LINES):
        show_lines(name, script)
    if "audit" in script:
        load_late()  # before a hook of the script prevents it
    try:
        code = marshal.loads(code) if code else compiled(script, name)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) + RULES_REFUSE as error:
        load_late()
        return compile_report(error, name, script)
    try:
        try:
            execute(code, space)
        finally:
            finish_threads(last)
    except SystemExit as leaving:
        load_late()
        status = exit_status(leaving)
        if status:
            return {"end": "exit", "code": status, "variables": variables(wanted, space)}
    except BaseException as error:
        load_late()
        report = {"end": "raised", "code": 1, "exception": describe(error, name, script)}
        report["variables"] = variables(wanted, space)
        return report
    report = {"end": "ok", "code": 0}
    if wanted:
        load_late()
        report["variables"] = variables(wanted, space)
    # Last, so that a value which the Runner cannot skip hides nothing after it.
    report["result"] = space.get("result")
    return report


def pack(report, max_size):
    """Encodes a report. Values that marshal accepts are sent as they are; the Runner judges
    them. Others are rebuilt or named. If the report exceeds max_size, which the Runner would
    not read, it is sent without its result (wire.MaxReport)."""
    # marshal encodes anything with a buffer as bytes, numpy's numbers too.
    words = None if "numpy" in sys.modules or "array" in sys.modules else packed(report)
    problem = ""
    if words is None:
        load_late()
        problem = rebuild(report)
        words = packed(report)
        if words is None:
            raise MemoryError  # which marshal does not raise itself
    if problem:
        report.update(result=None, end="invalid", message=problem)
        words = marshal.dumps(report, 2)
    if len(words) > max_size:
        report.update(result=None, end="large")
        words = marshal.dumps(report, 2)
    if len(words) > max_size:
        report["variables"] = {}
        report.pop("display", None)
        words = marshal.dumps(report, 2)
    return words


def packed(report):
    """Returns the marshalled report, or None."""
    try:
        return marshal.dumps(report, 2)
    except ValueError:
        return None


def raised(kind, message="", **more):
    """Returns the report of an exception that did not come from the guest."""
    exception = {"type": kind, "message": message, "line": 0, "traceback": ""}
    if kind == "MemoryError":
        exception["kind"] = "memory"
    return marshal.dumps(dict(more, end="raised", code=1, exception=exception), 2)
