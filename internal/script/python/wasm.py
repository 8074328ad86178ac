"""Last part: the guest side of CPython on WebAssembly.

The host runs this program once. It reads what the host wants with the question
"boot", imports what scripts use most, warms up, and says what is to be called. The
host then keeps the memory as it is, and gives a copy of it to each guest:

    host                              here
    ────                              ────
    the program             ──▶
                            ◀──       ask(b"boot")
    marshal of a dict       ──▶       preload: names of modules
                                      language: None, or modules, builtins, code, source
                                      wasi: True to have no threads, though there are some
                            ◀──       serve(handle)
    ═══ the memory is copied ═══
    handle(frame)           ──▶       marshal of a list: see Image.handle
                            ◀──       ask(b"code" + marshal of the code), if wanted
                            ◀──       ask(JSON text), for each call of a tool
                            ◀──       marshal of the report: see internal/report

Up to "boot" and from "serve" to the guest's first line, all that the host hears is
ours. After that all of it may be the guest's.
"""
import gc
import marshal
import sys

import _cordon

# Made before memory can run out.
OUT_OF_MEMORY = raised("MemoryError")


def boot():
    config = marshal.loads(_cordon.ask(b"boot"))
    if sys.platform == "wasi" or config.get("wasi"):
        install_absences()
    if sys.platform == "wasi":
        import posix

        posix.chdir("/tmp")  # where scripts begin on every tier
    prepare(config["preload"])
    image = Image(config["language"])
    image.warm_up()
    image.randomness = Randomness()
    # What there is by now is no garbage, and would be looked through, and copied,
    # in the first collection of every guest.
    gc.collect()
    gc.freeze()
    flush()
    _cordon.serve(image.handle)


def refresh(randomness):
    """Makes anew what all copies of an image would have in common, and must not."""
    randomness.renew()
    logging = sys.modules.get("logging")
    if logging is not None:
        import time

        now = time.time_ns() if isinstance(logging._startTime, int) else time.time()  # since 3.13, and before
        logging._startTime = now


def give_code(data):
    """Tells the host what a script is compiled to; nothing if it is of no use."""
    _cordon.ask(b"code" + data)


class Image:
    """An interpreter that is ready for a guest. It serves scripts by the rules, or
    without any: the guards change the library."""

    def __init__(self, language):
        import linecache  # for the first script that fails
        import traceback

        self.rules, self.builtins, self.compiled = None, sys.modules["builtins"], compiled
        if language is not None:
            load_language(language.get("code") or b"", language["source"])
            self.rules = learn_language(language["modules"], language["builtins"], True)
            self.builtins, self.compiled = self.rules.builtins, self.rules.compiled

    def warm_up(self):
        """Goes the way of a guest, with one of ours: caches are filled, and what is
        imported at the first use is there."""
        script = "result = context['a'] + 1"
        pack(run(script, "<script>", {"a": 41}, [], None, stage(self.builtins), self.compiled, last=False), 4096)
        self.space, self.kept = stage(self.builtins), True

    def handle(self, frame):
        """Runs or checks a script, and gives the report. A copy of the image serves
        one guest; a session is one that comes again, and finds its globals."""
        kind, script, name, context, shown, restricted, tools, session, fresh, code, ask, most = marshal.loads(frame)
        if (restricted or kind == "check") != (self.rules is not None):
            raise RuntimeError("this image is for scripts %s rules" % ("by the" if self.rules else "without"))
        if fresh:
            refresh(self.randomness)
        try:
            if kind == "check":
                report = {"end": "checked", "code": 0, "findings": self.rules.check(script, name)}
            else:
                report = self.run(script, name, context, shown, tools, session, code, ask)
            flush()
            return pack(report, most)
        except MemoryError:
            flush()
            return OUT_OF_MEMORY

    def run(self, script, name, context, shown, tools, session, code, ask):
        if not self.kept:
            self.space = stage(self.builtins)
        self.kept = session
        space = self.space
        space["result"] = None
        if tools:
            space["tools"] = make_tools(tools, _cordon.ask)
        how = sharing(self.compiled, give_code) if ask else self.compiled
        return run(script, name, context, shown, code, space, how, last=not session)


boot()
