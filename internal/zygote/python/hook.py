"""Third part: a worker that serves one hook, call after call.

Each call runs in new globals. What it could leave behind in the library is
refused by the language rules (internal/language); what it left to the garbage
collector is collected before it is answered, so that no finalizer of one call
runs during the next.
"""
import gc
import marshal


def serve_hook(rules, script, name):
    """Compiles the hook, and runs it as often as the Runner calls."""
    try:
        code = rules.compiled(script, name)
    except BaseException as error:
        report = {"end": "refused", "code": 1, "findings": LANGUAGE["findings_of"](error)}
        send(frame(b"D", marshal.dumps(report, 2)))
        return
    given = {module: rules.facade(module) for module in ("math", "random") if module in rules.modules}
    gc.collect()
    gc.freeze()
    # Whether the next call may come here too.
    send(frame(b"D", marshal.dumps({"end": "opened", "code": 0, "reusable": rules.traceless}, 2)))
    while True:
        number, function, *arguments = receive()[1]
        space = stage(rules.builtins)
        space["__file__"] = name
        space.update(given)
        try:
            report = call_hook(code, space, function, arguments)
        except BaseException as error:
            report = {"end": "raised", "code": 1, "exception": describe(error, name, script)}
            error = None
        try:
            report["number"] = number
            words = pack(report)
            report = None
            space.clear()
            rules.finished()
            gc.collect()
            flush()
            words = frame(b"D", words)
        except MemoryError:
            words = OUT_OF_MEMORY
        send(words)


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
        if not isinstance(result, dict):
            return {"end": "invalid", "code": 1, "message": 'result must stay a dict: set result["output"]'}
        return {"end": "ok", "code": 0, "result": dict.get(result, "output")}
    except SystemExit as leaving:
        return {"end": "exit", "code": exit_status(leaving)}
