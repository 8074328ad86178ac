"""Third part: what stands around a script while it runs.

A script shares the interpreter's library with whoever comes after it, and with
the code that serves it. It gets that library through facades, which show public
names and cannot be changed; and before it changes an object, or asks one for
something private, a guard looks whose it is.
"""
import types

REAL_TYPE = type
FUNCTION = types.FunctionType
DICT_OF = REAL_TYPE.__dict__["__dict__"].__get__  # of a class, whatever its metaclass says
MRO_OF = REAL_TYPE.__dict__["__mro__"].__get__


class RuleViolation(Exception):
    """The rules refuse what a script tried while it ran."""


def refuse(rule, reason):
    raise RuleViolation("%s: %s" % (rule, reason)) from None


class module:
    """A facade. Its class has no method that could change it, and it does not
    know its name: by that the interpreter would find the submodules of the
    module behind it."""

    def __setattr__(self, name, value):
        refuse("shared-object", "a module cannot be changed")

    def __delattr__(self, name):
        refuse("shared-object", "a module cannot be changed")

    def __repr__(self):
        return "<module>"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


# What is public, and yet does for a script what the rules refuse: it evaluates
# text, makes classes, or writes into modules.
HIDDEN = {
    "calendar": words("different_locale"),
    "dataclasses": words("make_dataclass Field"),
    "decimal": words("DefaultContext BasicContext ExtendedContext"),  # one for all, and changed by their methods
    "enum": words("global_enum global_enum_repr global_flag_repr global_str EnumDict pickle_by_enum_name pickle_by_global_name"),
    "typing": words("""
        get_type_hints ForwardRef evaluate_forward_ref no_type_check no_type_check_decorator
        get_overloads clear_overloads
    """),
    "uuid": words("getnode"),
}
PROGRAMS = words("main test")

# Public, but not in the list of public names.
ADDED = {"re": words("RegexFlag")}

# The interpreter imports these by itself, in the name of the script that it
# runs: datetime.strptime, int("9" * 5000), a warning. What it gets is its own
# business; a script that came here would get nothing.
INTERNAL = words("_strptime time warnings _pylong _pydecimal _pydatetime unicodedata collections.abc io traceback copyreg")

# Instances of these classes of the library are their maker's own.
CHANGEABLE = (
    ("calendar", "Calendar TextCalendar HTMLCalendar"), ("collections", "UserDict UserList UserString Counter OrderedDict defaultdict deque"),
    ("decimal", "Context"), ("difflib", "SequenceMatcher Differ HtmlDiff"), ("functools", "partial _lru_cache_wrapper"),
    ("json", "JSONEncoder JSONDecoder"), ("pprint", "PrettyPrinter"), ("random", "Random SystemRandom"),
    ("string", "Template Formatter"), ("textwrap", "TextWrapper"),
)

# Private by their spelling alone: what namedtuple and Enum offer to everybody.
OFFERED = words("""
    _fields _field_defaults _replace _asdict _make
    _value_ _name_ _missing_ _ignore_ _order_ _generate_next_value_
""")

# Modules of which we know that a script can leave nothing behind in them.
TRACELESS = words("math random json re collections collections.abc datetime itertools functools __future__")


