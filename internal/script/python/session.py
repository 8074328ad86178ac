"""A session: steps that run one after another in the same globals, and what they display.

Whatever is here belongs to the guest after its first step: it can replace display, forge
reports and ignore interrupts. The Runner bounds what it reads, and kills what does not end.
"""
import marshal
import sys

# From <compile.h> and <code.h>; the ast module would take long to import.
AST_ONLY, TOP_LEVEL_AWAIT, IS_COROUTINE = 0x0400, 0x2000, 0x0080

# The most that a step may display; see internal/report.
MAX_DISPLAYS = 64
MAX_PLAIN = 64 << 10

# How objects show themselves, as in Jupyter.
RICH_FORMS = (
    ("text/html", "_repr_html_"), ("text/markdown", "_repr_markdown_"), ("text/latex", "_repr_latex_"),
    ("image/svg+xml", "_repr_svg_"), ("image/png", "_repr_png_"), ("image/jpeg", "_repr_jpeg_"),
    ("application/json", "_repr_json_"),
)

# The most that is kept of the text of earlier steps, for tracebacks.
MAX_EARLIER = 1 << 20


class Displays:
    """What one step displayed. Results above the bounds are counted and left out."""

    def __init__(self, room):
        self.shown, self.omitted, self.room, self.plots = [], 0, room, []

    def add(self, value, is_value=False):
        if is_plot(value):
            self.plots.append(value)
        bundle = forms_of(value)
        size = sum(len(data) for data in bundle.values())
        if len(self.shown) >= MAX_DISPLAYS or size > self.room:
            self.omitted += 1
        else:
            self.room -= size
            self.shown.append([bundle, is_value])


def forms_of(value):
    """Returns how an object shows itself: MIME types, and texts or bytes."""
    bundle = {}
    method = method_of(value, "_repr_mimebundle_")
    if method is not None:
        answer = method()
        if is_kind(answer, tuple):  # with metadata
            answer = answer[0]
        if is_kind(answer, dict):
            for kind, data in dict.items(answer):
                add_form(bundle, kind, data)
    for kind, name in RICH_FORMS:
        method = None if kind in bundle else method_of(value, name)
        if method is not None:
            data = method()
            add_form(bundle, kind, data[0] if is_kind(data, tuple) else data)
    if "image/png" not in bundle and is_plot(value):
        bundle["image/png"] = picture_of(value)
    if "text/plain" not in bundle:
        bundle["text/plain"] = text_of(repr(value))
    if len(bundle["text/plain"]) > MAX_PLAIN:
        bundle["text/plain"] = bundle["text/plain"][:MAX_PLAIN] + "…"
    return bundle


def method_of(value, name):
    """Returns a method of the object's class. Modules and objects that answer to every name
    show themselves in no rich form."""
    found = getattr(type(value), name, None)
    return None if found is None else getattr(value, name, None)


def add_form(bundle, kind, data):
    """Adds a form, if an object gave one: None means that it has none. Some libraries give
    pictures as base64, and text as bytes."""
    kind = text_of(kind)
    if not kind or data is None:
        return
    if kind.endswith("json") and not is_kind(data, str):
        import json

        data = json.dumps(data)
    if kind.startswith("text/") or kind.endswith(("+xml", "json")):
        bundle[kind] = text_of(data) if is_kind(data, str) else bytes(data).decode("utf-8", "replace")
    elif is_kind(data, str):
        from binascii import a2b_base64

        try:
            bundle[kind] = a2b_base64(text_of(data))
        except ValueError:
            pass  # some other text: a program for browsers, for example
    else:
        bundle[kind] = bytes(data)


DISPLAYS = None  # of the running step


def display(*objects, **named):
    """Shows objects in their rich forms, in the Result of the step."""
    for value in objects:
        if DISPLAYS is not None:
            DISPLAYS.add(value)


def parsed(script, name):
    """Returns the code of a step, and of its last expression, whose value is shown; None if the
    step ends in another way or with a semicolon."""
    import _ast

    try:
        tree = compile(script, name, "exec", AST_ONLY | TOP_LEVEL_AWAIT, True)
    except SyntaxError as error:
        explain_notebook_line(error, script, name)
        raise
    value = None
    if tree.body and type(tree.body[-1]) is _ast.Expr and not ends_quietly(script, tree.body[-1]):
        value = compile(_ast.Expression(tree.body.pop().value), name, "eval", TOP_LEVEL_AWAIT, True)
    return compile(tree, name, "exec", TOP_LEVEL_AWAIT, True), value


def ends_quietly(script, last):
    """Reports whether a semicolon follows the last expression."""
    lines = script.encode().splitlines()
    rest = lines[last.end_lineno - 1][last.end_col_offset:]
    return rest.lstrip().startswith(b";")


