"""Tests the contract of execute(), py-sandbox and py-sandbox-mcp."""

import asyncio
import inspect
import json
import os
import subprocess
import sys

import pytest

import cordon
from cordon import _cli, _execute, _sandbox, aexecute, execute

# The keys of the contract, and those that we add to report what was cut or missing.
ADDED = {"stdout_truncated": False, "stderr_truncated": False, "missing_variables": []}
KEYS = {"stdout", "stderr", "return_code", "variables", "error", *ADDED}


def test_signature():
    parameters = inspect.signature(execute).parameters
    assert list(parameters)[:5] == ["code", "timeout", "memory", "output_limit", "inspect_variables"]
    assert [parameters[name].default for name in list(parameters)[1:5]] == [30, 256, 65536, None]


def test_examples():
    assert execute("import math; print(math.sqrt(16))") == {
        "stdout": "4.0\n", "stderr": "", "return_code": 0, "variables": {}, "error": None, **ADDED,
    }
    assert execute("x = 42", inspect_variables=["x"])["variables"] == {"x": 42}
    refused = execute("import os")
    assert refused["error"].startswith("Import of module 'os' is not allowed") and refused["return_code"] == -1
    assert set(refused) == KEYS == set(cordon.ExecutionResult.__annotations__)


@pytest.mark.parametrize("module", (
    "math cmath decimal fractions statistics json re string textwrap unicodedata difflib datetime calendar collections "
    "itertools functools operator enum dataclasses typing copy hashlib base64 random uuid struct pprint").split())
def test_allowed_modules(module):
    assert execute(f"import {module}; print({module} is not None)")["stdout"] == "True\n"


@pytest.mark.parametrize("code", [
    "import sys", "import subprocess", "import socket", "import ctypes", "import pickle", "from os import path", "from . import x",
    "exec('1')", "eval('1')", "compile('1', '', 'exec')", "open('x')", "__import__('os')", "getattr(1, 'real')",
    "().__class__", "(1).__class__.__subclasses__()", "(lambda: 0).__globals__", "__builtins__", "type('A', (), {})",
    "hasattr(1, '__class__')",
])
def test_refused(code):
    answer = execute("print('ran')\n" + code)
    assert answer["return_code"] != 0 and answer["error"], answer
    if answer["return_code"] == -1:
        assert answer["stdout"] == ""


def test_failures():
    raised = execute("print(1)\n1 / 0")
    assert raised["return_code"] == 1 and raised["stdout"] == "1\n" and "ZeroDivisionError" in raised["error"]
    assert "Traceback" in raised["stderr"]
    assert execute("x = (")["return_code"] in (1, -1) and "SyntaxError" in execute("x = (")["error"]
    timed = execute("while True: pass", timeout=0.3)
    assert timed["return_code"] == -1 and timed["error"] == "timed out: wall time limit of 300ms reached"
    assert "memory limit" in execute("x = [0] * 10**9", memory=64)["error"]
    cut = execute("print('x' * 100000)", output_limit=1000)
    assert len(cut["stdout"]) == 1000 and cut["return_code"] == 0
    assert execute("x = '\0'")["return_code"] == -1
    assert execute("result = 'x' * (20 << 20)")["error"] is None
    assert "result limit of" in execute("x = ['x' * (20 << 20)]", inspect_variables=["x"])["error"]


def test_cpu_time_is_as_long_as_the_timeout():
    """The default policy's CPU time is only a third of execute()'s timeout."""
    seen = execute("import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[0])", restricted=False)
    assert int(seen["stdout"]) >= 60


def test_policy_of_another_operator_decides(monkeypatch):
    monkeypatch.setenv("CORDON_POLICY", "strict")
    assert _execute._own.sandbox() is _sandbox.default()


def test_tiny_limits_do_not_round_to_zero():
    """cordon reads zero as the default."""
    assert execute("while True: pass", timeout=1e-9)["error"] == "timed out: wall time limit of 1µs reached"
    assert "too little" in execute("x = 1", memory=1e-9)["error"]
    with pytest.raises(ValueError, match="output_limit is 0.5"):
        execute("x = 1", output_limit=0.5)


@pytest.mark.parametrize("value", ["object()", "{1, 2}", "float('nan')", "10 ** 5000", "'x' * (80 << 20)"])
def test_result_is_an_ordinary_variable(value):
    """execute() does not use `result`, so any value is fine."""
    answer = execute(f"result = {value}\nprint('done')")
    assert answer == {"stdout": "done\n", "stderr": "", "return_code": 0, "variables": {}, "error": None, **ADDED}


def test_empty_code_runs():
    assert execute("") == execute("# nothing") == {"stdout": "", "stderr": "", "return_code": 0, "variables": {}, "error": None, **ADDED}


def test_variables():
    answer = execute("x = [1, {'a': None}]; y = {1, 2}; z = 1 + 2j", inspect_variables=["x", "y", "z", "missing"])
    assert answer["variables"] == {"x": [1, {"a": None}], "y": "{1, 2}", "z": "(1+2j)"}
    assert execute("x = 1", inspect_variables="x")["variables"] == {"x": 1}
    assert list(execute("a = b = c = 1", inspect_variables=["b", "c", "a"])["variables"]) == ["b", "c", "a"]
    large = execute("x = 10 ** 5000; y = 1", inspect_variables=["x", "y"])["variables"]
    assert large["y"] == 1 and large["x"] in (10**5000, "1" + "0" * 5000)  # newer Pythons do not read it
    assert json.dumps(answer)


