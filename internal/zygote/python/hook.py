"""Fourth part: a worker that serves one hook, call after call.

Each call runs in new globals. What it could leave behind in the library is
refused by the language rules (internal/language); what it left to the garbage
collector is collected before it is answered, so that no finalizer of one call
runs during the next.
"""
import gc
import marshal
import sys


class Collector:
    """Collects what a call has left. All of that is young, unless the collector
    came by itself meanwhile; to look at the young alone takes a tenth of the
    time, and leaves the interpreter its free lists."""

    # Of the oldest generation: what it has seen when we look at it, and when it
    # is looked at without us.
    OURS, ITS_OWN = 64, 100
    # How often finalizers may leave something again.
    ROUNDS = 100

    def __init__(self, builtins):
        self.builtins = builtins
        gc.collect()
        gc.freeze()
        gc.set_threshold(700, 10, self.ITS_OWN)
        self.expected = 0
        # 3.14 counts otherwise.
        self.generations = sys.version_info < (3, 14)

    def collect(self, space):
        """Empties the globals of a call, and collects. Gives whether that came to
        an end: finalizers can make others, and leave them there or as garbage."""
        self.empty(space)
        if self.generations and gc.get_count()[2] == self.expected < self.OURS:
            gc.collect(1)
            self.expected += 1
        else:
            gc.collect()
            self.expected = 0
        for _ in range(self.ROUNDS):
            # Whatever has a finalizer is the collector's. What finalizers made is
            # the youngest there is, and theirs do not run again.
            if len(space) == 1 and not gc.get_objects(0):
                return True
            self.empty(space)
            gc.collect()
            self.expected = 0
        return False

    def empty(self, space):
        space.clear()
        space["__builtins__"] = self.builtins  # 3.9 looks there, for finalizers too


def names_in(code):
    """All names that a script uses, those of its functions and classes included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            names |= names_in(constant)
    return names


def serve_hook(rules, script, name, most, randomness):
    """Compiles the hook, and runs it as often as the Runner calls. Most is how
    many bytes an answer may take."""
    try:
        code = rules.compiled(script, name)
    except BaseException as error:
        report = {"end": "refused", "code": 1, "findings": LANGUAGE["findings_of"](error)}
        send(frame(b"D", marshal.dumps(report, 2)))
        return
    names = names_in(code)
    given = {module: rules.facade(module) for module in ("math", "random") if module in names and module in rules.modules}
    given["__file__"] = name
    # A script that does not name the module has no way to what a call before it drew, and
    # need not wait for new seeds.
    renew = (randomness or Randomness()).renew if "random" in names else None
    garbage = Collector(rules.builtins)

    def answer(space, number, function, arguments):
        try:
            report = call_hook(code, space, function, arguments)
        except BaseException as error:
            report = {"end": "raised", "code": 1, "exception": describe(error, name, script)}
            error = None
        report["number"] = number
        words = pack(report, most)
        report = None
        arguments.clear()
        # Finalizers run now, by the rules; only then can the script be forgotten.
        settled = garbage.collect(space)
        if not settled:
            words = raised("RuntimeError", "the finalizers of the call do not come to an end", number=number)
        again = rules.finished() and settled
        flush()
        return frame(b"D" if again else b"L", words)

    send(frame(b"D", marshal.dumps({"end": "opened", "code": 0}, 2)))
    while True:
        number, function, *arguments = receive()[1]
        space = stage(rules.builtins)
        space.update(given)
        words = None
        try:
            words = answer(space, number, function, arguments)
        except MemoryError:
            pass  # which keeps alive, until it is left, what did not fit
        if words is None:
            space.clear()
            words = frame(b"D", raised("MemoryError", number=number))
        send(words)
        if renew is not None:
            renew()  # off the caller's clock: a state that a call has seen tells what comes next


def call_hook(code, space, function, arguments):
    """Calls a function of the script; or the script as a whole, which leaves
    its answer in result["output"]."""
    try:
        if function is not None:
            exec(code, space)
            if not callable(space.get(function)):
                raise NameError("the hook defines no function %s" % function)
            return {"end": "ok", "code": 0, "result": space[function](*arguments)}
        space["game_state"], space["mod_config"] = arguments
        space["result"] = {}
        exec(code, space)
        result = space.get("result")
        if not is_kind(result, dict):
            return {"end": "invalid", "code": 1, "message": 'result must stay a dict: set result["output"]'}
        return {"end": "ok", "code": 0, "result": dict.get(result, "output")}
    except SystemExit as leaving:
        return {"end": "exit", "code": exit_status(leaving)}
