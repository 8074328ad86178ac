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
        if "_strptime" in sys.modules:
            exact_formats(sys.modules["_strptime"])

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
            if name == "_strptime":
                exact_formats(sys.modules[name])
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
        if "copy" in sys.modules:
            self.guard_copy(sys.modules["copy"])  # others use it, too
        self.private_bases = {c for c in classes if any(n in self.watched for n in DICT_OF(c))}

    def is_shown(self, home):
        return REAL_TYPE(home) is str and home.partition(".")[0] in self.modules

    # ---- classes

    def build_class(self, body, name, *bases, **keywords):
        if "metaclass" in keywords or not exact_names(keywords):
            refuse("metaclass", "a metaclass is not allowed")
        self.check_bases(bases)
        return self.own_class(builtins.__build_class__(body, name, *bases, **keywords))

    def check_bases(self, bases):
        """Before there is a class: its __init_subclass__ could use it at once."""
        inherited = {}
        for base in types.resolve_bases(bases):
            if issubclass(REAL_TYPE(base), REAL_TYPE):
                inherited.update(dict.fromkeys(MRO_OF(base)))
        if REAL_TYPE in inherited or ANY_TYPE in inherited:
            refuse("metaclass", "a metaclass is not allowed")
        if super in inherited or types.GenericAlias in inherited:
            refuse("base-class", "a class that passes its attributes on from another object cannot be a base")
        self.check_patterns(inherited)

    def own_class(self, made):
        """Remembers a class of the script that inherits what is private to the
        library, or could be matched by what must not be matched."""
        if not isinstance(made, REAL_TYPE):
            return made
        bases = MRO_OF(made)
        if any(base in self.private_bases for base in bases[1:]):
            self.kinds.add(made)
            self.added.append(made)
        self.check_patterns(bases)
        return made

    def check_patterns(self, bases):
        """A class pattern reads the attributes that __match_args__ names, and
        dataclasses.astuple those of the fields."""
        for table in "__match_args__", "__dataclass_fields__":
            for base in bases:
                names = DICT_OF(base).get(table, ())
                if REAL_TYPE(names) not in (tuple, list, dict):
                    refuse("match-args", "%s must be a tuple of strings" % table)
                for name in names:
                    self.check_pattern(bases, name)

    def check_pattern(self, bases, name):
        """A class that takes others for its own, by register() or by their shape,
        has theirs read."""
        guarded = any(REAL_TYPE(base) is not REAL_TYPE or base in MATCH_GUARDED for base in bases)
        if REAL_TYPE(name) is not str or not matchable(name) or guarded and (name in self.watched or name in FORMATTERS | SHARED_VIEWS):
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
        if name == "__init__" and REAL_TYPE(value) is not FUNCTION:
            return value
        return self.shown(value, name)

    def shown(self, value, name):
        if name in BY_STRING:
            return self.by_string(value, name)
        if name == "__init__":
            return self.initializer(value)
        return dict(value) if name == "__annotations__" else copied(value)

    def initializer(self, value):
        """One that the script has not written, but the library or @dataclass, sets
        attributes of whatever it is called with."""
        if REAL_TYPE(value) is not FUNCTION or value.__code__.co_filename != "<string>" and not self.is_library_function(value):
            return value

        def guarded(*args, **kwargs):
            if args:
                self.own(args[0])
            return value(*args, **kwargs)

        return guarded

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
                elif issubclass(REAL_TYPE(thing), REAL_TYPE):  # it would give what the class keeps, as it is
                    refuse("attribute-by-string", "the attribute '%s' of a class cannot be named by a string" % name)
                elif is_dunder(name) or name in COPIED:
                    return self.shown(value(*args), name)
            return value(*args)

        return guarded

    # ---- what is shown in place of what a module has

    def replacements(self, name, real):
        maker = getattr(self, "replace_" + name.replace(".", "_"), None)
        return maker(real) if maker is not None else {}

    def replace_collections(self, real):
        def format(self, *args, **kwargs):
            return formatting(self.data, "format").format(*args, **kwargs)

        def format_map(self, mapping):
            return formatting(self.data, "format_map").format_map(mapping)

        def __copy__(self):
            kind = REAL_TYPE(self)
            made = kind.__new__(kind)
            if REAL_TYPE(made) is not kind or not issubclass(kind, (real.UserDict, real.UserList)):
                raise TypeError("%s cannot be copied" % kind.__name__)
            made.__dict__.update(self.__dict__, data=self.data.copy())
            return made

        formatting = self.formatting
        real.UserString.format, real.UserString.format_map = format, format_map
        real.UserDict.__copy__ = real.UserList.__copy__ = __copy__
        real.UserDict.copy = lambda self: self.__copy__()
        return {}

    def guard_copy(self, real):
        """copy believes what an object says of how it is made anew: the guard
        sits where that is done."""
        reconstruct, copy_method = real._reconstruct, real._deepcopy_dispatch[types.MethodType]
        if reconstruct.__name__ == "guarded":
            return

        def guarded(x, memo, func, args, *rest, **keywords):
            def make(*args):
                made = self.own(func(*args))
                if REAL_TYPE(made) is FUNCTION or issubclass(REAL_TYPE(made), REAL_TYPE):
                    refuse("shared-object", "copy makes no functions and classes")
                return made

            return reconstruct(x, memo, func if REAL_TYPE(x) in self.library else make, args, *rest, **keywords)

        def set_attribute(thing, name, value):
            if REAL_TYPE(name) is not str or is_dunder(name):
                refuse("attribute-by-string", "copy cannot set the attribute %.100r" % (name,))
            setattr(thing, name, value)

        def method(x, memo):
            # The memo would show the object that a function of the library is a method of.
            return x if REAL_TYPE(x.__self__) in self.library else copy_method(x, memo)

        real._reconstruct, real.setattr = guarded, set_attribute
        real._deepcopy_dispatch[types.MethodType] = method

    def replace_dataclasses(self, real):
        def dataclass(cls=None, /, **options):
            def decorate(cls):
                if not issubclass(REAL_TYPE(cls), REAL_TYPE):
                    raise TypeError("dataclass() needs a class")
                self.own(cls)
                if REAL_TYPE(DICT_OF(cls).get("__doc__")) is not str:
                    # dataclass would ask inspect for one, which evaluates the text of a signature.
                    cls.__doc__ = cls.__name__
                return self.own_class(real.dataclass(**options)(cls))

            return decorate if cls is None else decorate(cls)

        get_field = real._get_field

        def guarded(cls, name, *rest):
            # A field becomes a part of the text that is executed.
            if REAL_TYPE(name) is not str or not name.isidentifier():
                refuse("attribute-by-string", "a field cannot have the name %.100r" % (name,))
            if cls not in self.library:
                self.check_pattern(MRO_OF(cls), name)
            return get_field(cls, name, *rest)

        real._get_field = guarded
        make_final(real.Field)
        return {"dataclass": dataclass}

    def replace_enum(self, real):
        create = real.EnumMeta._create_

        def _create_(cls, class_name, names, **options):
            if isinstance(names, str):
                names = str.__str__(names).replace(",", " ").split()
            elif isinstance(names, (list, tuple)):
                names = [n if isinstance(n, str) else tuple(n) for n in names]
            else:
                names = [(n, names[n]) if isinstance(n, str) else tuple(n) for n in names or ()]
            for n in names:
                n = n if isinstance(n, str) else n[0] if n else None
                if REAL_TYPE(n) is not str or is_dunder(n):
                    refuse("attribute-by-string", "an enumeration cannot have a member %.100r" % (n,))
            if not exact_names(options):
                raise TypeError("keywords must be strings")
            if options.get("module") is None:
                options["module"] = "__main__"
            if options.get("type") is not None:
                self.check_bases((options["type"], cls))
            return self.own_class(create(cls, class_name, names, **options))

        real.EnumMeta._create_ = _create_
        if hasattr(real, "property"):
            named = real.property.__set_name__

            def __set_name__(self, owner, name):
                # It looks the name up in the value of a member.
                if REAL_TYPE(name) is not str or not matchable(name):
                    refuse("attribute-by-string", "a property cannot have the name %.100r" % (name,))
                named(self, owner, name)

            real.property.__set_name__ = __set_name__
            make_final(real.property)
        return {}

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
                if func is None and not issubclass(REAL_TYPE(cls), REAL_TYPE) and REAL_TYPE(cls) is not UNION:
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
            if len(names) == 1:
                return lambda thing: copied(get(thing))  # whose type makes no other
            return lambda thing: tuple(map(copied, get(thing)))

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

    def replace_re(self, real):
        """Patterns and flags are remembered for all: none may be a text or a number
        that lies about which one it is."""
        compile_pattern, missing = real._compile, real.RegexFlag._missing_

        def _compile(pattern, flags):
            return compile_pattern(exact(pattern), flags if REAL_TYPE(flags) is real.RegexFlag else exact(flags))

        def of_template(function):
            return lambda pattern, template: function(pattern, exact(template))

        real._compile = _compile
        real.RegexFlag._missing_ = classmethod(lambda cls, value: missing(exact(value)))
        for name in "_compile_template", "_subx":  # since 3.12, and before
            if hasattr(real, name):
                setattr(real, name, of_template(getattr(real, name)))
        return {}

    def replace_string(self, real):
        def get_field(self, field_name, args, kwargs):
            import _string

            first, rest = _string.formatter_field_name_split(field_name)
            thing = self.get_value(first, args, kwargs)
            for is_attribute, key in rest:
                if is_attribute:
                    check_names(key)
                    thing = copied(getattr(thing, key))
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

        def marking(mark):
            def marked(thing):
                if REAL_TYPE(thing) is FUNCTION or issubclass(REAL_TYPE(thing), REAL_TYPE):
                    self.own(thing)
                return mark(thing)

            return marked

        make_final(real._Final)
        shown = {name: marking(getattr(real, name)) for name in ("final", "override", "runtime_checkable") if hasattr(real, name)}
        if hasattr(real, "dataclass_transform"):
            shown["dataclass_transform"] = lambda **options: marking(real.dataclass_transform(**options))
        return dict(shown, get_origin=get_origin, get_args=get_args)


