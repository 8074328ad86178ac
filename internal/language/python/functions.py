"""Replacements for parts of functools, operator, abc and contextlib, where the library asks
functions and objects for more than their type."""

WRAPPED_NAMES = "__module__", "__name__", "__qualname__", "__doc__"

# What follows from one comparison. For each other one: whether its answer is the opposite, and
# what else is asked.
AND_UNEQUAL, OR_EQUAL, ALONE = 1, 2, 3
COMPARISONS = {
    "__lt__": {"__gt__": (True, AND_UNEQUAL), "__le__": (False, OR_EQUAL), "__ge__": (True, ALONE)},
    "__le__": {"__ge__": (True, OR_EQUAL), "__lt__": (False, AND_UNEQUAL), "__gt__": (True, ALONE)},
    "__gt__": {"__lt__": (True, AND_UNEQUAL), "__ge__": (False, OR_EQUAL), "__le__": (True, ALONE)},
    "__ge__": {"__le__": (True, OR_EQUAL), "__gt__": (False, AND_UNEQUAL), "__lt__": (True, ALONE)},
}


class Functions:
    """Functions that replace those of the library."""

    def update_wrapper(self, wrapper, wrapped, assigned=None, updated=None):
        for given in assigned, updated:
            for name in exact_items(given if given is not None else (), "the names of attributes"):
                if REAL_TYPE(name) is not str or name not in COPIED_BY_WRAPS:
                    refuse("attribute-by-string", "update_wrapper cannot copy the attribute %.100r" % (name,))
        self.own(wrapper)
        for name in WRAPPED_NAMES if assigned is None else assigned:
            if name in WRAPPED_NAMES:
                value = described(wrapped, name)
                if value is not None:
                    setattr(wrapper, name, value)
            elif name == "__annotations__" and REAL_TYPE(wrapped) is FUNCTION:
                setattr(wrapper, name, dict(wrapped.__annotations__))
        if updated is None or "__dict__" in updated:
            self.copy_attributes(wrapper, wrapped)
        return wrapper

    def copy_attributes(self, wrapper, wrapped):
        """Copies the attributes of a function or object of the script."""
        kind = REAL_TYPE(wrapped)
        if self.is_library_function(wrapped) if kind is FUNCTION else not is_script_class(kind):
            return
        given, kept = attributes_of(wrapped), attributes_of(wrapper)
        if given and kept is not None:
            kept.update(given)

    def wraps(self, wrapped, assigned=None, updated=None):
        return lambda wrapper: self.update_wrapper(wrapper, wrapped, assigned, updated)

    def lru_cache(self, maxsize=128, typed=False):
        if REAL_TYPE(maxsize) is not int and maxsize is not None and callable(maxsize):
            return self.cached(maxsize, 128, False)
        maxsize = None if maxsize is None else max(exact(maxsize), 0)
        return lambda function: self.cached(function, maxsize, bool(typed))

    def cache(self, function, /):
        return self.cached(function, None, False)

    def cached(self, function, maxsize, typed):
        if not callable(function):
            raise TypeError("the first argument must be callable")
        made = LRU_CACHE(function, maxsize, typed, CACHE_INFO)
        made.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
        for name in WRAPPED_NAMES:
            value = described(function, name)
            if value is not None:
                setattr(made, name, value)
        return made

    def total_ordering(self, cls):
        if not is_class(cls):
            raise TypeError("total_ordering() needs a class")
        self.own(cls)
        roots = [name for name in COMPARISONS if lookup(cls, name) is not lookup(object, name)]
        if not roots:
            raise ValueError("must define at least one ordering operation: < > <= >=")
        root = max(roots)  # prefer __lt__ to __le__ to __gt__ to __ge__
        for name, rule in COMPARISONS[root].items():
            if name not in roots:
                REAL_TYPE.__setattr__(cls, name, ordering(root, *rule))
        return cls

    def singledispatch(self, function):
        return self.dispatcher(function, 0)

    def dispatcher(self, function, position):
        """Makes a function that calls another by the class of an argument."""
        registry, found = {object: function}, {}

        def dispatch(cls):
            if not is_class(cls):
                raise TypeError("dispatch() needs a class")
            if cls not in found:
                found[cls] = registry[closest(cls, registry)]
            return found[cls]

        def register(cls, func=None):
            if func is None and not is_class(cls) and REAL_TYPE(cls) is not UNION and not is_union(cls):
                return register(annotated(cls, self.builtins, self.is_library_function), cls)
            if func is None:
                return lambda func: register(cls, func)
            parts = get_args(cls) if not is_class(cls) else (cls,)
            for part in parts:
                if not is_class(part):
                    raise TypeError("Invalid first argument to `register()`. %r is not a class or union type." % (cls,))
            for part in parts:
                registry[part] = func
            found.clear()
            return func

        def dispatching(*args, **kwargs):
            if len(args) <= position:
                raise TypeError("%s requires at least 1 positional argument" % (described(function, "__name__") or "the function"))
            return dispatch(REAL_TYPE(args[position]))(*args, **kwargs)

        for name in WRAPPED_NAMES:
            value = described(function, name)
            if value is not None:
                setattr(dispatching, name, value)
        dispatching.register, dispatching.dispatch = register, dispatch
        dispatching.registry = types.MappingProxyType(registry)  # shown as a copy, see COPIED
        return dispatching

    def abstractmethod(self, function):
        if REAL_TYPE(function) is FUNCTION:
            self.own(function)
        elif REAL_TYPE(function) not in (classmethod, staticmethod, property):
            raise TypeError("abstractmethod() needs a function")
        if REAL_TYPE(function) is FUNCTION:
            function.__isabstractmethod__ = True
        return function


