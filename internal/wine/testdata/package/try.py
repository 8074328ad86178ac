"""Tries the Python package on Windows. Usage: try.py DIRECTORY, where the package is.

It prints a line for each part that works, and ends with an exception otherwise.
"""
import asyncio
import os
import sys
import tempfile
import textwrap
import threading
import time

sys.path.insert(0, sys.argv[1])

import cordon
from cordon import _sandbox

# Wine lacks these walls, so each policy has to prefer them.
ordinary = _sandbox._policy_text


def without_walls(policy):
    return ordinary({**(policy or {}), "walls": {"prefer": ["filesystem", "network", "rlimit"]}})


_sandbox._policy_text = without_walls


def same(got, want):
    assert got == want, "%r instead of %r" % (got, want)


def temporary_files():
    return {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("cordon-")}


FIRST = temporary_files()


def child_of(sandbox):
    return sandbox._transport.child()


def until(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.01)


def run():
    result = cordon.run("print('hi'); result = [context['a'], input()]", context={"a": "\u00e4"}, stdin="there\n")
    same((result.value, result.stdout, result.exit_code), (["\u00e4", "there"], "hi\r\n", 0))
    same(cordon.run("1 / 0").outcome, "raised")
    same(cordon.run("while True: pass", timeout=1).outcome, "timed_out")
    same(cordon.run("result = 'x' * context", context=3_000_000).value, "x" * 3_000_000)
    same(cordon.run("result = len(context)", context="x" * 3_000_000).value, 3_000_000)
    same(_sandbox.default().check("import os")[0].line, 1)


def execute():
    done = cordon.execute("x = 42\nprint(x)", inspect_variables=["x"])
    same((done["stdout"], done["variables"], done["return_code"]), ("42\r\n", {"x": 42}, 0))
    same(cordon.execute("import os")["return_code"], -1)


def run_mod_hook():
    for n in range(20):
        same(cordon.run_mod_hook("result['output'] = game_state['gold'] * mod_config['rate']", {"gold": n}, {"rate": 2}), 2 * n)
    same(cordon.run_mod_hook("result['output'] = 1", {}, {}, trust="user"), 1)
    same(cordon.hook("def add(a, b): return a + b").call_function("add", 40, 2).value, 42)


def create_sandbox():
    same(cordon.create_sandbox().run_script("result = context['n'] * 2", {"n": 21}), {"status": "ok", "result": 42})


def functions():
    same(cordon.SubprocessSandboxBackend().execute("wrap", textwrap.wrap, {"text": "to be or not", "width": 5}), ["to be", "or", "not"])


def threads():
    wrong = []

    def work(n):
        try:
            for i in range(3):
                same(cordon.run("result = 2 * context", context=n + i).value, 2 * (n + i))
                same(cordon.run_mod_hook("result['output'] = game_state", n, {}), n)
        except BaseException as problem:
            wrong.append(problem)

    all_threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    same(wrong, [])


def tasks():
    async def main():
        sandbox = _sandbox.default()
        values = await asyncio.gather(*(sandbox.arun("result = 2 * context", context=n) for n in range(6)))
        same([v.value for v in values], [0, 2, 4, 6, 8, 10])
        try:
            await asyncio.wait_for(sandbox.arun("while True: pass", timeout=50), 1)
        except asyncio.TimeoutError:
            pass
        else:
            raise AssertionError("it ended")
        same((await sandbox.arun("result = 1")).value, 1)

    asyncio.run(main())


def a_killed_child():
    with cordon.Sandbox(policy={"limits": {"scratch": "3MiB"}}) as sandbox:
        same(sandbox.run("result = 1").value, 1)
        child, ends = child_of(sandbox), []

        def work():
            try:
                sandbox.run("while True: pass", timeout=50)
            except cordon.ConnectionLost as problem:
                ends.append(problem)

        thread = threading.Thread(target=work)
        thread.start()
        until(lambda: child._reader)  # it waits for the answer
        child._process.kill()
        thread.join()
        same(len(ends), 1)
        same(sandbox.run("result = 2").value, 2)
        assert child_of(sandbox) is not child


def closing():
    sandbox = cordon.Sandbox(policy={"limits": {"scratch": "4MiB"}})
    same(sandbox.run("result = 1").value, 1)
    child, ends = child_of(sandbox), []

    def work():
        try:
            sandbox.run("while True: pass", timeout=50)
        except cordon.Closed as problem:
            ends.append(problem)

    thread = threading.Thread(target=work)
    thread.start()
    until(lambda: child._pending)
    sandbox.close()
    thread.join()
    same((len(ends), child._process.returncode), (1, 0))


def errors():
    for binary, kind in (("C:\\no\\such.exe", cordon.NotFound), (__file__, cordon.NotFound)):
        try:
            cordon.Sandbox(binary=binary).run("pass")
        except kind:
            continue
        raise AssertionError("%s was started" % binary)
    with cordon.Sandbox(policy={"limits": {"no_such": 1}}) as sandbox:
        try:
            sandbox.run("pass")
        except cordon.InvalidRequest as problem:
            assert "no_such" in str(problem), problem
        else:
            raise AssertionError("the policy is ignored")


def nothing_left():
    for transport in list(cordon._transport._instances):
        transport.close()
    same(temporary_files() - FIRST, set())


for part in (run, execute, run_mod_hook, create_sandbox, functions, threads, tasks, closing, errors, nothing_left, a_killed_child):
    began = time.monotonic()
    part()
    print("works:", part.__name__, round(time.monotonic() - began, 1), flush=True)