DICT_OF_FUNCTION = FUNCTION.__dict__["__globals__"].__get__

# Types of whose objects no attribute can be set, and which have none to hide.
PLAIN = frozenset((
    int, float, complex, bool, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice, object,
    REAL_TYPE(None), REAL_TYPE(...), REAL_TYPE(NotImplemented), memoryview,
))

MATCH_GUARDED = frozenset((str, AttributeError))
UNION = getattr(types, "UnionType", None)  # since 3.10


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


def copied(value):
    """A view of the library's is not given away: it shows what it is a view of to
    whatever it is compared with."""
    return types.MappingProxyType(dict(value)) if REAL_TYPE(value) is types.MappingProxyType else value


def exact_names(keywords):
    """Whether no name of an argument can be taken for another, later."""
    return all(REAL_TYPE(name) is str for name in keywords)


def used_names(kind):
    """The names in the methods of a class: among them are the attributes of its
    objects."""
    for value in DICT_OF(kind).values():
        if REAL_TYPE(value) is FUNCTION:
            wrapped = value.__dict__.get("__wrapped__")
            yield from (wrapped if REAL_TYPE(wrapped) is FUNCTION else value).__code__.co_names


def exact(value):
    """A text or number without what a class of the script's makes of it."""
    if isinstance(value, int):
        return int.__index__(value)
    for kind in str, bytes:
        if isinstance(value, kind):
            return kind.__getitem__(value, slice(None))
    return value