COPIED_BY_WRAPS = frozenset(WRAPPED_NAMES) | {"__annotations__", "__dict__", "__type_params__"}
CACHE_INFO = None  # functools' own, once it is imported


def described(thing, name):
    """Returns a text attribute of an object, or None."""
    value = getattr(thing, name, None)
    return str.__getitem__(value, slice(None)) if is_a(value, str) else None


def ordering(root, opposite, beside):
    def method(self, other):
        answer = lookup(REAL_TYPE(self), root)(self, other)
        if answer is NotImplemented:
            return answer
        answer = not answer if opposite else answer
        if beside == AND_UNEQUAL:
            return answer and self != other
        return answer or self == other if beside == OR_EQUAL else answer

    return method


def closest(cls, registry):
    """Returns the registered class that fits best: bases before abstract classes that
    accept the class as a subclass."""
    bases = MRO_OF(cls)
    abstract = [kind for kind in registry if kind not in bases and ABCMeta in MRO_OF(REAL_TYPE(kind))]
    for i, base in enumerate(bases):
        if base in registry and base is not object:
            return base
        fitting = [kind for kind in abstract if issubclass(base, kind) and not any(issubclass(later, kind) for later in bases[i + 1:])]
        fitting = [kind for kind in fitting if not any(other is not kind and issubclass(other, kind) for other in fitting)]
        if len(fitting) > 1:
            raise RuntimeError("Ambiguous dispatch: %s or %s" % (fitting[0], fitting[1]))
        if fitting:
            return fitting[0]
    return object


def is_union(thing):
    return REAL_TYPE(thing) is Form and thing._form == "Union"


def annotated(function, names, is_library):
    """Returns the class that annotates the first parameter of a function. A string
    annotation may be a plain name."""
    if REAL_TYPE(function) is FUNCTION and not is_library(function):
        for name, kind in function.__annotations__.items():
            if name != "return":
                if REAL_TYPE(kind) is str:
                    kind = GLOBALS_OF(function).get(kind, names.get(kind))
                if is_class(kind) or REAL_TYPE(kind) is UNION or is_union(kind):
                    return kind
                break
    raise TypeError("register() needs a class: write register(cls), or annotate the first parameter with one")


