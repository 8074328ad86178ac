"""Judges what reaches a script: whether the rules hand it out.

Everything that existed before the script ran is private, unless an honest script
reaches it, too (reach.py). What is made while the script runs is the script's, but
for the inner parts of the interpreter and for functions that no honest script gets.
"""
import builtins
import gc
import os
import sys
import types

DICT_OF = type.__dict__["__dict__"].__get__  # whatever a metaclass says
MRO_OF = type.__dict__["__mro__"].__get__
SCRIPT = "<script>"
MARK = "zqmark"  # a name in all text that a script hopes to have executed

ATOMS = frozenset((int, float, complex, bool, str, bytes, range, type(None), type(...), type(NotImplemented)))
CONTAINERS = frozenset((tuple, list, set, frozenset))
INNER = frozenset((types.ModuleType, types.FrameType, types.CodeType, types.CellType))
VIEWS = frozenset((
    types.MappingProxyType, type({}.keys()), type({}.values()), type({}.items()), type(iter({}.keys())),
    type(iter({}.values())), type(iter({}.items())), type(iter([])), memoryview,
))
SUSPENDED = {types.GeneratorType: "gi_code", types.CoroutineType: "cr_code", types.AsyncGeneratorType: "ag_code"}
# Entries that tell the namespace of a module, class or function from a dict of data.
NAMESPACE_KEYS = frozenset(("__builtins__", "__module__", "__dict__", "__weakref__", "__spec__", "__loader__"))
BOUND = types.MethodType, types.BuiltinMethodType, types.MethodWrapperType
POWERS = frozenset(getattr(builtins, n) for n in """open exec eval compile getattr setattr delattr vars globals locals dir
    input breakpoint __import__ __build_class__ type""".split())

MOST_OBJECTS, MOST_DEPTH = 1000, 6  # that one look goes through


def mro_of(kind):
    return MRO_OF(kind) or ()  # 3.9 has a class without


def is_script_class(kind):
    return DICT_OF(kind).get("__module__") == "__main__"


def class_name(kind):
    home = DICT_OF(kind).get("__module__")
    return "%s.%s" % (home if type(home) is str else "builtins", type.__dict__["__qualname__"].__get__(kind))


def all_classes():
    found, stack = {id(object): object}, [object]
    while stack:
        for kind in type.__subclasses__(stack.pop()):
            if id(kind) not in found:
                found[id(kind)] = kind
                stack.append(kind)
    return list(found.values())


def text_of(thing):
    """What it is, without asking it."""
    kind = type(thing)
    if kind is types.FunctionType:
        return "function %s of %s" % (thing.__qualname__, os.path.basename(thing.__code__.co_filename))
    if issubclass(kind, type):
        return "class " + class_name(thing)
    if kind is types.ModuleType:
        return "module " + str(thing.__dict__.get("__name__"))
    if kind is types.CodeType:
        return "code of " + thing.co_name
    if kind in BOUND or kind is types.BuiltinFunctionType:
        return "%s %s" % (kind.__name__, getattr(thing, "__qualname__", "?"))
    if kind in (dict, list, set):
        return "%s of %d: %s" % (kind.__name__, len(thing), sorted(str(type(k).__name__) if type(k) is not str else k for k in list(thing)[:8]))
    return "object of " + class_name(kind)


