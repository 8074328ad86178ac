"""Templates, formatters, and the few names of sys that scripts see."""


def string_classes(rules, real):
    import _string
    import re

    absent = object()

    def pattern_of(template):
        """Made from the attributes of the class, read once as exact values."""
        kind = REAL_TYPE(template)
        given = lookup(kind, "pattern")
        flags = exact(lookup(kind, "flags"))
        if REAL_TYPE(given) is re.Pattern:
            return given
        if given is not None:
            return re.compile(exact_text(given, "pattern"), flags | re.VERBOSE)
        word = exact_text(lookup(kind, "idpattern"), "idpattern")
        braced = lookup(kind, "braceidpattern")
        braced = word if braced is None else exact_text(braced, "braceidpattern")
        sign = re.escape(exact_text(lookup(kind, "delimiter"), "delimiter"))
        return re.compile("%s(?:(?P<escaped>%s)|(?P<named>%s)|{(?P<braced>%s)}|(?P<invalid>))" % (sign, sign, word, braced), flags | re.VERBOSE)

    def wrong(template, text, at):
        before = text[:at].splitlines(keepends=True) or [""]
        raise ValueError("Invalid placeholder in string: line %d, col %d" % (len(before), at - len("".join(before[:-1]))))

    class Template:
        delimiter = "$"
        idpattern = r"(?a:[_a-z][_a-z0-9]*)"
        braceidpattern = None
        flags = int(re.IGNORECASE)

        def __init__(self, template):
            self.template = template

        def substitute(self, mapping=absent, /, **kws):
            return filled(self, mapping, kws, False)

        def safe_substitute(self, mapping=absent, /, **kws):
            return filled(self, mapping, kws, True)

        def is_valid(self):
            text = exact_text(self.template, "template")
            return not any(match.group("invalid") is not None for match in pattern_of(self).finditer(text))

        def get_identifiers(self):
            text, found = exact_text(self.template, "template"), []
            for match in pattern_of(self).finditer(text):
                name = match.group("named") or match.group("braced")
                if name is not None and name not in found:
                    found.append(name)
            return found

    def filled(template, mapping, kws, safe):
        text = exact_text(template.template, "template")
        sign = exact_text(lookup(REAL_TYPE(template), "delimiter"), "delimiter")

        def convert(match):
            name = match.group("named") or match.group("braced")
            if name is not None:
                try:
                    return str(kws[name] if name in kws or mapping is absent else mapping[name])
                except KeyError:
                    if safe:
                        return match.group()
                    raise
            if match.group("escaped") is not None:
                return sign
            if safe:
                return match.group()
            return wrong(template, text, match.start("invalid"))

        return pattern_of(template).sub(convert, text)

    class Formatter(real.Formatter):
        def vformat(self, format_string, args, kwargs):
            return super().vformat(exact_text(format_string, "a format"), args, kwargs)

        def get_field(self, field_name, args, kwargs):
            first, rest = _string.formatter_field_name_split(exact_text(field_name, "the name of a field"))
            thing = self.get_value(first, args, kwargs)
            for is_attribute, key in rest:
                if is_attribute:
                    check_names(key)
                    thing = copied(getattr(thing, key))
                else:
                    thing = thing[key]
            return thing, first

    def capwords(s, sep=None):
        return real.capwords(exact(s), exact(sep))

    rules.open.update((Template, Formatter))
    Template.__module__ = Formatter.__module__ = "string"
    return {"Template": Template, "Formatter": Formatter, "capwords": capwords}


class _Input:
    """Standard input, as lines of text."""

    def read(self, size=-1):
        return stream("stdin").read(exact(size))

    def readline(self, size=-1):
        return stream("stdin").readline(exact(size))

    def readlines(self):
        return stream("stdin").readlines()

    def __iter__(self):
        return self

    def __next__(self):
        line = stream("stdin").readline()
        if not line:
            raise StopIteration
        return line


class _Output:
    """Standard output or standard error."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def write(self, text):
        return stream(self._name).write(exact_text(text, "what is written"))

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        stream(self._name).flush()


def stream(name):
    found = getattr(sys, name)
    if found is None:
        raise OSError("there is no " + name)
    return found


def read_line(prompt="", /):
    """input(): returns a line of the request's stdin."""
    if prompt is not None and not (REAL_TYPE(prompt) is str and not prompt):
        stream("stdout").write(exact(str(prompt)))
        stream("stdout").flush()
    line = stream("stdin").readline()
    if not line:
        raise EOFError("input(): there is no more input: give the request a stdin")
    return line[:-1] if line.endswith("\n") else line


MAX_RECURSION = 10000  # nested calls: more would overflow the interpreter's own stack


def system_module(real):
    def leave(status=None, /):
        raise SystemExit(status)

    def setrecursionlimit(limit, /):
        real.setrecursionlimit(min(exact(limit), MAX_RECURSION))

    return {
        "argv": ("script",), "exit": leave, "setrecursionlimit": setrecursionlimit, "getrecursionlimit": real.getrecursionlimit,
        "stdin": _Input(), "stdout": _Output("stdout"), "stderr": _Output("stderr"),
        "byteorder": real.byteorder, "float_info": real.float_info, "int_info": real.int_info, "maxsize": real.maxsize,
        "version": real.version, "version_info": real.version_info,
    }