def binding(function, thing, owner):
    """Binds a function as a method, as the interpreter does."""
    bind = lookup(REAL_TYPE(function), "__get__")
    return function if bind is None else bind(function, thing, owner)


def library_classes(rules):
    """Makes the classes that replace those of functools."""
    @in_module("functools")
    class singledispatchmethod:
        def __init__(self, func):
            self.func = func
            self.dispatcher = rules.dispatcher(lambda *args: None, 0)
            self.dispatcher.register(object, func)

        def register(self, cls, method=None):
            return self.dispatcher.register(cls, func=method)

        def __get__(self, thing, owner=None):
            def method(*args, **kwargs):
                if not args:
                    raise TypeError("the method requires at least 1 positional argument")
                return binding(self.dispatcher.dispatch(REAL_TYPE(args[0])), thing, owner)(*args, **kwargs)

            for name in WRAPPED_NAMES:
                value = described(self.func, name)
                if value is not None:
                    setattr(method, name, value)
            method.register = self.register
            return method

    @in_module("functools")
    class cached_property:
        def __init__(self, func):
            self.func, self.attrname, self.__doc__ = func, None, described(func, "__doc__")

        def __set_name__(self, owner, name):
            name = attribute_name(name, "a cached property")
            if self.attrname not in (None, name):
                raise TypeError("Cannot assign the same cached_property to two different names (%r and %r)." % (self.attrname, name))
            self.attrname = name

        def __get__(self, thing, owner=None):
            if thing is None:
                return self
            if self.attrname is None:
                raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
            if not is_script_class(REAL_TYPE(thing)):
                refuse("shared-object", "an object of the library's class %s cannot be changed" % NAME_OF(REAL_TYPE(thing)))
            kept = attributes_of(thing)
            if kept is None:
                raise TypeError("No '__dict__' attribute on %r instance to cache %r property." % (NAME_OF(REAL_TYPE(thing)), self.attrname))
            if self.attrname not in kept:
                kept[self.attrname] = self.func(thing)
            return kept[self.attrname]

    @in_module("functools")
    class partialmethod:
        def __init__(self, func, /, *args, **keywords):
            self.func, self.args, self.keywords = func, args, keywords

        def __get__(self, thing, owner=None):
            def method(*args, **kwargs):
                if thing is None:
                    first, args = args[0], args[1:]
                    return binding(self.func, first, owner)(*self.args, *args, **dict(self.keywords, **kwargs))
                return binding(self.func, thing, owner)(*self.args, *args, **dict(self.keywords, **kwargs))

            return method

    return {"singledispatchmethod": singledispatchmethod, "cached_property": cached_property, "partialmethod": partialmethod}


BINDERS = {LRU_CACHE}  # and the classes above: they bind like functions


class _GeneratorManager:
    """The result of a function with @contextmanager."""

    def __init__(self, function, args, kwargs):
        self._function, self._args, self._kwargs = function, args, kwargs
        self._steps = function(*args, **kwargs)

    def __call__(self, function):
        def decorated(*args, **kwargs):
            with _GeneratorManager(self._function, self._args, self._kwargs):
                return function(*args, **kwargs)

        return decorated

    def __enter__(self):
        try:
            return next(self._steps)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind, error, traceback):
        if kind is None:
            try:
                next(self._steps)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        if error is None:
            error = kind()
        try:
            self._steps.throw(error)
        except StopIteration as stop:
            return stop is not error
        except RuntimeError as raised:
            if raised is error or is_a(error, StopIteration) and raised.__cause__ is error:
                return False
            raise
        except BaseException as raised:
            if raised is not error:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(function):
    def helper(*args, **kwargs):
        return _GeneratorManager(function, args, kwargs)

    for name in WRAPPED_NAMES:
        value = described(function, name)
        if value is not None:
            setattr(helper, name, value)
    return helper
