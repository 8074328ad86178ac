"""Last part: the guest side of CPython on WebAssembly.

The host runs this program once. It asks the host for its configuration with the question
"boot", imports what scripts use most, warms up, and registers the function to call. Then
the host keeps the memory and gives a copy of it to each guest:

    host                              here
    ────                              ────
    the program             ──▶
                            ◀──       ask(b"boot")
    marshal of a dict       ──▶       preload: names of modules
                                      language: None, or modules, builtins, code, source
                                      wasi: True to disable threads that exist
                            ◀──       serve(handle)
    ═══ the memory is copied ═══
    handle(frame)           ──▶       marshal of a list: see Image.handle
                            ◀──       ask(b"code" + marshal of the code), if wanted
                            ◀──       ask(JSON text), for each call of a tool
                            ◀──       marshal of the report: see internal/report

Up to "boot", and from "serve" to the guest's first line, all messages are ours. After that
any message may be the guest's.
"""
import gc
import marshal
import sys

import _cordon

# Made in advance, while there is memory.
OUT_OF_MEMORY = raised("MemoryError")


def boot():
    config = marshal.loads(_cordon.ask(b"boot"))
    if sys.platform == "wasi" or config.get("wasi"):
        install_absences()
    if sys.platform == "wasi":
        import posix

        posix.chdir("/tmp")  # the working directory of scripts on every tier
    prepare(config["preload"])
    image = Image(config["language"])
    image.warm_up()
    image.randomness = Randomness()
    # Nothing here is garbage. Without this, the first collection of every guest would scan
    # and copy it.
    gc.collect()
    gc.freeze()
    flush()
    _cordon.serve(image.handle)


def refresh(randomness):
    """Renews the state that copies of an image must not share."""
    randomness.renew()
    logging = sys.modules.get("logging")
    if logging is not None:
        import time

        now = time.time_ns() if isinstance(logging._startTime, int) else time.time()  # since 3.13, and before
        logging._startTime = now


def give_code(data):
    """Sends the host the bytecode of a script, or nothing if it cannot be cached."""
    _cordon.ask(b"code" + data)


class Image:
    """An interpreter that is ready for a guest. It either applies the language rules or not:
    the guards change the library."""

    def __init__(self, language):
        import linecache  # needed by the first script that fails
        import traceback

        self.rules, self.builtins, self.compiled, self.session = None, sys.modules["builtins"], compiled, None
        self.work = ""
        if language is not None:
            load_language(language.get("code") or b"", language["source"])
            self.rules = learn_language(language["modules"], language["builtins"], True)
            self.builtins, self.compiled = self.rules.builtins, self.rules.compiled

    def warm_up(self):
        """Runs a sample guest: it fills caches, and imports what is imported on first
        use."""
        script = "result = context['a'] + 1"
        pack(run(script, "<script>", {"a": 41}, [], None, stage(self.builtins), self.compiled, last=False), 4096)
        if self.rules is None:  # the first use of syntax trees makes hundreds of objects
            Session(stage(self.builtins), parsed, False).step(script, "<step>", {"a": 41}, [], [], None, 2 << 20)
            EARLIER.clear()
        self.space, self.kept = stage(self.builtins), True

    def handle(self, frame):
        """Answers a frame with a report: see WasmSource. A copy of the image serves one
        guest. A session is a guest that is called again and finds its globals."""
        kind, script, name, context, shown, args, restricted, tools, session, fresh, work, code, ask, max_size = marshal.loads(frame)
        if (restricted or kind == "check") != (self.rules is not None):
            raise RuntimeError("this image is for scripts %s the language rules" % ("under" if self.rules else "without"))
        if fresh:
            refresh(self.randomness)
        try:
            if work != self.work:
                self.enter(work)
            if kind == "check":
                report = {"end": "checked", "code": 0, "findings": self.rules.check(script, name)}
            else:
                report = self.run(kind, script, name, context, shown, args, tools, session, code, ask, max_size)
            flush()
            return pack(report, max_size)
        except MemoryError:
            flush()
            return OUT_OF_MEMORY

    def enter(self, work):
        """Starts the guest in the directory of its files, and lets it import what is there."""
        import posix

        try:
            posix.chdir(work)
        except OSError:
            return  # there is no space for it
        sys.path.insert(0, work)
        self.work = work

    def run(self, kind, script, name, context, shown, args, tools, session, code, ask, max_size):
        if not self.kept:
            self.space = stage(self.builtins)
        self.kept = session
        space = self.space
        if tools:
            space["tools"] = make_tools(tools, _cordon.ask)
        if session and self.session is None:
            self.session = Session(space, self.compiled, self.rules is not None)
        if kind == "list":
            return self.session.list(False)
        if kind == "complete":
            return self.session.complete(script, False)
        if session:
            return self.session.step(script, name, context, shown, args, None, max_size)
        space["result"] = None
        how = sharing(self.compiled, give_code) if ask else self.compiled
        return run(script, name, context, shown, code, space, how, args)


boot()
