"""Tests the contract of create_sandbox().run_script and run_mod_hook."""

import asyncio
import inspect
import sys

import pytest

import cordon
from cordon import _sandbox, _scripts, create_sandbox, run_mod_hook


def test_defaults():
    defaults = [p.default for p in inspect.signature(create_sandbox).parameters.values()]
    assert defaults == [30, 256 * 1024 * 1024, 10]
    sandbox = create_sandbox()
    assert (sandbox.timeout, sandbox.memory_limit, sandbox.cpu_limit) == (30, 268435456, 10)
    assert isinstance(sandbox, cordon.SubprocessSandbox)


def test_ok():
    sandbox = create_sandbox()
    assert sandbox.run_script("result = {'sum': sum(context['numbers'])}", {"numbers": [1, 2, 3]}) == {
        "status": "ok", "result": {"sum": 6}}
    assert sandbox.run_script("pass") == {"status": "ok", "result": None}
    assert sandbox.run_script("result = context") == {"status": "ok", "result": {}}
    assert sandbox.run_script("") == {"status": "ok", "result": None}
    assert sandbox.run_script("print('noise'); print('{}'); result = 1") == {"status": "ok", "result": 1}
    for module in ("json", "re", "math", "datetime", "collections", "typing", "asyncio", "threading", "sqlite3"):
        assert sandbox.run_script(f"import {module}; result = 1")["status"] == "ok"


def test_errors():
    sandbox = create_sandbox(timeout=5)
    assert create_sandbox(timeout=0.3).run_script("while True: pass") == {"status": "error", "error": "timeout"}
    assert sandbox.run_script("result = object()") == {"status": "error", "error": "invalid output"}
    assert sandbox.run_script("result = {1, 2}") == {"status": "error", "error": "invalid output"}
    assert sandbox.run_script("raise ValueError('no')") == {"status": "error", "error": "no", "error_type": "ValueError"}
    syntax = sandbox.run_script("x = (")
    assert syntax["status"] == "error" and syntax["error_type"] == "SyntaxError"
    left = sandbox.run_script("import sys; sys.stderr.write('e' * 5000); sys.exit(3)")
    assert left == {"status": "error", "error": "e" * 1000, "exit_code": 3}
    silent = sandbox.run_script("import os; os._exit(4)")
    assert silent["exit_code"] == 4 and "4" in silent["error"]
    crashed = sandbox.run_script("import ctypes; ctypes.string_at(0)")
    assert crashed["status"] == "error" and crashed["error"] and crashed["exit_code"] is None


def test_script_that_cannot_run():
    sandbox = create_sandbox()
    nul = sandbox.run_script("x = '\0'")
    assert nul["status"] == "error" and "NUL" in nul["error"]
    assert sandbox.run_script("#" * (17 << 20))["status"] == "error"
    assert asyncio.run(sandbox.arun_script("\0"))["status"] == "error"


def test_number_that_is_too_long_for_this_python():
    """Older Pythons read it. In newer ones a guest must not cause an exception here."""
    digits = sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 0
    refused = 0 < digits < 5000
    answer = create_sandbox().run_script("result = 10 ** 5000")
    assert answer == ({"status": "error", "error": "invalid output"} if refused else {"status": "ok", "result": 10**5000})
    output = run_mod_hook("result['output'] = 10 ** 5000", {}, {})
    assert output["status"] == "error" and "cannot be read" in output["error"] if refused else output == 10**5000
    assert asyncio.run(cordon.arun_mod_hook("result['output'] = 10 ** 5000", {}, {})) == output


def test_limits():
    assert "CPU time" in create_sandbox(cpu_limit=1).run_script("while True: pass")["error"]
    assert create_sandbox(memory_limit=64 << 20).run_script("x = bytearray(10**9)")["status"] == "error"
    sandbox = create_sandbox()
    for forbidden in (
        "import socket; socket.socket()", "import os; os.fork()", "import subprocess; subprocess.run(['ls'])",
        "open('/etc/hosts', 'w')", "import os; os.mkdir('/x')", "import os; os.chmod('/', 0)", "import os; os.chroot('/tmp')",
    ):
        assert sandbox.run_script(forbidden)["status"] == "error", forbidden


def test_limits_can_be_changed_later():
    sandbox = create_sandbox()
    sandbox.timeout = 0.3
    assert sandbox.run_script("while True: pass") == {"status": "error", "error": "timeout"}
    sandbox.timeout, sandbox.memory_limit = 300, 1 << 20
    assert "memory limit of 1MiB" in sandbox.run_script("x = bytearray(9 << 20)")["error"]
    with pytest.raises(ValueError, match="timeout is 0"):
        create_sandbox(0, 0, 0)
    sandbox.timeout = -1
    with pytest.raises(ValueError, match="timeout is -1"):
        sandbox.run_script("pass")


def test_above_the_default_maxima():
    """The caller that makes a sandbox is its operator."""
    assert create_sandbox(timeout=120, memory_limit=2 << 30, cpu_limit=90).run_script("result = 1")["result"] == 1


@pytest.mark.parametrize("policy", ["walls: {require: [seatbelt]}\n", "python: /no/such/python3\n"])
def test_where_nothing_can_run_the_factory_says_why(monkeypatch, tmp_path, policy):
    (tmp_path / "policy.yaml").write_text(policy)
    monkeypatch.setenv("CORDON_POLICY", str(tmp_path / "policy.yaml"))
    monkeypatch.setattr(_sandbox, "_default", None)
    with pytest.raises(cordon.CordonError, match="seatbelt|/no/such/python3"):
        create_sandbox()


