"""Notices what a script has changed of what existed before it."""
import builtins
import sys
import types

from oracle import DICT_OF, SCRIPT, all_classes, class_name, is_script_class

# The interpreter and the library note these on a class while it is used.
NOTED = frozenset("""__slotnames__ __annotations__ __annotations_cache__ __annotate_func__ __abstractmethods__ __doc__
    __parameters__ __static_attributes__ __type_params__""".split())

# What the library changes of itself: tables that are made when they are needed first, the time of the last
# identifier, locks that are made anew in a forked process, modules that are imported late.
USUAL = {
    "collections": "heapq",
    "base64": "_a85chars _a85chars2 _b85chars _b85chars2 _b85dec _b32rev _b32tab2 _b32alphabet",
    "random": "_sha512",
    "sys": "stdout stderr",  # by the search
    "threading": "_active_limbo_lock _shutdown_locks _shutdown_locks_lock",
    "uuid": "_last_timestamp _last_timestamp_v6 _last_timestamp_v7 _last_counter_v7 _node",
    "class difflib.HtmlDiff": "_default_prefix",
}
USUAL = {(owner, name) for owner, names in USUAL.items() for name in names.split()}
EVERYWHERE = frozenset(("__warningregistry__", "__builtins__"))


def is_the_scripts(thing):
    kind = type(thing)
    if kind is types.FunctionType:
        return thing.__code__.co_filename == SCRIPT
    return is_script_class(thing) if issubclass(kind, type) else is_script_class(kind)


def holds_the_scripts(value):
    """Whether a container keeps an object of the script's."""
    if type(value) is dict:
        return any(is_the_scripts(k) or is_the_scripts(v) for k, v in list(value.items()))
    return type(value) in (list, set) and any(map(is_the_scripts, list(value)))


class Changes:
    def __init__(self, language):
        self.modules = [m for m in sys.modules.values() if type(m) is types.ModuleType and m.__name__ != "__main__"]
        self.classes = [kind for kind in all_classes() if not is_script_class(kind)]
        self.language = language
        self.before = self.state()

    def state(self):
        found = {}
        for module in self.modules:
            self.note(found, module.__name__, module.__dict__)
        for kind in self.classes:
            self.note(found, "class " + class_name(kind), DICT_OF(kind))
        for name, facade in getattr(self.language, "facades", {}).items():
            self.note(found, "facade " + name, getattr(facade, "__dict__", {}))
        self.note(found, "builtins", vars(builtins))
        self.note(found, "given builtins", self.language.builtins)
        return found

    def note(self, found, owner, names):
        for name, value in list(names.items()):
            key = owner, name
            if type(name) is not str or name in NOTED or name in EVERYWHERE or key in USUAL:
                continue
            kind = type(value)
            if kind is types.FunctionType:
                found[key] = (id(value), id(value.__code__), id(value.__defaults__), id(value.__kwdefaults__), len(value.__dict__))
            else:
                # The guards remember the classes of the script that runs.
                kept = kind in (dict, list, set) and not name.startswith("@") and holds_the_scripts(value)
                found[key] = id(value), kept

    def found(self):
        """The names of what is not as it was."""
        after, before = self.state(), self.before
        return [k for k in before if after.get(k) != before[k]] + [k for k in after if k not in before]
