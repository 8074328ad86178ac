"""What an uncaught exception looks like to the author of a script.

A guest's exception can claim anything about itself and name any file. Nothing here trusts
it: tracebacks, causes and notes are read from where the interpreter keeps them, frames and
code are recognized by their real types, and only lines of the script are shown, from its
text. The only method that is called is str(), for the message.
"""
import sys

# The texts of earlier steps of a session, by name.
EARLIER = {}

MAX_FRAMES, ERRORS_AT_MOST, MAX_TRACEBACK = 60, 12, 20000

_TRACEBACK, _CAUSE, _CONTEXT, _QUIET, _SPACE = (
    BaseException.__dict__[name].__get__
    for name in ("__traceback__", "__cause__", "__context__", "__suppress_context__", "__dict__")
)
_BASES, _NAME, _QUALIFIED, _HOME = (
    type.__dict__[name].__get__ for name in ("__mro__", "__name__", "__qualname__", "__module__")
)
_FIELDS = {
    (kind, name): kind.__dict__[name].__get__
    for kind, names in (
        (SyntaxError, "filename lineno offset msg"), (OSError, "errno filename"), (SystemExit, "code"),
    ) for name in names.split()
}
_GROUP = getattr(sys.modules["builtins"], "BaseExceptionGroup", None)  # since 3.11


def is_kind(value, kind):
    """isinstance, by the real type."""
    return kind in _BASES(type(value))


def text_of(value):
    """Returns a plain copy of a string, and "" for anything else."""
    return str.__getitem__(value, slice(None)) if is_kind(value, str) else ""


def number_of(value):
    return int.__index__(value) if is_kind(value, int) else 0


def field_of(error, kind, name):
    """Returns a field of an exception of that kind from the interpreter's own slot, or None."""
    return _FIELDS[kind, name](error) if is_kind(error, kind) else None


def steps_of(error):
    """Returns the frames of a traceback as file, line, function and columns, without our
    own: the callers of the script, and the guards."""
    at, steps = _TRACEBACK(error), []
    while at is not None:
        frame = at.tb_frame
        if frame.f_globals is not globals() and frame.f_globals is not LANGUAGE:
            code = frame.f_code
            steps.append((code.co_filename, at.tb_lineno or 0, code.co_name, columns_of(code, at.tb_lasti)))
        at = at.tb_next
    return steps


# Where packages may be installed below the standard library.
_INSTALLED = LIBRARY + "site-packages", LIBRARY + "dist-packages"


def name_in(space):
    """Returns the name in the globals of a module, and whether that module is an imported one:
    not the script, the standard library or ours."""
    try:
        name, file = dict.get(space, "__name__"), dict.get(space, "__file__")
    except BaseException:
        name = file = None  # a key of the guest's compares itself with these
    if type(name) is not str:
        return "", False
    if type(file) is not str or name == "__main__":
        return name, False
    return name, not file.startswith(LIBRARY) or file.startswith(_INSTALLED)


def module_of(error):
    """Returns the module whose call led to an exception, that of the outermost frame, or ""."""
    at = _TRACEBACK(error)
    while at is not None:
        name, imported = name_in(at.tb_frame.f_globals)
        if imported:
            return name
        at = at.tb_next
    return ""


def columns_of(code, instruction):
    """Returns the columns of the failing expression, if it is on one line; since 3.11."""
    if instruction < 0 or not hasattr(code, "co_positions"):
        return None
    for i, (line, last, start, end) in enumerate(code.co_positions()):
        if i == instruction // 2:
            return (start, end) if line is not None and line == last and start is not None and end is not None else None
    return None


