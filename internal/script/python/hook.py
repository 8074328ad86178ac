"""A worker that serves one hook, call after call.

Each call runs in new globals. The language rules (internal/language) refuse whatever
would leave something behind in the library. Garbage of a call is collected before the
answer is sent, so that no finalizer of one call runs during the next.
"""
import gc
import marshal
import sys


class Collector:
    """Collects the garbage of a call. All of it is young, unless the collector ran on its
    own meanwhile. Collecting only the young generation takes a tenth of the time and keeps
    the interpreter's free lists."""

    # Thresholds of the oldest generation: when we collect it, and when the interpreter
    # does.
    OURS, ITS_OWN = 64, 100
    # How often finalizers may create new garbage.
    ROUNDS = 100

    def __init__(self, builtins):
        self.builtins = builtins
        gc.collect()
        gc.freeze()
        gc.set_threshold(700, 10, self.ITS_OWN)
        self.expected = 0
        # 3.14 counts differently.
        self.generations = sys.version_info < (3, 14)

    def collect(self, space):
        """Empties the globals of a call and collects. Returns False if that did not end:
        finalizers can create other objects with finalizers, as globals or as garbage."""
        self.empty(space)
        if self.generations and gc.get_count()[2] == self.expected < self.OURS:
            gc.collect(1)
            self.expected += 1
        else:
            gc.collect()
            self.expected = 0
        for _ in range(self.ROUNDS):
            # Objects with finalizers are left to the collector. What finalizers
            # create is in the youngest generation, and a finalizer runs only once.
            if len(space) == 1 and not gc.get_objects(0):
                return True
            self.empty(space)
            gc.collect()
            self.expected = 0
        return False

    def empty(self, space):
        space.clear()
        space["__builtins__"] = self.builtins  # 3.9 looks there, also for finalizers


def names_in(code):
    """Returns all names that a script uses, including its functions and classes."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, type(code)):
            names |= names_in(constant)
    return names


def serve_hook(rules, script, name, max_answer, randomness, modules):
    """Compiles the hook and runs it whenever the Runner calls. max_answer is the largest
    answer in bytes; modules watches imported modules, or is None."""
    try:
        code = rules.compiled(script, name)
    except BaseException as error:
        report = {"end": "refused", "code": 1, "findings": LANGUAGE["findings_of"](error)}
        send(frame(b"D", marshal.dumps(report, 2)))
        return
    names = names_in(code)
    given = {module: rules.facade(module) for module in ("math", "random") if module in names and module in rules.modules}
    given["__file__"] = name
    # A script that does not name the module cannot reach what an earlier call drew, and
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
        if modules is not None:
            report = modules.report_with(report)
        words = pack(report, max_answer)
        report = None
        arguments.clear()
        # Finalizers run now, under the rules; only then can the script be forgotten.
        collected = garbage.collect(space)
        if not collected:
            words = raised("RuntimeError", "the finalizers of the call do not end", number=number)
        again = rules.finished() and collected
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
            pass  # until it is left, it keeps alive what did not fit
        if words is None:
            space.clear()
            words = frame(b"D", raised("MemoryError", number=number))
        send(words)
        if renew is not None:
            renew()  # after the answer, which does not wait: a call that saw the state could predict the next numbers


def call_hook(code, space, function, arguments):
    """Calls a function of the script, or runs the whole script, which leaves its answer in
    result["output"]."""
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