def exact_formats(real):
    """Formats of dates are remembered for all, too."""
    parse = real._strptime
    if parse.__name__ != "exact_format":
        def exact_format(data_string, format="%a %b %d %H:%M:%S %Y"):
            return parse(data_string, exact(format))

        real._strptime = exact_format
        real._regex_cache.clear()


def make_final(kind):
    """For a class whose objects the library believes every word."""
    def __init_subclass__(cls, **keywords):
        refuse("base-class", "the class %s cannot be a base" % kind.__name__)

    kind.__init_subclass__ = classmethod(__init_subclass__)


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
    """The same for what a class of the library has; and its methods that set
    attributes do so for its own objects alone."""
    for base in MRO_OF(shown):
        for name, value in tuple(DICT_OF(base).items()):
            if not name.startswith("_") and fixed(value) is not value:
                setattr(base, name, fixed(value))
            elif REAL_TYPE(value) is property and value.fset is not None and sets_attributes(value.fset, base):
                setattr(base, name, property(value.fget, for_objects_of(base, value.fset), value.fdel, value.__doc__))
            elif sets_attributes(value, base) and (is_dunder(name) or not name.startswith("_")):
                setattr(base, name, for_objects_of(base, value))


def sets_attributes(method, owner):
    if REAL_TYPE(method) is not FUNCTION or method.__name__ == "__new__":
        return False
    if method.__qualname__ != "%s.%s" % (owner.__qualname__, method.__name__):  # it belongs to another
        return False
    import opcode

    return opcode.opmap["STORE_ATTR"] in method.__code__.co_code[::2] or "__setattr__" in method.__code__.co_names


def for_objects_of(owner, method):
    def checked(self, /, *args, **kwargs):
        if owner not in MRO_OF(REAL_TYPE(self)):
            raise TypeError("%s() needs an object of the class %s" % (method.__name__, owner.__name__))
        return method(self, *args, **kwargs)

    checked.__name__, checked.__doc__, checked.__wrapped__ = method.__name__, method.__doc__, method
    return checked


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