@pytest.mark.parametrize("timeout", [1, 120], ids=["within the maxima", "above them"])
def test_a_second_sandbox_is_not_tried_again(monkeypatch, sandbox, timeout):
    first = create_sandbox(timeout=timeout)
    monkeypatch.setattr((first._own or sandbox)._transport, "ask", lambda *_, **__: pytest.fail("a second trial"))
    create_sandbox(timeout=timeout)


def test_policy_of_another_operator_decides(monkeypatch, tmp_path, sandbox):
    policy = tmp_path / "policy.yaml"
    policy.write_text("maxima: {wall_time: 40s}\n")
    monkeypatch.setenv("CORDON_POLICY", str(policy))
    assert create_sandbox(timeout=120)._own is None
    assert _scripts._sandbox_for(120) is sandbox


def test_async():
    async def many():
        sandbox = create_sandbox()
        return await asyncio.gather(*(sandbox.arun_script("result = context['n']", {"n": n}) for n in range(20)))

    assert [a["result"] for a in asyncio.run(many())] == list(range(20))


# Hooks of mods


def test_hook_output():
    script = "import math\nresult['output'] = math.floor(game_state['gold'] * 1.5) + mod_config.get('bonus', 0)"
    assert run_mod_hook(script, {"gold": 20}, {"bonus": 12}) == 42
    assert run_mod_hook(script, {"gold": 2}, {}) == 3
    assert run_mod_hook("x = 1", {}, {}) is None
    assert run_mod_hook("", {}, {}) is None
    assert run_mod_hook("result['output'] = [math.pi > 3, random.random() < 1]", {}, {}) == [True, True]
    for module in ("math", "random", "json", "re", "collections", "datetime", "itertools", "functools"):
        assert run_mod_hook(f"import {module}\nresult['output'] = 1", {}, {}) == 1


@pytest.mark.parametrize("script", ["x = (", "import os", "import socket", "open('x')", "().__class__", "eval('1')", "import statistics"])
def test_hook_that_does_not_compile(script):
    with pytest.raises(ValueError) as caught:
        run_mod_hook(script, {}, {})
    assert "1:" in str(caught.value)


def test_hook_that_raises():
    assert run_mod_hook("game_state['gold']", {}, {}) == {"status": "error", "error": "'gold'"}
    assert run_mod_hook("1 / 0", {}, {}) == {"status": "error", "error": "division by zero"}


def test_hook_that_takes_too_much_memory():
    """MemoryError has no message, so the error names the limit."""
    assert "memory limit" in run_mod_hook("x = [0] * 10 ** 10", {}, {})["error"]


def test_hook_takes_script_source():
    for name in ("script", "script_source"):
        assert run_mod_hook(**{name: "result['output'] = 1"}, game_state={}, mod_config={}) == 1
        assert asyncio.run(cordon.arun_mod_hook(**{name: "result['output'] = 1"}, game_state={}, mod_config={})) == 1
    with pytest.raises(TypeError, match="script"):
        run_mod_hook(game_state={}, mod_config={})
    assert list(inspect.signature(run_mod_hook).parameters)[:4] == ["script", "game_state", "mod_config", "timeout_seconds"]


def test_hook_cpu_time_is_as_long_as_its_timeout():
    """A hook's default CPU time is 5 s."""
    assert dict(_scripts._hook("pass", 8).limits) == {"wall_time": "8000000us", "cpu_time": "8000000us"}
    assert run_mod_hook("result['output'] = 1", {}, {}, timeout_seconds=8) == 1
    assert run_mod_hook("result['output'] = 1", {}, {}, timeout_seconds=300) == 1  # above the default maxima


def test_hook_that_hangs():
    for _ in range(2):
        with pytest.raises(TimeoutError, match="0.3 s"):
            run_mod_hook("while True: pass", {}, {}, timeout_seconds=0.3)
    assert run_mod_hook("result['output'] = 1", {}, {}, 0.3) == 1


def test_hook_is_compiled_once(sandbox):
    script = "result['output'] = game_state['n']"
    run_mod_hook(script, {"n": 1}, {})
    child = sandbox._transport.child()
    before, number = len(child.hooks), next(child._numbers)
    for n in range(100):
        assert run_mod_hook(script, {"n": n}, {}) == n
    assert len(child.hooks) == before and next(child._numbers) == number + 101  # one message each


def test_trust_of_hooks(sandbox):
    """The child belongs to this program, so run_mod_hook uses platform by default; trust="user"
    gives each call its own process."""
    script = "result['output'] = game_state"
    assert _scripts._hook(script, 5.0).trust == "platform"
    assert _scripts._hook(script, 5.0, "user").trust == "user"
    assert [run_mod_hook(script, n, {}, trust="user") for n in range(3)] == [0, 1, 2]
    assert asyncio.run(cordon.arun_mod_hook(script, 7, {}, trust="user")) == 7
    assert sandbox.hook(script).call(1).enforcement.tier == "process"
    assert sandbox.hook(script, trust="user").call(1).enforcement.tier == "process"
    assert sandbox.hook(script, trust="platform").call(1).enforcement.tier == "hook"


def test_hook_calls_keep_no_state():
    script = "game_state.append(1)\nresult['output'] = len(game_state)"
    state = []
    assert [run_mod_hook(script, state, {}) for _ in range(3)] == [1, 1, 1] and state == []


def test_hook_async():
    async def many():
        return await asyncio.gather(*(cordon.arun_mod_hook("result['output'] = game_state", n, {}) for n in range(100)))

    assert asyncio.run(many()) == list(range(100))
