"""The language rules: what a script may contain. This and the other files here form one
program, concatenated in the order of language.go.

A script is parsed once, by the interpreter's own parser, and what is checked is what is
compiled: there is no second grammar that could disagree. In Python, attribute names are
written out in the source. So nearly everything is decided here, at no cost to the run; the
few ways in which a string becomes an attribute name are guarded at run time (guards.py).

Nothing here depends on the walls around the interpreter.
"""
import _ast
import builtins
import sys

PARSE_ONLY = 0x400  # PyCF_ONLY_AST
MAX_FINDINGS = 200


class Refused(Exception):
    """Contains all findings, in the order of the script."""

    def __init__(self, findings):
        super().__init__("the language rules refuse the script")
        self.findings = findings


def words(text):
    return frozenset(text.split())


# Methods that the data model calls. A class may define them, and a script may call them:
# super().__init__(), Base.__eq__(self, other).
PROTOCOL = words("""
    __new__ __init__ __post_init__ __init_subclass__ __set_name__ __class_getitem__
    __str__ __repr__ __bytes__ __format__ __hash__ __bool__ __len__ __length_hint__
    __lt__ __le__ __eq__ __ne__ __gt__ __ge__ __call__ __contains__ __iter__ __next__ __reversed__
    __getitem__ __setitem__ __delitem__ __missing__ __enter__ __exit__
    __await__ __aiter__ __anext__ __aenter__ __aexit__
    __add__ __sub__ __mul__ __matmul__ __truediv__ __floordiv__ __mod__ __divmod__ __pow__
    __lshift__ __rshift__ __and__ __xor__ __or__
    __radd__ __rsub__ __rmul__ __rmatmul__ __rtruediv__ __rfloordiv__ __rmod__ __rdivmod__ __rpow__
    __rlshift__ __rrshift__ __rand__ __rxor__ __ror__
    __iadd__ __isub__ __imul__ __imatmul__ __itruediv__ __ifloordiv__ __imod__ __ipow__
    __ilshift__ __irshift__ __iand__ __ixor__ __ior__
    __neg__ __pos__ __abs__ __invert__ __complex__ __int__ __float__ __index__
    __round__ __trunc__ __floor__ __ceil__ __copy__ __deepcopy__ __replace__ __fspath__
""")

# A class may also define these, but a script may not read them: they lead from one object to
# another, or take an attribute name as a string.
DEFINED_ONLY = words("""
    __del__ __get__ __set__ __delete__ __getattr__ __dir__ __getstate__ __setstate__
    __subclasshook__ __slots__ __match_args__
""")

# These take an attribute name as a string, which is checked (guards.py).
BY_STRING = words("__getattribute__ __setattr__ __delattr__")

# Descriptions of an object, and the chain of exceptions.
DESCRIPTIVE = words("""
    __name__ __qualname__ __doc__ __module__
    __cause__ __context__ __suppress_context__ __notes__
""")
ASSIGNABLE = words("__name__ __qualname__ __doc__ __cause__ __context__ __suppress_context__")

# Read as a copy. A script that changed the real __annotations__ could change the code that
# @dataclass generates from them. The library's mapping proxies pass their mapping to any object
# that they are compared with.
COPIED = words("__annotations__ __members__ groupindex registry metadata _field_defaults")
SHARED_VIEWS = words("groupindex _field_defaults")  # of data that the library shares

MODULE_NAMES = words("__name__ __file__ __doc__ __debug__ __all__ __version__ __author__ __license__ __date__")

READABLE = PROTOCOL | DESCRIPTIVE | BY_STRING | words("__annotations__ __members__")
NAMEABLE = PROTOCOL | DEFINED_ONLY | BY_STRING | MODULE_NAMES

# str.format looks up attributes that no rule has checked.
FORMATTERS = words("format format_map")

# A library object with one of these hands out more than its own data.
WATCHED = words("obj register mro evaluate")

BUILTINS = words("""
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate
    filter float format frozenset hasattr hash hex id int isinstance issubclass iter len list map max
    memoryview min next object oct ord pow print property range repr reversed round set slice sorted
    staticmethod str sum super tuple type zip aiter anext Ellipsis NotImplemented
""") | frozenset(
    name for name, value in vars(builtins).items()
    # Exception groups are left out: the interpreter itself trusts their split(), and a
    # lying one crashes it.
    if isinstance(value, type) and issubclass(value, BaseException) and not name.endswith("Group")
)