class Language:
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
        self.traceless = self.modules <= TRACELESS and allowed <= BUILTINS
        self.facades = {}     # by the name of the module
        self.replaced = {}    # {module: {name: what is shown instead}}
        self.library = {}     # classes that were there before any script
        self.instances = {}   # other shared objects, by id
        self.watched = frozenset()
        self.kinds = set()    # types of what a script shares with others
        self.added = []       # to kinds, by the script that runs
        self.formats = set()  # that may be used
        self.known = 0        # how many modules there were when we last looked
        self.reseed = False
        self.builtins = self.make_builtins(allowed)
        self.learn()

    # ---- compiling

    def parsed(self, script, name):
        """The script as a tree that no rule refuses."""
        tree = compile(script, name, "exec", PARSE_ONLY, True)
        findings = self.rules.findings(tree)
        if findings:
            raise Refused(findings)
        return tree

    def compiled(self, script, name):
        tree = self.parsed(script, name)
        self.load(imports(tree))
        findings = Rewriter(tree, self.watched).rewrite()
        if findings:
            raise Refused(findings)
        return compile(tree, name, "exec", 0, True)

    def check(self, script, name):
        """All findings, as lists."""
        try:
            self.compiled(script, name)
        except (Refused, SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            return findings_of(error)
        return []

    def finished(self):
        """Forgets the script that has run."""
        self.kinds.difference_update(self.added)
        self.added.clear()
        if self.reseed:
            import random

            random.seed()
            self.reseed = False

    # ---- what a script gets

    def make_builtins(self, allowed):
        real = vars(builtins)
        given = {name: real[name] for name in allowed if name in real}
        given.update({"True": True, "False": False, "None": None})
        given["__import__"] = self.importer
        given["__build_class__"] = self.build_class
        given["type"] = ANY_TYPE
        given["hasattr"] = has_attribute
        given[KINDS], given[TYPE], given[ISINSTANCE] = self.kinds, REAL_TYPE, isinstance
        given[TYPEOF], given[OWN], given[PRIVATE] = typeof, quickly(self.kinds, self.own), self.private
        given[SPECIAL], given[FORMATTING] = self.special, self.formatting
        return given

    def importer(self, name, globals=None, locals=None, fromlist=(), level=0):
        """Import statements come here, with names that the rules have seen."""
        if level == 0 and name in self.modules:
            if name not in self.facades:
                self.load([name])
            return self.facade(name if fromlist else name.partition(".")[0])
        if name in INTERNAL:
            __import__(name)
            return module()
        raise ImportError("import of module '%s' is not allowed" % name)

    def load(self, names):
        """Imports modules, and learns what came with them."""
        for name in names:
            self.facade(name)
        if len(sys.modules) != self.known:
            self.learn()

    def facade(self, name):
        """What a script sees of a module: public names, and of its submodules
        those that are allowed."""
        if name in self.facades:
            return self.facades[name]
        facade = self.facades[name] = module()
        shown = facade.__dict__
        if name in self.modules:
            __import__(name)
            real = sys.modules[name]
            shown.update(self.public(name, real))
            shown.update(self.replacements(name, real))
        for other in self.modules:
            parent, _, child = other.rpartition(".")
            if parent == name:
                shown[child] = self.facade(other)
        return facade

    def public(self, name, real):
        names = set(getattr(real, "__all__", ())) or set(vars(real))
        constants = {n for n, value in vars(real).items() if isinstance(value, (int, float, str))}
        for n in names | constants | ADDED.get(name, frozenset()):
            if n.startswith("_") or n in PROGRAMS or n in HIDDEN.get(name, ()) or n not in vars(real):
                continue
            value = vars(real)[n]
            if isinstance(value, types.ModuleType) or isinstance(value, REAL_TYPE) and issubclass(value, REAL_TYPE):
                continue
            if isinstance(value, REAL_TYPE):
                fix_class(value)
            yield n, fixed(value)

    def learn(self):
        """Looks at all classes that there are by now: but for those of a script
        that runs already, they are the library's."""
        self.known = len(sys.modules)
        classes, stack = {object: None}, [object]
        while stack:
            for found in REAL_TYPE.__subclasses__(stack.pop()):
                if found not in classes and DICT_OF(found).get("__module__") != "__main__":
                    classes[found] = None
                    stack.append(found)
        self.library = classes
        self.instances = {
            id(value): value
            for facade in self.facades.values()
            for value in facade.__dict__.values() if REAL_TYPE(value) in classes
        }
        private = {name for c in classes for name in DICT_OF(c) if name.startswith("_") and not is_dunder(name)}
        self.watched = frozenset(private - OFFERED) | WATCHED
        self.kinds.update(c for c in classes if c not in PLAIN)
        self.changeable = {
            vars(sys.modules[home])[name]
            for home, names in CHANGEABLE if home in sys.modules
            for name in names.split() if name in vars(sys.modules[home])
        }
        self.private_bases = {c for c in classes if any(n in self.watched for n in DICT_OF(c))}

    # ---- classes

    def build_class(self, body, name, *bases, **keywords):
        if "metaclass" in keywords or any(isinstance(b, REAL_TYPE) and issubclass(b, (REAL_TYPE, ANY_TYPE)) for b in bases):
            refuse("metaclass", "a metaclass is not allowed")
        return self.own_class(builtins.__build_class__(body, name, *bases, **keywords))

    def own_class(self, made):
        """Remembers a class of the script that inherits what is private to the
        library, or could be matched by what must not be matched."""
        if not isinstance(made, REAL_TYPE):
            return made
        bases = MRO_OF(made)[1:]
        if any(base in self.private_bases for base in bases):
            self.kinds.add(made)
            self.added.append(made)
        self.check_patterns(made, bases)
        return made

    def check_patterns(self, made, bases):
        """A class pattern reads the attributes that __match_args__ names, and
        dataclasses.astuple those of the fields. A class that takes others for its
        own, by register() or by their shape, has theirs read."""
        guarded = REAL_TYPE(made) is not REAL_TYPE or any(base in MATCH_GUARDED for base in bases)
        for table in "__match_args__", "__dataclass_fields__":
            for base in (made,) + bases:
                for name in DICT_OF(base).get(table, ()):
                    if REAL_TYPE(name) is not str or not matchable(name) or guarded and not readable_by_string(name):
                        refuse("match-args", "the attribute %.100r cannot be matched" % (name,))

    # ---- guards

    def is_library_function(self, function):
        return DICT_OF_FUNCTION(function).get("__builtins__") is not self.builtins

    def own(self, thing):
        """Gives back a thing that the script may change."""
        kind = REAL_TYPE(thing)
        if kind is FUNCTION:
            if self.is_library_function(thing):
                refuse("shared-object", "the function %s belongs to the library and cannot be changed" % thing.__name__)
        elif issubclass(kind, REAL_TYPE):
            if thing in self.library:
                refuse("shared-object", "the class %s belongs to the library and cannot be changed" % thing.__name__)
        elif kind in self.library and kind not in self.changeable and not issubclass(kind, BaseException) or id(thing) in self.instances:
            refuse("shared-object", "an object of the library's class %s cannot be changed" % kind.__name__)
        return thing

    def private(self, thing, name):
        """Gives back a thing whose attribute of that name is not the library's."""
        kind = REAL_TYPE(thing)
        if kind not in self.kinds:
            return thing
        if kind is FUNCTION:
            allowed = name in thing.__dict__ and (name == "register" or not self.is_library_function(thing))
        elif issubclass(kind, REAL_TYPE):
            allowed = self.defined(MRO_OF(thing) + MRO_OF(kind), name)
            if name == "register":
                allowed = thing not in self.library
        elif name == "register":  # singledispatchmethod's own, and not passed on to another
            allowed = any(name in DICT_OF(base) for base in MRO_OF(kind))
        else:
            allowed = kind not in self.library and self.defined(MRO_OF(kind), name)
        if not allowed:
            refuse("private-attribute", "the attribute '%s' is private to the library" % name)
        return thing

    def defined(self, bases, name):
        """Whether an attribute is none of the library's."""
        for base in bases:
            if name in DICT_OF(base):
                return base not in self.library
        return True

    def special(self, thing, name):
        """The value of an attribute that leads to others by their names."""
        value = getattr(thing, name)
        if REAL_TYPE(value) is types.MappingProxyType:
            return types.MappingProxyType(dict(value))
        if name == "__annotations__":
            return dict(value)
        if name in COPIED:
            return value
        return self.by_string(value, name)

    def formatting(self, thing, name):
        """Gives something to ask for the method: a text that walks nowhere, or
        what asks for a thing."""
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
        """object.__setattr__ and its like, for names that the script could have
        written out."""
        changes = method != "__getattribute__"
        needed = 2 if method == "__setattr__" else 1  # arguments, the object not counted

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
            return value(*args)

        return guarded

    # ---- what is shown in place of what a module has

    def replacements(self, name, real):
        maker = getattr(self, "replace_" + name.replace(".", "_"), None)
        return maker(real) if maker is not None else {}

    def replace_collections(self, real):
        for name in FORMATTERS:
            setattr(real.UserString, name, user_string_format(getattr(real.UserString, name)))
        return {}

    def replace_copy(self, real):
        """copy believes what an object says of how it is made anew: the guard
        sits where that is done."""
        reconstruct = real._reconstruct

        def guarded(x, memo, func, args, state=None, *rest, **keywords):
            if REAL_TYPE(x) in self.library:
                return reconstruct(x, memo, func, args, state, *rest, **keywords)
            if isinstance(state, tuple) and len(state) == 2 and state[1]:
                for key in state[1]:
                    if REAL_TYPE(key) is not str or is_dunder(key):
                        refuse("attribute-by-string", "copy cannot set the attribute %.100r" % (key,))
            return reconstruct(x, memo, lambda *args: self.own(func(*args)), args, state, *rest, **keywords)

        real._reconstruct = guarded
        return {}

    def replace_dataclasses(self, real):
        def dataclass(cls=None, /, **options):
            def decorate(cls):
                return self.own_class(real.dataclass(**options)(self.own(cls)))

            return decorate if cls is None else decorate(cls)

        return {"dataclass": dataclass}

    def replace_functools(self, real):
        wrappable = FUNCTION, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType, real.partial, real._lru_cache_wrapper

        def update_wrapper(wrapper, wrapped, assigned=real.WRAPPER_ASSIGNMENTS, updated=real.WRAPPER_UPDATES):
            if tuple(assigned) != real.WRAPPER_ASSIGNMENTS or tuple(updated) != real.WRAPPER_UPDATES:
                refuse("attribute-by-string", "update_wrapper cannot be told which attributes to copy")
            if wrapped in self.library if isinstance(wrapped, REAL_TYPE) else REAL_TYPE(wrapped) in self.library and REAL_TYPE(wrapped) not in wrappable:
                refuse("shared-object", "an object of the library cannot be wrapped, but for a function")
            return real.update_wrapper(self.own(wrapper), wrapped)

        def wraps(wrapped, assigned=real.WRAPPER_ASSIGNMENTS, updated=real.WRAPPER_UPDATES):
            return lambda wrapper: update_wrapper(wrapper, wrapped, assigned, updated)

        def total_ordering(cls):
            return real.total_ordering(self.own(cls))

        dispatch = real.singledispatch

        def singledispatch(func):
            dispatcher = dispatch(func)
            register = dispatcher.register

            def guarded(cls, func=None):
                if func is None and not isinstance(cls, REAL_TYPE) and hasattr(cls, "__annotations__"):
                    # functools would evaluate the text of annotations.
                    return register(annotated(cls, self.builtins), cls)
                return register(cls, func)

            dispatcher.register = guarded
            return dispatcher

        real.singledispatch = singledispatch  # for singledispatchmethod, which uses it
        return {
            "update_wrapper": update_wrapper, "wraps": wraps, "total_ordering": total_ordering, "singledispatch": singledispatch,
        }

    def replace_operator(self, real):
        def attrgetter(*names):
            for name in names:
                check_names(name)
            get = real.attrgetter(*names)
            return lambda thing: get(thing)  # whose type makes no other

        def methodcaller(name, /, *args, **kwargs):
            check_names(name)
            call = real.methodcaller(name, *args, **kwargs)
            return lambda thing: call(thing)

        return {"attrgetter": attrgetter, "methodcaller": methodcaller}

    def replace_random(self, real):
        def seed(*args, **kwargs):
            self.reseed = True
            return real.seed(*args, **kwargs)

        def setstate(state):
            self.reseed = True
            return real.setstate(state)

        return {"seed": seed, "setstate": setstate}

    def replace_string(self, real):
        def get_field(self, field_name, args, kwargs):
            import _string

            first, rest = _string.formatter_field_name_split(field_name)
            thing = self.get_value(first, args, kwargs)
            for is_attribute, key in rest:
                if is_attribute:
                    check_names(key)
                    thing = getattr(thing, key)
                else:
                    thing = thing[key]
            return thing, first

        real.Formatter.get_field = get_field
        return {}

    def replace_typing(self, real):
        def get_origin(tp):
            return without_metaclass(real.get_origin(tp))

        def get_args(tp):
            return tuple(map(without_metaclass, real.get_args(tp)))

        return {"get_origin": get_origin, "get_args": get_args}


DICT_OF_FUNCTION = FUNCTION.__dict__["__globals__"].__get__

# Types of whose objects no attribute can be set, and which have none to hide.
PLAIN = frozenset((
    int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice, object,
    REAL_TYPE(None), REAL_TYPE(...), REAL_TYPE(NotImplemented), memoryview,
))

MATCH_GUARDED = frozenset((str, AttributeError))


def quickly(kinds, guard):
    """The guard, for those who are not of these kinds."""
    def look(thing):
        return guard(thing) if REAL_TYPE(thing) in kinds else thing

    return look


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


# Stands for `type` where a script uses it as a value: asks for the type of one
# thing, and makes no classes.
ANY_TYPE = _TypeOfTypes("type", (), {})


def without_metaclass(thing):
    return ANY_TYPE if isinstance(thing, REAL_TYPE) and issubclass(thing, REAL_TYPE) else thing


def typeof(thing):
    return without_metaclass(REAL_TYPE(thing))


def fixed(value):
    """A container of the library that a script could change is shown as one that
    it cannot."""
    kind = REAL_TYPE(value)
    return tuple(value) if kind is list else frozenset(value) if kind is set else table(value) if kind is dict else value


def table(entries):
    """A dict to look things up in. No more than that: a view of a dict shows it
    to whatever it is compared with."""
    class Table:
        def __getitem__(self, key):
            return entries[key]

        def __iter__(self):
            return iter(tuple(entries))

        def __len__(self):
            return len(entries)

        def __contains__(self, key):
            return key in entries

    return Table()


def fix_class(shown):
    """The same for what a class of the library has."""
    for base in MRO_OF(shown):
        for name, value in tuple(DICT_OF(base).items()):
            if not name.startswith("_") and fixed(value) is not value:
                setattr(base, name, fixed(value))


def imports(tree):
    """The modules that a script names."""
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
    """Looks at a dotted name that the library will follow."""
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


def user_string_format(value):
    def format(self, *args, **kwargs):
        check_format(str(self))
        return value(self, *args, **kwargs)

    return format


def unbound_format(value):
    def format(text, *args, **kwargs):
        if isinstance(text, str):
            check_format(text)
        return value(text, *args, **kwargs)

    return format


def annotated(function, names):
    """The class that the first parameter of a function is annotated with; as a
    string it may be a plain name."""
    for name, kind in function.__annotations__.items():
        if name != "return":
            if REAL_TYPE(kind) is str:
                kind = function.__globals__.get(kind, names.get(kind))
            if isinstance(kind, REAL_TYPE):
                return kind
            break
    raise TypeError("register() needs a class: write register(cls), or annotate the first parameter with one")
