"""Mod hooks the other way: RestrictedPython, in the process of the game.

A request is a line of JSON. The first is [script, state, config]; each further
one is [how many calls, whether they share the code], and is answered with
[seconds of each call, the last output].
"""
import json
import signal
import sys
import time

sys.path.append(sys.argv[1])

from RestrictedPython import compile_restricted_exec
from RestrictedPython.Eval import default_guarded_getitem
from RestrictedPython.Guards import safe_builtins, safer_getattr

MODULES = {
    name: __import__(name)
    for name in ("math", "random", "json", "re", "collections", "datetime", "itertools", "functools")
}


def import_module(name, *_):
    if name not in MODULES:
        raise ImportError("a mod cannot import " + name)
    return MODULES[name]


def compiled(script):
    done = compile_restricted_exec(script, "<mod>")
    if done.errors:
        raise ValueError(done.errors)
    return done.code


def surroundings(state, config):
    """The globals of one call: what compiled code asks before it touches
    anything, and what the game shows its mods."""
    return {
        "__builtins__": dict(safe_builtins, __import__=import_module),
        "_getattr_": safer_getattr,
        "_getitem_": default_guarded_getitem,
        "_getiter_": iter,
        "_write_": lambda thing: thing,
        "game_state": state,
        "mod_config": config,
        "math": MODULES["math"],
        "random": MODULES["random"],
        "result": {},
    }


def call(script, code, state, config, seconds=5):
    """Calls a mod; compiles it if there is no code of it."""
    if code is None:
        code = compiled(script)
    space = surroundings(state, config)

    def ring(*_):
        raise TimeoutError("the mod took more than %d s" % seconds)

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        exec(code, space)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return space["result"].get("output")


def main():
    script, state, config = json.loads(sys.stdin.readline())
    shared = compiled(script)
    for line in sys.stdin:
        count, sharing = json.loads(line)
        seconds = []
        for _ in range(count):
            begin = time.perf_counter()
            output = call(script, shared if sharing else None, state, config)
            seconds.append(time.perf_counter() - begin)
        print(json.dumps([seconds, output], separators=(",", ":")), flush=True)


main()