def inner_attributes():
    """Returns the attributes of frames, tracebacks, code, generators and similar objects of
    this interpreter, so that those of a later version are included."""
    def generator():
        yield

    async def coroutine():
        pass

    async def async_generator():
        yield

    suspended = coroutine()
    suspended.close()
    try:
        raise ValueError
    except ValueError as error:
        traceback = error.__traceback__
    kinds = generator(), suspended, async_generator(), traceback, traceback.tb_frame, generator.__code__
    prefixes = "gi_", "cr_", "ag_", "tb_", "f_", "co_"
    return frozenset(name for kind in kinds for name in dir(kind) if name.startswith(prefixes))


INNER = inner_attributes()


def is_dunder(name):
    return name.startswith("__") and name.endswith("__") and len(name) > 4


# The hints for what is tried most, by their codes.
INSTEAD = {
    "getattr": "read_attribute",
    "setattr": "set_attribute",
    "delattr": "delete_attribute",
    "vars": "dict_of_fields",
    "dir": "name_attributes",
    "globals": "own_dict",
    "locals": "own_dict",
    "eval": "json_loads",
    "exec": "define_functions",
    "compile": "define_functions",
    "open": "no_files",
    "input": "no_input",
    "breakpoint": "print_values",
    "exit": "raise_system_exit",
    "quit": "raise_system_exit",
    "ExceptionGroup": "raise_one_exception",
    "BaseExceptionGroup": "raise_one_exception",
    "__class__": "type_of",
    "__dict__": "fields",
    "__import__": "import_statement",
    "__traceback__": "exception_text",
    "os": "no_system",
    "sys": "print_or_exit",
    "subprocess": "no_programs",
    "pathlib": "no_files",
    "io": "no_text_files",
    "time": "datetime_now",
    "threading": "one_after_another",
    "asyncio": "one_after_another",
    "logging": "use_print",
    "pickle": "use_json",
    "abc": "not_implemented",
    "contextlib": "context_class",
    "heapq": "sort_or_min",
    "bisect": "sort_or_dict",
    "socket": "no_network", "requests": "no_network",
    "urllib": "no_network", "http": "no_network",
}


class Finding:
    """What is wrong, where and why. hint is the code of the advice, which internal/hints
    words, and about the name that it mentions."""

    def __init__(self, rule, node, reason, hint="", about="", allowed=()):
        self.rule, self.reason, self.hint, self.about, self.allowed = rule, reason, hint, about, list(allowed)
        self.line = getattr(node, "lineno", 0)
        self.column = getattr(node, "col_offset", -1) + 1

    def fields(self):
        return [self.rule, self.line, self.column, self.reason, self.hint, self.about, self.allowed]


def children(node):
    """Yields the child nodes in the order of the source."""
    for field in node._fields:
        value = getattr(node, field, None)
        if isinstance(value, _ast.AST):
            yield value
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, _ast.AST):
                    yield item