class Oracle:
    def __init__(self, language, getter):
        self.language, self.getter = language, getter  # getter(name) reads an attribute as a script does, or is None
        self.allowed = {}   # ids of what existed and is handed out
        self.makers = set()  # of functions and methods that honest scripts get
        self.learning = False
        self.active, self.executed = False, []
        self.readable, self.marks, self.tools = {}, (), set()
        sys.addaudithook(self.hook)

    # ---- what is executed

    def hook(self, event, args):
        if not self.active:
            return
        if event == "exec" and MARK in self.names(args[0]):
            self.executed.append("text of the script's is executed")
        elif event == "compile" and type(args[0]) in (str, bytes) and self.is_inserted(args[0]):
            self.executed.append("text of the script's is inserted into code")
        elif event == "import" and MARK in str(args[0]):
            self.executed.append("a module that the script named is imported")
        elif event == "open" and type(args[0]) is str and MARK in args[0]:
            self.executed.append("a file that the script named is opened")
        elif event.startswith(("os.", "subprocess.", "ctypes.", "socket.")) and event not in ("os.listdir", "os.putenv"):
            self.executed.append("the event " + event)
        elif event in ("code.__new__", "function.__new__", "sys.settrace", "sys.setprofile", "gc.get_objects"):
            self.executed.append("the event " + event)

    def is_inserted(self, text):
        """Whether a mark is a part of the text; alone it may be compiled, to see whether it is an annotation."""
        text = text.decode("utf-8", "replace") if type(text) is bytes else text
        return MARK + "()" in text and text not in self.marks

    def names(self, code):
        if type(code) is not types.CodeType or code.co_filename == SCRIPT:
            return ()
        found = set(code.co_names)
        for constant in code.co_consts:
            if type(constant) is types.CodeType:
                found.update(self.names(constant))
        return found

    # ---- what arrives

    def remember(self):
        """Takes all that there is for private."""
        gc.collect()
        classes = all_classes()
        self.kept = {id(kind): kind for kind in classes}
        tracked = gc.get_objects()
        for thing in tracked + classes:
            self.kept[id(thing)] = thing
            for other in gc.get_referents(thing):
                if type(other) not in ATOMS:
                    self.kept[id(other)] = other
        for gone in (tracked, classes):
            self.kept.pop(id(gone), None)
        self.kept.pop(id(self.kept), None)

    def allow(self, thing):
        if id(thing) in self.kept:
            self.allowed[id(thing)] = thing

    def judge(self, root):
        """What the script must not have of what it can reach from root, or None."""
        seen, stack = set(), [(root, 0)]
        while stack:
            thing, depth = stack.pop()
            kind = type(thing)
            if kind in ATOMS:
                continue
            address = id(thing)
            if address in seen or address in self.allowed or address in self.tools:
                continue
            seen.add(address)
            if kind is tuple or kind is list and address not in self.kept:
                stack.extend((inner, depth + 1) for inner in thing)
                continue
            why = self.wrong(thing, kind)
            if why:
                return "%s: %s" % (why, text_of(thing))
            if depth < MOST_DEPTH and len(seen) < MOST_OBJECTS:
                stack.extend((inner, depth + 1) for inner in self.inside(thing, kind))
        return None

    def wrong(self, thing, kind):
        if not INNER.isdisjoint(mro_of(kind)):
            return "a part of the interpreter"
        if issubclass(kind, type):
            if type in mro_of(thing):
                return "a metaclass"
            return self.existing(thing, "a hidden class")
        if kind is types.FunctionType:
            if thing.__code__.co_filename == SCRIPT:
                return None
            return self.existing(thing, "a hidden function") or self.made(thing.__code__, "a function of the library")
        if kind in SUSPENDED:
            code = getattr(thing, SUSPENDED[kind])
            return None if code.co_filename == SCRIPT else self.made(code, "a generator of the library")
        if kind in BOUND or kind is types.BuiltinFunctionType:
            if id(thing) in self.kept:
                return "a hidden builtin" if thing in POWERS else self.existing(thing, "a hidden builtin")
            owner = thing.__self__
            if id(owner) in self.kept and id(owner) not in self.allowed and type(owner) not in CONTAINERS | {dict}:
                return self.known(("bound", class_name(type(owner)), thing.__name__), "a method of a hidden object")
            if self.is_private_container(owner) and thing.__name__ != "__getitem__":  # which shows one entry
                return "a method of a container of the library"
            return None
        if kind in VIEWS:
            if any(self.is_private_container(inner) for inner in gc.get_referents(thing)):
                return "a view of a container of the library"
            return None
        if kind is dict and not NAMESPACE_KEYS.isdisjoint(k for k in thing if type(k) is str):
            return "the namespace of a module, class or function"
        if self.is_private_container(thing):
            return "a container of the library"
        if id(thing) in self.kept and kind not in CONTAINERS and id(kind) in self.kept and id(kind) not in self.allowed:
            return self.existing(thing, "an object of a hidden class")
        return None

    def is_private_container(self, thing):
        changeable = issubclass(type(thing), (dict, list, set, bytearray)) or type(thing).__name__ == "deque"
        return changeable and id(thing) in self.kept and id(thing) not in self.allowed

    def existing(self, thing, why):
        if id(thing) not in self.kept:
            return None
        if self.learning:
            self.allow(thing)
            return None
        return why

    def made(self, code, why):
        return self.known(("code", os.path.basename(code.co_filename), code.co_name), why)

    def known(self, key, why):
        if self.learning:
            self.makers.add(key)
        return None if key in self.makers else why

    def inside(self, thing, kind):
        """What a script can read of it."""
        bases = mro_of(kind)
        if dict in bases:
            yield from dict.keys(thing)
            yield from dict.values(thing)
        for container in CONTAINERS:
            if container in bases:
                yield from list(container.__iter__(thing))[:100]
        if id(kind) in self.kept and type not in bases and BaseException not in bases:
            yield kind  # type(x) is for everybody, but for metaclasses; an exception tells its class anyway
        if issubclass(kind, type):
            if id(thing) not in self.kept:
                yield from self.values(thing, [n for n in DICT_OF(thing) or () if type(n) is str])
            return
        if kind in BOUND or kind in ATOMS or kind is types.FunctionType:
            return
        yield from self.values(thing, self.data_names(kind))
        own = getattr_static_dict(thing)
        if own is not None:
            yield from self.values(thing, [n for n in own if type(n) is str])

    def data_names(self, kind):
        """Of the attributes of a class of the library, those that are data."""
        if is_script_class(kind):
            kind = next(base for base in mro_of(kind) if not is_script_class(base))
        if id(kind) not in self.readable:
            names = {"args", "value"} if issubclass(kind, BaseException) else set()
            for base in mro_of(kind):
                for name, value in DICT_OF(base).items():
                    if type(value) in (types.MemberDescriptorType, types.GetSetDescriptorType, property):
                        names.add(name)
            self.readable[id(kind)] = sorted(n for n in names if self.getter(n) is not None)
        return self.readable[id(kind)]

    def values(self, thing, names):
        for name in names[:60]:
            get = self.getter(name)
            if get is not None:
                try:
                    yield get(thing)
                except Exception:
                    pass


def getattr_static_dict(thing):
    try:
        own = object.__getattribute__(thing, "__dict__")
    except Exception:
        return None
    return list(own) if type(own) is dict else None
