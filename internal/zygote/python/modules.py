"""What the imported modules of a script use, and the rules for it: module_rules of a policy.

An audit hook sees what Python code asks for. The module that asks is that of the outermost
frame that is neither the script's nor the standard library's. A frame of neither is all that
a thread may have; then it is the module that started the thread.

This is a courtesy against careless packages. A guest that tries can avoid or mislead the
hook, and the walls do not rely on it. It is sent only where a policy has module rules, and
becomes part of the larger program and shares its names.
"""
import posix
import sys

MAX_MODULES, MAX_FILES, MAX_DENIED, MAX_TEXT = 64, 256, 32, 16 << 10
MAX_NAME = 255  # see internal/egress/modules.go
EACCES = 13
IMPORT_SYSTEM = ("importlib._bootstrap_external", "_frozen_importlib_external")
# What the interpreter reads to show a traceback: files of modules, and names of code without
# a file.
SOURCE = (".py", ".pyc", ">")


class ModuleWatch:
    """Watches one guest, or one call of a hook after the other."""

    def __init__(self, config):
        self.granted, self.rules, self.proxy = config["granted"], config["rules"], tuple(config["proxy"])
        self.starters = {}  # id of a Thread → the module that started it
        self.forget()

    def forget(self):
        self.used, self.denied, self.files, self.room = {}, {}, 0, MAX_TEXT

    def install(self):
        handlers = {
            "open": self.on_open, "os.listdir": self.on_open, "os.scandir": self.on_open, "sqlite3.connect": self.on_database,
            "socket.connect": self.on_connect,
            "_thread.start_new_thread": self.on_thread, "_thread.start_joinable_thread": self.on_thread,
        }

        def hook(event, args, find=handlers.get):
            handle = find(event)
            if handle is not None:
                handle(*args)

        sys.addaudithook(hook)
        if sys.version_info < (3, 12):
            audit_threads()

    def asker(self):
        """Returns the module that asks, "" if it is none, and the line of the script. Returns
        None twice for the import system, which looks for modules."""
        frame, ours, module, line, inner = sys._getframe(), globals(), "", 0, True
        while frame is not None:
            space = frame.f_globals
            if space is not ours:
                name, imported = name_in(space)
                if inner and name in IMPORT_SYSTEM:
                    return None, None
                inner = False
                if imported:
                    module = name
                elif not line and name == "__main__":
                    line = frame.f_lineno
            last, frame = frame, frame.f_back
        if not module and not line and last.f_code.co_name == "_bootstrap":
            module = self.starters.get(id(last.f_locals.get("self")), "")
        return module, line

    def use_of(self, module):
        """Returns what a module used, or None if there are too many modules."""
        if module not in self.used and len(self.used) < MAX_MODULES:
            self.used[module] = {"files": {}, "omitted": 0, "threads": 0}
        return self.used.get(module)

    def on_open(self, path=None, *rest):
        module, line = self.asker()
        path = absolute(path) if module else ""
        if not path or path.endswith(SOURCE):
            return
        name, allowed = self.rule_for(module)
        if allowed is not None and is_below(path, self.granted) and not is_below(path, allowed):
            self.deny(module, name, path, line)
        use = self.use_of(module)
        if use is None or path in use["files"]:
            return
        if self.files < MAX_FILES and len(path) <= self.room:
            self.files += 1
            self.room -= len(path)
            use["files"][path] = None
        else:
            use["omitted"] += 1

    def on_database(self, path, *rest):
        if isinstance(path, str) and path.startswith("file:"):
            path = path[5:].partition("?")[0]
        if path not in ("", b"", ":memory:", b":memory:"):
            self.on_open(path)

    def on_connect(self, socket, address):
        """Tells the proxy which module connects. A socket of a guest is one end of a pair,
        and can be written to before it is connected."""
        if address == self.proxy:
            name = (self.asker()[0] or "").encode("utf-8", "replace")[:MAX_NAME]
            posix.write(socket.fileno(), bytes((1, len(name))) + name)

    def on_thread(self, function, *rest):
        module = self.asker()[0] or ""
        self.starters[id(getattr(function, "__self__", None))] = module
        use = self.use_of(module) if module else None
        if use is not None:
            use["threads"] += 1

    def rule_for(self, module):
        """Returns the rule of the module, of the nearest package that contains it, or of all
        others: its name, and the paths it may read or None. See ModuleRuleFor in policy."""
        name = module
        while name:
            if name in self.rules:
                return name, self.rules[name]
            name = name.rpartition(".")[0]
        return "*", self.rules.get("*")

    def deny(self, module, name, path, line):
        key = module, path
        if key in self.denied or len(self.denied) < MAX_DENIED:
            self.denied.setdefault(key, [module, name, path, line, 0])[4] += 1
        raise PermissionError(EACCES, "not in module_rules.%s.read, which is the rule for module %s" % (name, module), path)

    def report_with(self, report):
        """Returns the report of a guest with what its modules used, and starts anew. The result
        stays at the end."""
        modules = [
            [printable(module), [printable(path) for path in list(use["files"])], use["omitted"], use["threads"]]
            for module, use in list(self.used.items())
        ]
        denied = [
            [printable(module), name, printable(path), line, count]
            for module, name, path, line, count in list(self.denied.values())
        ]
        self.forget()
        return {"modules": modules, "denied": denied, **report}


def audit_threads():
    """Raises the event of a new thread, as CPython does since 3.12."""
    import _thread

    start = _thread.start_new_thread

    def start_new_thread(function, *args):
        sys.audit("_thread.start_new_thread", function, *args)
        return start(function, *args)

    _thread.start_new_thread = _thread.start_new = start_new_thread
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._start_new_thread = start_new_thread


def printable(text):
    return text.encode("utf-8", "replace").decode()


def absolute(path):
    """Returns a clean absolute path, or "" if there is none: for an open descriptor. Links are
    not followed."""
    try:
        path = posix.fspath(path)
        if type(path) is bytes:
            path = path.decode("utf-8", "surrogateescape")
        if not path.startswith("/"):
            path = posix.getcwd() + "/" + path
    except Exception:
        return ""  # the caller reports it
    parts = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def is_below(path, roots):
    return any(path == root or path.startswith(root + "/") for root in roots)
