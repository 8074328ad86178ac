"""The guards around a running script.

A script shares the interpreter's library with later scripts and with the code that serves
it. Before a script changes an object, or reads a private attribute of one, a guard checks
whose object it is.
"""
class Language(Library, Arrivals):
    """The rules and guards of one interpreter."""

    def __init__(self, modules, names):
        self.modules = frozenset(modules) | {"__future__"}
        if "collections" in self.modules:
            self.modules |= {"collections.abc"}
        allowed = BUILTINS | frozenset(names)
        unknown = sorted(n for n in names if n not in vars(builtins))
        if unknown:
            raise ValueError("this Python has no builtin " + ", ".join(unknown))
        self.rules = Rules(self.modules - {"__future__"}, allowed)
        self.open = set()     # classes of the library that scripts may inherit from
        self.traceless = self.modules <= TRACELESS and allowed <= BUILTINS
        self.facades = {}     # by module name
        self.library = {}     # classes that existed before any script
        self.watched = frozenset()
        self.kinds = set()    # types of objects that scripts share
        self.arriving = set() # those, and containers, that a special method may receive
        self.inner = self.given = frozenset()
        self.added = []       # added to kinds by the running script
        self.formats = set()  # formats that may be used
        self.known = 0        # number of modules at the last scan
        self.reseed = False
        self.late = False     # the last script may run code when its objects die
        self.builtins = self.make_builtins(allowed)
        ENUM_BUILDER[:] = [self.make_enum]
        self.learn()

    # ---- compiling

    def parsed(self, script, name):
        """Parses the script, and raises Refused if a rule refuses it."""
        tree = compile(script, name, "exec", PARSE_ONLY, True)
        findings = self.rules.findings(tree)
        if findings:
            raise Refused(findings)
        return tree

    def compiled(self, script, name):
        tree = self.parsed(script, name)
        self.late = leaves_work(tree)
        self.load(imports(tree))
        findings = Rewriter(tree, self.watched, self.rules.reflects).rewrite()
        if findings:
            raise Refused(findings)
        return compile(tree, name, "exec", 0, True)

    def check(self, script, name):
        """Returns all findings, as lists."""
        try:
            self.compiled(script, name)
        except (Refused, SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            return findings_of(error)
        return []

    def finished(self):
        """Forgets the script that has run. Returns whether another can run here: not if a
        module may have kept something of it, nor if it could still use classes that the
        guards would no longer recognize."""
        if not self.late:
            self.kinds.difference_update(self.added)
            self.added.clear()
        if self.reseed:
            import random

            random.seed()
            self.reseed = False
        return self.traceless and not self.added

    # ---- what a script gets

    def make_builtins(self, allowed):
        real = vars(builtins)
        given = {name: real[name] for name in allowed if name in real}
        given.update({"True": True, "False": False, "None": None})
        given["__import__"] = self.importer
        given["__build_class__"] = self.build_class
        given["type"] = ANY_TYPE
        given["hasattr"] = has_attribute
        for name, guard in (
            ("getattr", self.get_attribute), ("setattr", self.set_attribute), ("delattr", self.delete_attribute),
            ("eval", self.evaluate), ("input", read_line),
        ):
            if name in allowed:
                given[name] = guard
        given[KINDS], given[TYPE], given[ISINSTANCE] = self.kinds, REAL_TYPE, isinstance
        given[TYPEOF], given[OWN], given[PRIVATE] = typeof, quickly(self.kinds, self.own), self.private
        given[SPECIAL], given[FORMATTING] = self.special, self.formatting
        given[ARRIVING], given[ARRIVED], given[ALL_ARRIVED] = self.arriving, self.arrived, self.all_arrived
        return given

    def importer(self, name, globals=None, locals=None, fromlist=(), level=0):
        """Implements import statements. The rules have checked the names."""
        if level == 0 and name in self.modules:
            if name not in self.facades:
                self.load([name])
            return self.facade(name if fromlist else name.partition(".")[0])
        if name in INTERNAL:
            __import__(name)
            return module()
        raise ImportError("import of module '%s' is not allowed" % name)

    def load(self, names):
        """Imports modules and scans the classes that came with them."""
        for name in names:
            self.facade(name)
        if len(sys.modules) != self.known:
            self.learn()

    def learn(self):
        """Scans all classes that exist by now. Except for those of a running script, they
        belong to the library."""
        self.known = len(sys.modules)
        classes, stack = {object: None}, [object]
        while stack:
            for found in REAL_TYPE.__subclasses__(stack.pop()):
                if found not in classes and not is_script_class(found):
                    classes[found] = None
                    stack.append(found)
        self.library = classes
        names = {name for c in classes for name in DICT_OF(c)}
        names.update(*(used_names(c) for c in classes if self.is_shown(DICT_OF(c).get("__module__"))))
        private = {name for name in names if name.startswith("_") and not is_dunder(name)}
        self.watched = frozenset(private - OFFERED) | WATCHED
        self.kinds.update(c for c in classes if c not in PLAIN)
        self.changeable = {
            vars(sys.modules[home])[name]
            for home, names in CHANGEABLE if home in sys.modules
            for name in names.split() if name in vars(sys.modules[home])
        }
        self.learn_arrivals()
        self.private_bases = {c for c in classes if any(n in self.watched for n in DICT_OF(c))}

    def is_shown(self, home):
        return REAL_TYPE(home) is str and home.partition(".")[0] in self.modules

    # ---- patterns

    def check_patterns(self, bases):
        """Checks __match_args__: a class pattern reads the attributes that it names."""
        for base in bases:
            names = DICT_OF(base).get("__match_args__", ())
            if REAL_TYPE(names) is not tuple:
                refuse("match-args", "__match_args__ must be a tuple of strings")
            for name in names:
                self.check_pattern(bases, name)

    def check_pattern(self, bases, name):
        """Checks a matched attribute: a class that accepts others as its own, by register()
        or by their shape, would read theirs."""
        guarded = any(REAL_TYPE(base) is not REAL_TYPE or base in MATCH_GUARDED for base in bases)
        if REAL_TYPE(name) is not str or not matchable(name) or guarded and (name in self.watched or name in FORMATTERS | SHARED_VIEWS):
            refuse("match-args", "the attribute %.100r cannot be matched" % (name,))

    # ---- guards

    def is_library_function(self, function):
        return GLOBALS_OF(function).get("__builtins__") is not self.builtins

    def own(self, thing):
        """Returns the object if the script may change it."""
        kind = REAL_TYPE(thing)
        if kind is FUNCTION:
            if self.is_library_function(thing):
                refuse("shared-object", "the function %s belongs to the library and cannot be changed" % thing.__name__)
        elif issubclass(kind, REAL_TYPE):
            if thing in self.library:
                refuse("shared-object", "the class %s belongs to the library and cannot be changed" % thing.__name__)
        elif kind in self.library and kind not in self.changeable and not issubclass(kind, BaseException):
            refuse("shared-object", "an object of the library's class %s cannot be changed" % kind.__name__)
        return thing

    def private(self, thing, name):
        """Returns the object if its attribute of that name is not private to the library."""
        kind = REAL_TYPE(thing)
        if kind not in self.kinds:
            return thing
        if kind is FUNCTION:
            allowed = name in thing.__dict__ and (name == "register" or not self.is_library_function(thing))
        elif issubclass(kind, REAL_TYPE):
            allowed = self.defined(MRO_OF(thing) + MRO_OF(kind), name)
            if name == "register":
                allowed = thing not in self.library
        elif name == "register":  # of singledispatchmethod itself, not passed on
            allowed = any(name in DICT_OF(base) for base in MRO_OF(kind))
        else:
            allowed = kind not in self.library and self.defined(MRO_OF(kind), name)
        if not allowed:
            refuse("private-attribute", "the attribute '%s' is private to the library" % name)
        return thing

    def defined(self, bases, name):
        """Whether an attribute does not belong to the library."""
        for base in bases:
            if name in DICT_OF(base):
                return base not in self.library
        return True

    def special(self, thing, name):
        """Returns the value of an attribute that looks up others by name."""
        value = getattr(thing, name)
        if name == "__init__" and REAL_TYPE(value) is not FUNCTION:
            return value
        return self.shown(value, name)

    def shown(self, value, name):
        if name in BY_STRING:
            return self.by_string(value, name)
        if name == "__init__":
            return self.initializer(value)
        if name == "__annotations__" or name == "_field_defaults" and REAL_TYPE(value) is dict:
            return dict(value)
        return copied(value)

    def initializer(self, value):
        """Some functions of the library set attributes of their arguments."""
        if REAL_TYPE(value) is not FUNCTION or not self.is_library_function(value) or GLOBALS_OF(value) is GENERATED:
            return value

        def guarded(*args, **kwargs):
            if args:
                self.own(args[0])
            return value(*args, **kwargs)

        return guarded

    def formatting(self, thing, name):
        """Returns an object to take the method from: a text without attribute lookups, or a
        wrapper that checks them."""
        if REAL_TYPE(thing) is str:
            if thing not in self.formats:
                check_format(thing)
                if len(self.formats) < 1000 and len(thing) < 1000:
                    self.formats.add(thing)
            return thing
        value = getattr(thing, name)
        if REAL_TYPE(value) is types.BuiltinMethodType and isinstance(value.__self__, str):
            value = bound_format(value)
        elif REAL_TYPE(value) is types.MethodDescriptorType and value.__objclass__ is str:
            value = unbound_format(value)
        return types.SimpleNamespace(**{name: value})

    def by_string(self, value, method):
        """Wraps object.__setattr__ and similar methods: only names that the script could
        have written out are allowed."""
        changes = method != "__getattribute__"
        needed = 2 if method == "__setattr__" else 1  # arguments without the object

        def guarded(*args):
            if len(args) >= needed:
                name = args[-needed]
                thing = args[0] if len(args) > needed else getattr(value, "__self__", None)
                if REAL_TYPE(name) is not str or is_dunder(name) and name not in (ASSIGNABLE if changes else READABLE):
                    refuse("attribute-by-string", "the attribute %.100r cannot be named by a string" % (name,))
                if name in INNER or name in FORMATTERS:
                    refuse("attribute-by-string", "the attribute '%s' cannot be named by a string" % name)
                if name in self.watched:
                    self.private(thing, name)
                if changes:
                    self.own(thing)
                elif issubclass(REAL_TYPE(thing), REAL_TYPE):  # it would return the raw value from the class
                    refuse("attribute-by-string", "the attribute '%s' of a class cannot be named by a string" % name)
                elif is_dunder(name) or name in COPIED:
                    return self.shown(value(*args), name)
            return value(*args)

        return guarded

# Types whose objects have no attributes to set or to hide.
PLAIN = frozenset((
    int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice, object,
    REAL_TYPE(None), REAL_TYPE(...), REAL_TYPE(NotImplemented), memoryview,
))

MATCH_GUARDED = frozenset((str, AttributeError))


def quickly(kinds, guard):
    """Calls the guard for objects of other types."""
    def check(thing):
        return guard(thing) if REAL_TYPE(thing) in kinds else thing

    return check


class _TypeOfTypes(REAL_TYPE):
    def __call__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs:
            return typeof(args[0])
        refuse("type-call", "type() with more than one argument makes a class: write a class statement")

    def __instancecheck__(cls, thing):
        return isinstance(thing, REAL_TYPE)

    def __subclasscheck__(cls, thing):
        return issubclass(thing, REAL_TYPE)

    def __getitem__(cls, item):
        return types.GenericAlias(cls, item)

    def __repr__(cls):
        return "<class 'type'>"


# Replaces `type` where a script uses it as a value: it returns the type of an object and makes
# no classes.
ANY_TYPE = _TypeOfTypes("type", (), {})


def without_metaclass(thing):
    return ANY_TYPE if isinstance(thing, REAL_TYPE) and issubclass(thing, REAL_TYPE) else thing


def typeof(thing):
    return without_metaclass(REAL_TYPE(thing))


def imports(tree):
    """Returns the modules that a script names."""
    for node in every(tree):
        if isinstance(node, _ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, _ast.ImportFrom):
            yield node.module


def has_attribute(thing, name):
    if REAL_TYPE(name) is not str:
        raise TypeError("hasattr(): attribute name must be string")
    if not askable(name):
        refuse("attribute-by-string", "the attribute '%.100s' cannot be asked for" % name)
    return hasattr(thing, name)


def check_names(names):
    """Checks a dotted name that the library will follow."""
    if REAL_TYPE(names) is not str:
        raise TypeError("attribute name must be a string")
    for name in names.split("."):
        if not readable_by_string(name):
            refuse("attribute-by-string", "the attribute '%.100s' cannot be named by a string" % name)


def check_format(text):
    for name in walked_by_format(str.__str__(text)):
        if not readable_by_string(name):
            refuse("attribute-by-string", "the format asks for the attribute '%.100s'" % name)


def bound_format(value):
    def format(*args, **kwargs):
        check_format(value.__self__)
        return value(*args, **kwargs)

    return format


def unbound_format(value):
    def format(text, *args, **kwargs):
        if isinstance(text, str):
            check_format(text)
        return value(text, *args, **kwargs)

    return format