@pytest.mark.parametrize("name, most", [("timeout", 60), ("memory", 1024), ("output_limit", 262144)])
def test_maxima(name, most):
    assert execute("x = 1", **{name: most})["return_code"] == 0
    for wrong in (most + 1, 0, -1):
        with pytest.raises(ValueError, match=f"{name} is {wrong}"):
            execute("x = 1", **{name: wrong})
    with pytest.raises(TypeError, match=name):
        execute("x = 1", **{name: "much"})


def test_without_the_rules_the_walls_stand():
    assert execute("import os; print(os.name)", restricted=False)["stdout"] == "posix\n"
    assert execute("import os; os.fork()", restricted=False)["return_code"] == 1


def test_async():
    async def many():
        return await asyncio.gather(*(aexecute(f"print({n})") for n in range(50)))

    assert [a["stdout"] for a in asyncio.run(many())] == [f"{n}\n" for n in range(50)]


def run(capfd, *arguments):
    code = _cli.py_sandbox(list(arguments))
    out, err = capfd.readouterr()
    return code, out, err


def test_command(capfd, tmp_path):
    assert run(capfd, "print('hello world')") == (0, "hello world\n", "")
    script = tmp_path / "script.py"
    script.write_text("print('from a file')")
    assert run(capfd, "-f", str(script)) == (0, "from a file\n", "")
    script.write_bytes(b"\xef\xbb\xbfprint('with a mark')")
    assert run(capfd, "-f", str(script)) == (0, "with a mark\n", "")
    assert run(capfd, "-t", "10", "-m", "128", "import math; print(math.pi)")[1].startswith("3.14")
    assert run(capfd, "-v", "x", "-v", "y", "x = 42; y = [1, 2, 3]") == (0, "x = 42\ny = [1, 2, 3]\n", "")
    assert run(capfd, "-v", "x", "x = 42; print('no end', end='')")[1] == "no end\nx = 42\n"
    code, out, err = run(capfd, "import os")
    assert code == 1 and out == "" and err.startswith("py-sandbox: Import of module 'os' is not allowed")
    assert run(capfd, "-t", "61", "pass")[0] == 2
    assert run(capfd, "-o", "10", "print('x' * 100)")[1] == "x" * 10
    code, _, err = run(capfd, "-t", "0.2", "while True: pass")
    assert code == 1 and "wall time limit" in err
    code, _, err = run(capfd, "1/0")
    assert code == 1 and "ZeroDivisionError" in err
    with pytest.raises(SystemExit):
        run(capfd)
    with pytest.raises(SystemExit):
        run(capfd, "pass", "-f", "x")
    assert run(capfd, "-f", "/no/such/file")[0] == 2


def test_command_on_a_terminal_with_an_ascii_encoding():
    done = subprocess.run(
        [sys.executable, "-c", "from cordon._cli import main_py_sandbox as m; m()", "-v", "x", "x = 'é'; print(x)"],
        capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout) == (0, "\\xe9\nx = '\\xe9'\n"), done.stderr


def mcp(calls, *arguments, **environment):
    """Returns what a real client gets: the structured answers to its calls of run_python."""
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    messages = [hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    for n, given in enumerate(calls, 1):
        messages.append({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "run_python", "arguments": given}})
    process = subprocess.Popen(
        [sys.executable, "-c", "from cordon._cli import main_py_sandbox_mcp as m; m()", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    answers = {}
    while len(answers) <= len(calls):
        line = process.stdout.readline()
        assert line, process.stderr.read()
        answer = json.loads(line)
        if "id" in answer:
            answers[answer["id"]] = answer
    process.stdin.close()
    process.wait(20)
    return [answers[n]["result"].get("structuredContent", answers[n]["result"]) for n in range(1, len(calls) + 1)]


def test_mcp_is_cordon_mcp():
    limits = {"timeout": 10, "memory": 128, "output_limit": 1000, "inspect_variables": ["x"]}
    shown, refused = mcp([{"code": "x = 42; print(6 * 7)", **limits}, {"code": "import os"}])
    assert shown["stdout"] == "42\n" and shown["return_code"] == 0 and shown["variables"] == {"x": 42}
    assert refused["return_code"] == -1 and "import of module 'os' is not allowed" in json.dumps(refused)


@pytest.mark.parametrize("how", [{"arguments": ["--policy", "default"]}, {"arguments": ["--policy=default"]}, {"CORDON_POLICY": "default"}])
def test_mcp_keeps_a_named_policy(how):
    arguments = how.pop("arguments", [])
    assert mcp([{"code": "import os; print(os.name)"}], *arguments, **how)[0]["stdout"] == "posix\n"


def test_public_names_exist():
    for name in ("execute", "create_sandbox", "run_mod_hook", "SubprocessSandboxBackend", "SandboxConfig"):
        assert name in cordon.__all__