def explain_notebook_line(error, script, name):
    """Says what to do instead of the lines that only notebooks understand."""
    number = number_of(field_of(error, SyntaxError, "lineno"))
    lines = script.splitlines()
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    word = line.strip().split(" ")[0]
    if word[:1] == "!":
        words = "%s runs a shell command in a notebook. A step is Python only, and starts no programs: use os, pathlib and shutil for files" % word
    elif word[:1] == "%":
        words = "%s is a magic command of IPython. A step is plain Python: write what it stands for" % word
    else:
        return
    raise SyntaxError(words, (name, number, 1, line)) from None


class Session:
    """The state that steps share."""

    def __init__(self, space, compiled, restricted):
        self.space, self.restricted, self.loop = space, restricted, None
        self.compiled = compiled if restricted else parsed
        self.kept = 0
        if not restricted:
            space["display"] = display

    def answer(self, kind, asked):
        if kind == b"U":
            return self.list(True)
        if kind == b"T":
            return self.complete(asked[0], True)
        return self.step(*asked)

    def step(self, script, name, context, wanted, args, stdin, max_answer):
        """Runs a step and returns its report. Without stdin, the stream of the process is left."""
        global DISPLAYS
        shown = DISPLAYS = Displays((max_answer - (1 << 20)) // 3)
        self.remember(script, name)
        if stdin is not None:
            from _io import BytesIO, TextIOWrapper

            sys.stdin = TextIOWrapper(BytesIO(stdin.encode()), "utf-8")
        space = self.space
        space["result"] = None
        before = variables_in(space)
        report = run(script, name, context, wanted, None, space, self.compiled, args, last=False, execute=exec if self.restricted else self.execute)
        report["display"], report["omitted"] = shown.shown, shown.omitted
        report["changes"] = changes(before, variables_in(space))
        return report

    def list(self, interruptible):
        """Returns the variables: name, type, size and a short text of each. A method of a guest's
        class may never end, so they are called only if that can be interrupted. After that has
        happened, no other one is called."""
        shorten = None
        if interruptible:
            import reprlib

            shorten = reprlib.Repr()
            shorten.maxstring = shorten.maxother = 80
        listed = []
        names = sorted(variables_in(self.space))
        for name in names[:MAX_VARIABLES]:
            value = self.space.get(name)
            try:
                text = brief(value, shorten)
            except KeyboardInterrupt:
                shorten = None
                text = brief(value, None)
            listed.append([name, text_of(_NAME(type(value))), size_of(value), text])
        return {"end": "listed", "code": 0, "listed": listed, "omitted": len(names) - len(listed)}

    def complete(self, before, interruptible):
        """Returns what the name at the end of a line can become. Attributes may be computed by
        methods of guests: see list."""
        *path, begun = unfinished_name(before)
        words = before[:len(before) - len(".".join([*path, begun]))].split()
        if words in (["import"], ["from"]):
            names = importable(path)
        elif len(words) == 3 and words[::2] == ["from", "import"]:
            module = imported(words[1], interruptible and not self.restricted)
            names = importable(words[1].split(".")) + names_of(module, interruptible)
        else:
            names = visible(self.space, path, interruptible)
        found = {text_of(name) for name in names if is_kind(name, str)}
        found = sorted(name for name in found if name.startswith(begun) and (begun or name[:1] != "_"))
        return {"end": "completed", "code": 0, "names": found[:MAX_COMPLETIONS]}

    def execute(self, codes, space):
        """Runs the code of a step, and displays its plots and its value."""
        body, value = codes
        self.awaited(body, eval(body, space))
        if value is not None:
            value = self.awaited(value, eval(value, space))
        if value is not None:
            space["_"] = value
            DISPLAYS.add(value, True)
        show_plots()

    def awaited(self, code, value):
        """Returns the value of code, which is a coroutine if it awaits something."""
        if not code.co_flags & IS_COROUTINE:
            return value
        import asyncio

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(value)
        try:
            return self.loop.run_until_complete(task)
        except KeyboardInterrupt:
            task.cancel()
            try:
                self.loop.run_until_complete(task)
            except BaseException:
                pass  # the task was canceled, or failed meanwhile
            raise

    def remember(self, script, name):
        """Keeps the text of a step for tracebacks of later ones."""
        self.kept += len(script)
        while EARLIER and self.kept > MAX_EARLIER:
            self.kept -= len(EARLIER.pop(next(iter(EARLIER))))
        EARLIER[name] = script


# The most variables that are listed, and the most names in each list of a step's changes; see
# internal/report.
MAX_VARIABLES, MAX_CHANGES = 1000, 100


def variables_in(space):
    """Returns the guest's variables, and the identity of the object of each. The objects are not
    kept: the step may want to free them."""
    return {
        name: id(value) for name, value in list(space.items())
        if type(name) is str and name[:1] != "_" and name not in ("context", "result") and value is not display
    }


def changes(before, after):
    """Returns the names that a step has added, bound to other objects, and removed."""
    added = [name for name in after if name not in before]
    changed = [name for name in after if before.get(name, after[name]) != after[name]]
    removed = [name for name in before if name not in after]
    return [sorted(names)[:MAX_CHANGES] for names in (added, changed, removed)]


def size_of(value):
    """Returns the memory of an object itself, as its first base that is not a guest's class
    counts it."""
    written_in_python = 1 << 9  # Py_TPFLAGS_HEAPTYPE
    for kind in _BASES(type(value)):
        if not kind.__flags__ & written_in_python:
            return kind.__sizeof__(value)


def brief(value, shorten):
    """Returns a short text for an object on one line. shorten, a reprlib.Repr, may call methods
    of guests; without it, only numbers and short texts are shown."""
    kind = type(value)
    try:
        if shorten is None:
            simple = kind in EXACT and not (kind is int and value.bit_length() > 200)
            text = repr(value[:60] if kind is str else value) if simple else "<%s>" % text_of(_NAME(kind))
        else:
            text = text_of(shorten.repr(value))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit, too
        text = "<%s, whose repr raises %s>" % (text_of(_NAME(kind)), text_of(_NAME(type(error))))
    return " ".join(text[:400].split())[:100]


MAX_COMPLETIONS = 1000  # see internal/report


def unfinished_name(text):
    """Returns the parts of the dotted name at the end of a text. The last one may be empty."""
    at = len(text)
    while at and (text[at - 1] in "._" or text[at - 1].isalnum()):
        at -= 1
    return text[at:].split(".")


def visible(space, path, interruptible):
    """Returns the names in scope, or those of the attributes of what the path leads to."""
    builtins = space.get("__builtins__")
    if not is_kind(builtins, dict):
        builtins = getattr(builtins, "__dict__", {})
    if not path:
        from keyword import kwlist

        return [*kwlist, *space, *builtins]
    try:
        value = space[path[0]] if path[0] in space else builtins[path[0]]
        for name in path[1:]:
            value = getattr(value, name) if interruptible else value.__dict__[name] if is_module(value) else None
        return names_of(value, interruptible)
    except KeyboardInterrupt:
        raise
    except BaseException:  # SystemExit, too
        return []


def is_module(value):
    return type(value) is type(sys)


def names_of(value, interruptible):
    """Returns the names of attributes. Without interrupts, no method of a guest is called."""
    if interruptible:
        return dir(value)
    return list(value.__dict__) if is_module(value) else type.__dir__(type(value))


def imported(name, now):
    """Returns a module, and imports it first if that may happen now."""
    if now and name not in sys.modules:
        try:
            __import__(name)
        except KeyboardInterrupt:
            raise
        except BaseException:  # SystemExit, too
            pass
    return sys.modules.get(name)


def importable(path):
    """Returns the names of the modules in the packages that the path leads to, or of all."""
    from posix import listdir

    names = [] if path else [*sys.builtin_module_names, *getattr(sys, "stdlib_module_names", ())]
    for place in sys.path:
        try:
            files = listdir("/".join([place or ".", *path]))
        except OSError:
            continue  # an archive, or not there
        names += (name.partition(".")[0] for name in files if name.endswith((".py", ".so")) or "." not in name)
    return [name for name in names if name.isidentifier() and name != "__init__"]


STEPPING = INTERRUPTED = False


def interrupted(number, frame):
    """Handles SIGINT, which the Runner repeats until the step ends. It interrupts a step once,
    so that the step can clean up. One that arrives between two steps is late."""
    global INTERRUPTED
    if STEPPING and not INTERRUPTED:
        INTERRUPTED = True
        raise KeyboardInterrupt


def ignored(problem, report=sys.unraisablehook):
    """Handles an exception in a place that cannot raise it, such as the callback of a weak
    reference. An interrupt there has interrupted nothing, so the next one has to."""
    global INTERRUPTED
    if problem.exc_type is KeyboardInterrupt:
        INTERRUPTED = False
    else:
        report(problem)


def serve_session(session, modules):
    """Runs steps whenever the Runner sends one. modules watches imported modules, or is None.

        K, number, script, name, context, variables, args, stdin, max_answer  ──▶
        U, number, max_answer: list the variables                             ──▶
        T, number, line, max_answer: complete the name at its end             ──▶
        SIGINT: the step has reached a limit, or is canceled                  ──▶
                       ◀──  the report, with the number and what was displayed
    """
    from _signal import SIGINT, signal

    global STEPPING, INTERRUPTED
    signal(SIGINT, interrupted)
    sys.unraisablehook = ignored
    if not session.restricted:
        install_backend()
    send(frame(b"D", marshal.dumps({"end": "opened", "code": 0}, 2)))
    while True:
        kind, (number, *asked) = receive()
        signal(SIGINT, interrupted)  # the guest may have replaced it
        report = None
        try:
            INTERRUPTED, STEPPING = False, True
            report = session.answer(kind, asked)
            STEPPING = False
            report["number"] = number
            if modules is not None:
                report = modules.report_with(report)
            answer = frame(b"D", pack(report, asked[-1]))
        except KeyboardInterrupt:  # just before or after the code of the step
            STEPPING = False
            answer = frame(b"D", raised("KeyboardInterrupt", number=number))
        except MemoryError:
            STEPPING = False
            answer = frame(b"D", raised("MemoryError", number=number))
        report = asked = None
        flush()
        send(answer)