def every(tree):
    """Yields all nodes without recursion: a script may nest arbitrarily deep."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))


# The fields of nodes with names that they bind, as far as this version has these nodes.
BINDING_FIELDS = {
    getattr(_ast, kind): field
    for kind, field in (
        ("FunctionDef", "name"), ("AsyncFunctionDef", "name"), ("ClassDef", "name"), ("arg", "arg"),
        ("ExceptHandler", "name"), ("Global", "names"), ("Nonlocal", "names"),
        ("MatchAs", "name"), ("MatchStar", "name"), ("MatchMapping", "rest"),
        ("TypeVar", "name"), ("ParamSpec", "name"), ("TypeVarTuple", "name"),
    )
    if hasattr(_ast, kind)
}


def bound_by(node):
    """Yields the names that one node binds."""
    if isinstance(node, _ast.Name):
        return () if isinstance(node.ctx, _ast.Load) else (node.id,)
    if isinstance(node, _ast.alias):
        return (node.asname or node.name.partition(".")[0],)
    name = getattr(node, BINDING_FIELDS.get(type(node), ""), None)
    return name if isinstance(name, list) else (name,) if name else ()


def leaves_work(tree):
    """Whether a script may run code when its objects die: in a finalizer, or at the end of a
    suspended function."""
    halves = _ast.Yield, _ast.YieldFrom, _ast.AsyncFunctionDef
    return any(isinstance(node, halves) or "__del__" in bound_by(node) for node in every(tree))


def match_tables_of(class_node):
    """Yields the values of __match_args__ in a class body, and where they are bound."""
    for statement in class_node.body:
        if isinstance(statement, _ast.Assign):
            targets = statement.targets
        elif isinstance(statement, _ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        else:
            continue
        targets = [t for t in targets if isinstance(t, _ast.Name) and t.id == "__match_args__"]
        if targets:
            yield statement.value, targets


def match_tables(tree):
    for node in every(tree):
        if isinstance(node, _ast.ClassDef):
            yield from match_tables_of(node)


class Rules:
    """Checks scripts against one set of allowed modules and builtins."""

    def __init__(self, modules, names):
        self.modules, self.builtins = modules, names
        self.reflects = "getattr" in names  # then x.__class__ may also be read

    def findings(self, tree):
        """Returns all findings of a parsed script."""
        found, bound = [], set()
        for node in every(tree):
            bound.update(bound_by(node))
        tables = {target for _, targets in match_tables(tree) for target in targets}
        for node in every(tree):
            for name in bound_by(node):
                found.extend(self.binding(node, name))
                if name == "__match_args__" and node not in tables:
                    found.append(Finding("match-args", node, "__match_args__ must be assigned in the body of a class"))
            judge = self.JUDGES.get(type(node))
            if judge is not None:
                found.extend(judge(self, node, bound))
        found.sort(key=lambda f: (f.line, f.column))
        if len(found) > MAX_FINDINGS:
            rest = Finding("more-findings", None, "%d more findings are not shown" % (len(found) - MAX_FINDINGS))
            found = found[:MAX_FINDINGS] + [rest]
        return found

    def binding(self, node, name):
        if is_dunder(name) and name not in NAMEABLE:
            yield Finding("dunder-name", node, "the name '%s' belongs to the interpreter" % name,
                          INSTEAD.get(name, "other_name"))

    def name(self, node, bound):
        name = node.id
        if not isinstance(node.ctx, _ast.Load):
            return
        if is_dunder(name) and name not in NAMEABLE:
            yield Finding("dunder-name", node, "the name '%s' leads into the interpreter" % name, INSTEAD.get(name, ""))
        elif name in vars(builtins) and name not in self.builtins and name not in bound and not is_dunder(name):
            yield Finding("builtin-not-allowed", node, "the builtin '%s' is not allowed" % name, INSTEAD.get(name, ""))

    def attribute(self, node, bound):
        name = node.attr
        allowed = READABLE if isinstance(node.ctx, _ast.Load) else ASSIGNABLE
        if name in INNER:
            yield Finding("inner-attribute", node, "the attribute '%s' leads into the interpreter's frames and code" % name)
        elif name == "__class__" and self.reflects and isinstance(node.ctx, _ast.Load):
            return
        elif is_dunder(name) and name not in allowed:
            reason = "the attribute '%s' leads into the interpreter" % name
            if name in READABLE:
                reason = "the attribute '%s' cannot be changed" % name
            yield Finding("dunder-attribute", node, reason, INSTEAD.get(name, ""))
        elif name in FORMATTERS and isinstance(node.value, _ast.Constant) and isinstance(node.value.value, str):
            for walked in walked_by_format(node.value.value):
                if not readable_by_string(walked):
                    yield Finding("attribute-by-string", node.value, "the format asks for the attribute '%s'" % walked)

    def imported(self, node, bound):
        for alias in node.names:
            yield from self.module(alias if hasattr(alias, "lineno") else node, alias.name)  # since 3.10

    def imported_from(self, node, bound):
        if node.level:
            yield Finding("import-relative", node, "a relative import is not allowed: a script is in no package",
                          "full_module_name")
            return
        if node.module == "__future__":
            return
        yield from self.module(node, node.module)
        for alias in node.names:
            if alias.name == "*":
                yield Finding("import-star", node, "import * is not allowed", "name_imports", node.module)
            elif alias.name.startswith("_"):
                yield Finding("import-private", node, "'%s' is private to the module '%s'" % (alias.name, node.module))

    def module(self, node, name):
        if name not in self.modules:
            yield Finding("import-not-allowed", node, "import of module '%s' is not allowed" % name,
                          INSTEAD.get(name.partition(".")[0], ""), allowed=sorted(self.modules))

    def augmented(self, node, bound):
        target = node.target
        if isinstance(target, _ast.Attribute) and (target.attr in FORMATTERS or target.attr in READABLE):
            yield Finding("attribute-in-place", target, "the attribute '%s' cannot be changed in place" % target.attr,
                          "assign_attribute", target.attr)

    def call(self, node, bound):
        callee, name = node.func, None
        if isinstance(callee, _ast.Name) and callee.id not in bound:
            name = callee.id
        if name == "type" and len(node.args) + len(node.keywords) > 1:
            yield Finding("type-call", node, "type() with more than one argument makes a class", "class_statement")
        if name == "hasattr" and len(node.args) == 2:
            asked = node.args[1]
            if isinstance(asked, _ast.Constant) and isinstance(asked.value, str) and not askable(asked.value):
                yield Finding("attribute-by-string", asked, "the attribute '%s' cannot be asked for" % asked.value)

    def class_statement(self, node, bound):
        for keyword in node.keywords:
            if keyword.arg == "metaclass" and "abc" not in self.modules:  # otherwise the builder checks that it is ABCMeta
                yield Finding("metaclass", node, "a metaclass is not allowed",
                              "class_decorator")
        for base in node.bases:
            if isinstance(base, _ast.Name) and base.id == "type" and "type" not in bound:
                yield Finding("metaclass", base, "a subclass of type is a metaclass, which is not allowed",
                              "class_decorator")
        for value, _ in match_tables_of(node):
            yield from self.match_args(value)

    def match_args(self, node):
        items = node.elts if isinstance(node, _ast.Tuple) else None
        if items is None or not all(isinstance(i, _ast.Constant) and isinstance(i.value, str) for i in items):
            yield Finding("match-args", node, "__match_args__ must be written out as a tuple of strings")
            return
        for item in items:
            if not matchable(item.value):
                yield Finding("match-args", item, "the attribute '%s' cannot be matched" % item.value)

    def match_class(self, node, bound):
        for name in node.kwd_attrs:
            if not matchable(name):
                yield Finding("match-attribute", node, "the attribute '%s' cannot be matched" % name)

    def except_star(self, node, bound):
        yield Finding("except-star", node, "except* is not allowed: it trusts what an exception group reports about itself",
                      "handle_one_by_one")

    JUDGES = {
        _ast.Name: name, _ast.Attribute: attribute, _ast.Call: call, _ast.ClassDef: class_statement,
        _ast.Import: imported, _ast.ImportFrom: imported_from, _ast.AugAssign: augmented,
    }
    if hasattr(_ast, "MatchClass"):
        JUDGES[_ast.MatchClass] = match_class
    if hasattr(_ast, "TryStar"):
        JUDGES[_ast.TryStar] = except_star


def readable_by_string(name):
    """Whether an attribute may be named by a string: not if it is private or must be
    guarded."""
    return not name.startswith("_") and name not in INNER | FORMATTERS | WATCHED


def askable(name):
    """Whether hasattr may ask for it, which only answers yes or no."""
    return name not in INNER and (name in READABLE or not is_dunder(name))


def matchable(name):
    """Whether a class pattern may read it, for a class without attributes that must be
    guarded."""
    return name not in INNER and not is_dunder(name)


def walked_by_format(text):
    """Yields the attributes that str.format looks up for a format, including nested ones."""
    import _string

    try:
        for _, field, spec, _ in _string.formatter_parser(text):
            if field:
                for is_attribute, name in _string.formatter_field_name_split(field)[1]:
                    if is_attribute:
                        yield name
            if spec and "{" in spec:
                yield from walked_by_format(spec)
    except ValueError:
        return  # str.format raises the error


def findings_of(error):
    """Returns why a script was not compiled, as lists."""
    if isinstance(error, Refused):
        return [finding.fields() for finding in error.findings]
    finding = Finding("syntax", None, str(getattr(error, "msg", None) or error or type(error).__name__))
    finding.line = getattr(error, "lineno", None) or 0
    finding.column = getattr(error, "offset", None) or 0
    return [finding.fields()]
