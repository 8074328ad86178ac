"""pprint. The library's own passes its streams and tables to methods of the objects that it
prints; this one uses real types and writes text."""


class Sortable:
    """A key that can be compared with any other."""

    __slots__ = ("thing",)

    def __init__(self, thing):
        self.thing = thing

    def __lt__(self, other):
        try:
            return bool(self.thing < other.thing)
        except TypeError:
            mine, theirs = self.thing, other.thing
            return (str(REAL_TYPE(mine)), id(mine)) < (str(REAL_TYPE(theirs)), id(theirs))


@in_module("pprint")
class PrettyPrinter:
    def __init__(self, indent=1, width=80, depth=None, stream=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
        self._indent, self._width, self._depth = exact(int(indent)), exact(int(width)), None if depth is None else exact(int(depth))
        if self._indent < 0 or self._width == 0 or self._depth is not None and self._depth <= 0:
            raise ValueError("indent must be >= 0, depth must be > 0, width must be != 0")
        self._out, self._compact, self._sort, self._underscore = stream, bool(compact), bool(sort_dicts), bool(underscore_numbers)

    def pprint(self, object):
        text = self.pformat(object) + "\n"
        if self._out is None:
            print(text, end="")
        else:
            self._out.write(text)

    def pformat(self, object):
        pieces = []
        self._format(object, pieces.append, 0, 0, set(), 0)
        return "".join(pieces)

    def isreadable(self, object):
        _, readable, recursive = self._repr(object, set(), 0)
        return readable and not recursive

    def isrecursive(self, object):
        return self._repr(object, set(), 0)[2]

    def format(self, object, context, maxlevels, level):
        return self._repr(object, set(), level)

    # ---- on one line

    def _repr(self, thing, context, level):
        """Returns its text, whether it can be read back, and whether it contains itself."""
        kind = REAL_TYPE(thing)
        shown = lookup(kind, "__repr__")
        if kind is str:
            return repr(thing), True, False
        if kind is int and self._underscore:
            return "{:_d}".format(thing), True, False
        brackets = BRACKETS.get(shown) if shown is None or REAL_TYPE(shown) is types.WrapperDescriptorType else None
        if brackets is None:
            text = exact(repr(thing))
            return text, bool(text) and not text.startswith("<"), False
        if not len(thing):
            return brackets if kind is not set else "set()", True, False
        if self._depth is not None and level >= self._depth:
            return brackets[0] + "..." + brackets[-1], False, id(thing) in context
        if id(thing) in context:
            return recursion(thing), False, True
        context.add(id(thing))
        parts, readable, recursive = [], True, False
        if shown is dict.__repr__:
            for key, value in self._items(thing):
                pair = self._repr(key, context, level + 1), self._repr(value, context, level + 1)
                parts.append("%s: %s" % (pair[0][0], pair[1][0]))
                readable = readable and pair[0][1] and pair[1][1]
                recursive = recursive or pair[0][2] or pair[1][2]
        else:
            for value in thing:
                text, fine, again = self._repr(value, context, level + 1)
                parts.append(text)
                readable, recursive = readable and fine, recursive or again
        context.discard(id(thing))
        end = "," if shown is tuple.__repr__ and len(parts) == 1 else ""
        return brackets[0] + ", ".join(parts) + end + brackets[-1], readable, recursive

    def _items(self, thing):
        items = list(dict.items(thing))
        return sorted(items, key=lambda item: Sortable(item[0])) if self._sort else items

    # ---- on several

    def _format(self, thing, write, indent, allowance, context, level):
        if id(thing) in context:
            return write(recursion(thing))
        text = self._repr(thing, context, level)[0]
        if len(text) > self._width - indent - allowance:
            kind = REAL_TYPE(thing)
            shown = lookup(kind, "__repr__")
            printer = None
            if fields_of(thing) is not None and not is_class(thing) and REAL_TYPE(shown) is FUNCTION and GLOBALS_OF(shown) is GLOBALS_OF(shown_fields):
                printer = PrettyPrinter._dataclass
            else:
                for known, print_it in PRINTERS:
                    if shown is known:
                        printer = print_it
            if printer is not None:
                context.add(id(thing))
                printer(self, thing, write, indent, allowance, context, level + 1)
                context.discard(id(thing))
                return None
        return write(text)

    def _dict(self, thing, write, indent, allowance, context, level):
        write("{")
        if self._indent > 1:
            write((self._indent - 1) * " ")
        if len(thing):
            self._pairs(self._items(thing), write, indent, allowance + 1, context, level)
        write("}")

    def _pairs(self, items, write, indent, allowance, context, level):
        indent += self._indent
        for i, (key, value) in enumerate(items):
            last = i == len(items) - 1
            text = self._repr(key, context, level)[0]
            write(text + ": ")
            self._format(value, write, indent + len(text) + 2, allowance if last else 1, context, level)
            if not last:
                write(",\n" + " " * indent)

    def _sequence(self, thing, write, indent, allowance, context, level):
        opening, closing = BRACKETS[lookup(REAL_TYPE(thing), "__repr__")]
        values = list(thing)
        if opening == "(" and len(values) == 1:
            closing = ",)"
        write(opening)
        self._values(values, write, indent, allowance + len(closing), context, level)
        write(closing)

    def _set(self, thing, write, indent, allowance, context, level):
        kind = REAL_TYPE(thing)
        opening, closing = "{", "}"
        if kind is not set:
            opening, closing = NAME_OF(kind) + "({", "})"
            indent += len(NAME_OF(kind)) + 1
        write(opening)
        self._values(sorted(thing, key=Sortable), write, indent, allowance + len(closing), context, level)
        write(closing)

    def _values(self, values, write, indent, allowance, context, level):
        indent += self._indent
        if self._indent > 1:
            write((self._indent - 1) * " ")
        delimiter, width, room = "", self._width - indent + 1, 0
        room = max_width = width
        for i, value in enumerate(values):
            last = i == len(values) - 1
            if last:
                max_width -= allowance
                room -= allowance
            if self._compact:
                text = self._repr(value, context, level)[0]
                if room < len(text) + 2:
                    room = max_width
                    if delimiter:
                        delimiter = ",\n" + " " * indent
                if room >= len(text) + 2:
                    room -= len(text) + 2
                    write(delimiter + text)
                    delimiter = ", "
                    continue
            write(delimiter)
            delimiter = ",\n" + " " * indent
            self._format(value, write, indent, allowance if last else 1, context, level)

    def _text(self, thing, write, indent, allowance, context, level):
        chunks, lines = [], exact(thing).splitlines(True)
        if level == 1:
            indent, allowance = indent + 1, allowance + 1
        room = max_width = self._width - indent
        for i, line in enumerate(lines):
            text = repr(line)
            if i == len(lines) - 1:
                room -= allowance
            if len(text) <= room:
                chunks.append(text)
                continue
            parts, current, most = spaced_parts(line), "", max_width
            for j, part in enumerate(parts):
                if j == len(parts) - 1 and i == len(lines) - 1:
                    most -= allowance
                if len(repr(current + part)) > most:
                    if current:
                        chunks.append(repr(current))
                    current = part
                else:
                    current += part
            if current:
                chunks.append(repr(current))
        if len(chunks) == 1:
            return write(text)
        if level == 1:
            write("(")
        write(("\n" + " " * indent).join(chunks))
        if level == 1:
            write(")")
        return None

    def _called(self, thing, write, indent, allowance, context, level):
        """OrderedDict, Counter, defaultdict, deque: their name and contents."""
        kind = REAL_TYPE(thing)
        opening = NAME_OF(kind) + "("
        write(opening)
        inner = indent + len(opening)
        if _collections.deque in MRO_OF(kind):
            write("[")
            self._values(list(thing), write, inner, allowance + 2, context, level)
            return write("])" if thing.maxlen is None else "],\n%smaxlen=%r)" % (" " * inner, thing.maxlen))
        if _collections.defaultdict in MRO_OF(kind):
            write("%s,\n%s" % (exact(repr(thing.default_factory)), " " * inner))
            self._dict(thing, write, inner, allowance + 1, context, level)
        elif OrderedDict in MRO_OF(kind):
            write("[")
            self._values(list(dict.items(thing)), write, inner, allowance + 2, context, level)
            write("]")
        else:
            write("{" + " " * (self._indent - 1))
            self._pairs(thing.most_common(), write, inner, allowance + 2, context, level)
            write("}")
        return write(")")

    def _dataclass(self, thing, write, indent, allowance, context, level):
        name = NAME_OF(REAL_TYPE(thing))
        indent += len(name) + 1
        shown = [f.name for f in fields_of(thing) if f.repr]
        write(name + "(")
        for i, field_name in enumerate(shown):
            last = i == len(shown) - 1
            write(field_name + "=")
            self._format(getattr(thing, field_name), write, indent + len(field_name) + 1, allowance if last else 1, context, level)
            if not last:
                write(",\n" + " " * indent)
        write(")")


def spaced_parts(line):
    """Splits text into words, each with the space after it."""
    parts, start, i = [], 0, 0
    while i < len(line):
        while i < len(line) and not line[i].isspace():
            i += 1
        while i < len(line) and line[i].isspace():
            i += 1
        parts.append(line[start:i])
        start = i
    return parts


def recursion(thing):
    return "<Recursion on %s with id=%s>" % (NAME_OF(REAL_TYPE(thing)), id(thing))


BRACKETS = {dict.__repr__: "{}", list.__repr__: "[]", tuple.__repr__: "()"}
PRINTERS = [
    (dict.__repr__, PrettyPrinter._dict), (list.__repr__, PrettyPrinter._sequence), (tuple.__repr__, PrettyPrinter._sequence),
    (set.__repr__, PrettyPrinter._set), (frozenset.__repr__, PrettyPrinter._set), (str.__repr__, PrettyPrinter._text),
    (OrderedDict.__repr__, PrettyPrinter._called), (_collections.defaultdict.__repr__, PrettyPrinter._called),
    (_collections.deque.__repr__, PrettyPrinter._called),
]


def pformat(object, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    return PrettyPrinter(indent, width, depth, compact=compact, sort_dicts=sort_dicts, underscore_numbers=underscore_numbers).pformat(object)


def pprint(object, stream=None, indent=1, width=80, depth=None, *, compact=False, sort_dicts=True, underscore_numbers=False):
    PrettyPrinter(indent, width, depth, stream, compact=compact, sort_dicts=sort_dicts, underscore_numbers=underscore_numbers).pprint(object)


def pp(object, *args, sort_dicts=False, **kwargs):
    pprint(object, *args, sort_dicts=sort_dicts, **kwargs)


PPRINT = {
    "PrettyPrinter": PrettyPrinter, "pformat": pformat, "pprint": pprint, "pp": pp,
    "saferepr": lambda object: PrettyPrinter()._repr(object, set(), 0)[0],
    "isreadable": lambda object: PrettyPrinter().isreadable(object), "isrecursive": lambda object: PrettyPrinter().isrecursive(object),
}