def shown_steps(steps, name, lines):
    """Formats the frames of a traceback; of a long one only the first and the last."""
    if len(steps) > MAX_FRAMES:
        left_out = len(steps) - MAX_FRAMES
        first, rest = steps[:MAX_FRAMES // 2], steps[-MAX_FRAMES // 2:]
        return shown_steps(first, name, lines) + "  [%d more frames]\n" % left_out + shown_steps(rest, name, lines)
    text = ""
    for file, line, function, columns in steps:
        text += '  File "%s", line %d, in %s\n' % (file, line, function)
        known = lines if file == name else EARLIER.get(file, "").splitlines()
        if 0 < line <= len(known):
            text += shown_line(known[line - 1], columns)
    return text


def shown_line(line, columns):
    bare = line.strip()
    if not bare:
        return ""
    text = "    %s\n" % bare
    if columns is not None:
        start, end = (len(line.encode()[:column].decode("utf-8", "replace")) for column in columns)
        margin = len(line) - len(line.lstrip())
        if start >= margin and 0 < end - start < len(bare):
            text += "    %s%s\n" % (" " * (start - margin), "^" * (end - start))
    return text


def last_line(error, name, lines):
    """Formats the class of the exception and its message; of a syntax error also where it is."""
    kind = type(error)
    home, words = text_of(_HOME(kind)), text_of(_QUALIFIED(kind))
    if home not in ("__main__", "builtins", ""):
        words = home + "." + words
    where = ""
    message = bounded(str, error, 4000)
    if is_kind(error, SyntaxError):
        file, line = text_of(field_of(error, SyntaxError, "filename")), number_of(field_of(error, SyntaxError, "lineno"))
        if file and line:
            where = '  File "%s", line %d\n' % (file, line)
            if file == name and 0 < line <= len(lines):
                column = number_of(field_of(error, SyntaxError, "offset"))
                where += shown_line(lines[line - 1], (column - 1, column) if column > 0 else None)
        message = text_of(field_of(error, SyntaxError, "msg")) or message
    text = where + words + (": " + message if message else "") + "\n"
    space = _SPACE(error)
    notes = space.get("__notes__") if type(space) is dict else None
    for note in notes if type(notes) is list else ():
        text += text_of(note)[:1000] + "\n" if text_of(note) else ""
    return text


def shown_error(error, steps, name, lines, seen):
    """Formats an exception with its causes, the oldest first."""
    seen.append(error)
    text = ""
    for other, words in (
        (_CAUSE(error), "The above exception was the direct cause of the following exception:"),
        (None if _QUIET(error) else _CONTEXT(error), "During handling of the above exception, another exception occurred:"),
    ):
        if other is not None and len(seen) < ERRORS_AT_MOST and not any(other is known for known in seen):
            text += shown_error(other, steps_of(other), name, lines, seen) + "\n%s\n\n" % words
            break
    if steps:
        text += "Traceback (most recent call last):\n" + shown_steps(steps, name, lines)
    text += last_line(error, name, lines)
    if _GROUP is not None and is_kind(error, _GROUP):
        for i, part in enumerate(_GROUP.__dict__["exceptions"].__get__(error)):
            if len(seen) < ERRORS_AT_MOST:
                inner = shown_error(part, steps_of(part), name, lines, seen)
                text += "  ---- %d ----\n" % (i + 1) + "".join("  | %s\n" % line for line in inner.splitlines())
    return text


def describe(error, name, script):
    """Returns the report of an uncaught exception."""
    line, steps = 0, steps_of(error)
    for file, at, _, _ in steps:
        if file == name:
            line = at
    if is_kind(error, SyntaxError) and text_of(field_of(error, SyntaxError, "filename")) == name:
        line = number_of(field_of(error, SyntaxError, "lineno"))
    report = {"type": text_of(_NAME(type(error))), "message": bounded(str, error, 4000), "line": line, "traceback": ""}
    # Check the class, because a guest can give its own class any name, and the message of
    # the rules, because it can raise that class itself.
    space = _SPACE(error)
    if type(error) is LANGUAGE.get("RuleViolation") and type(space) is dict and LANGUAGE["FOUND"] in space:
        report["rule"], report["reason"] = space[LANGUAGE["FOUND"]]
        report["kind"], report["message"] = "rule", "%s: %s" % (report["rule"], report["reason"])
    elif is_kind(error, MemoryError):
        report["kind"] = "memory"
    if is_kind(error, OSError):
        report["errno"] = number_of(field_of(error, OSError, "errno"))
        report["filename"] = text_of(field_of(error, OSError, "filename"))
        report["module"] = module_of(error)
    try:
        text = shown_error(error, steps, name, script.splitlines(), [])
        report["traceback"] = text if len(text) <= MAX_TRACEBACK else text[:MAX_TRACEBACK // 2] + "\n…\n" + text[-MAX_TRACEBACK // 2:]
    except BaseException:
        report["traceback"] = "%s: %s\n" % (report["type"], report["message"])
    try:
        sys.stderr.write(report["traceback"])
    except BaseException:
        pass  # the guest closed or replaced its stderr
    return report


def bounded(make, value, limit):
    """Returns str() or repr() of a hostile object: short, and without raising."""
    try:
        text = text_of(make(value))  # the result may be of a guest's class
        return text if len(text) <= limit else text[:limit] + "…"
    except BaseException:
        return "<%s that cannot be shown>" % text_of(_NAME(type(value)))


def exit_status(leaving):
    """Returns the exit code of a SystemExit. A message goes to standard error, as usual."""
    status = field_of(leaving, SystemExit, "code")
    if status is None or status is False:
        return 0
    if not is_kind(status, int):
        print(bounded(str, status, 4000), file=sys.stderr)
        return 1
    return int.__and__(status, 0xFF)


def compile_report(error, name, script):
    """Returns the report of a script that was not started."""
    if isinstance(error, RULES_REFUSE):
        return {"end": "refused", "code": 1, "findings": LANGUAGE["findings_of"](error)}
    end = "raised" if isinstance(error, MemoryError) else "syntax"
    return {"end": end, "code": 1, "exception": describe(error, name, script)}
