"""Tests the main API."""

import asyncio
import copy
import inspect
import os
import pickle
import subprocess
import sys
import sysconfig

import pytest
from conftest import lacks

import cordon
from cordon import _options


def test_value_output_and_context():
    result = cordon.run("print('hi'); result = [context['a'], input()]", context={"a": 1}, stdin="there\n")
    assert result.ok and result.status == "ok" and result.outcome == "succeeded"
    assert result.value == [1, "there"] and result.stdout == "hi\n" and result.exit_code == 0
    assert result.unwrap() == [1, "there"]
    assert result.usage.wall_time_ms > 0 and result.usage.memory_bytes > 1 << 20
    assert result.enforcement.tier == "process"
    assert result.enforcement.holds("seccomp") and result.enforcement.holds("landlock", "mount")


def loaded_by(code, names):
    """Returns which of these modules a program has loaded in the end."""
    source = os.path.dirname(os.path.dirname(cordon.__file__))
    code = "import sys; sys.path.insert(0, %r); %s; print([name for name in %r if name in sys.modules])" % (source, code, names)
    return subprocess.check_output([sys.executable, "-I", "-S", "-c", code], text=True)


def test_import_is_quick():
    """Importing the package loads nothing that only some programs need."""
    assert loaded_by("import cordon", ["asyncio", "dataclasses", "json", "re", "subprocess", "threading", "typing"]) == "[]\n"


def test_first_run_is_quick():
    """Before cordon starts, nothing is imported that takes long; and later, nothing that only
    some programs need."""
    slow = ["asyncio", "concurrent.futures", "dataclasses", "http.client", "inspect", "logging", "pickle", "ssl", "subprocess", "tempfile", "typing"]
    assert loaded_by("import cordon; cordon.Sandbox()._transport.child()", [*slow, "json", "re", "threading"]) == "[]\n"
    assert loaded_by("import cordon; cordon.run('pass', check=True)", slow) == "[]\n"


def test_names_are_there_although_imported_late():
    assert {name for name in cordon.__all__ if getattr(cordon, name, None) is None} == set()
    with pytest.raises(AttributeError, match="no attribute 'Sandbocks'"):
        cordon.Sandbocks


def test_failure_is_a_result_and_an_exception_on_request():
    result = cordon.run("x = 1\nraise KeyError('gold')")
    assert not result.ok and result.outcome == "raised" and result.error_type == "exception"
    assert result.exception.type == "KeyError" and result.exception.line == 2 and "Traceback" in result.exception.traceback
    with pytest.raises(cordon.SandboxError) as caught:
        result.unwrap()
    assert caught.value.result is result and "KeyError" in str(caught.value)
    with pytest.raises(cordon.SandboxError):
        cordon.run("1/0", check=True)


def test_blocked_actions_are_reported():
    result = cordon.run("import socket\nsocket.socket()")
    assert [(v.wall, v.op, v.line) for v in result.violations] == [("seccomp", "socket", 2)]
    result = cordon.run("open('/etc/shadow')")
    assert result.exception.type == "FileNotFoundError"
    result = cordon.run("import os\nos.fork()")
    assert not result.ok


def test_modules_are_named(tmp_path):
    package = tmp_path / "careless.py"
    package.write_text("def read(path):\n    return open(path).read()\n")
    tmp_path.chmod(0o755)
    (tmp_path / "secret").write_text("x")
    use = f"import sys; sys.path.append({str(tmp_path)!r})\nimport careless\n"
    grants = {"read": [str(tmp_path)]}
    with cordon.Sandbox(policy=grants) as sandbox:
        result = sandbox.run(use + "careless.read('/etc/shadow')")
        assert [v.module for v in result.violations] == ["careless"] and result.modules == []
    with cordon.Sandbox(policy={**grants, "module_rules": {"*": {"read": []}}}) as sandbox:
        result = sandbox.run(use + f"open('/tmp/x', 'w').close()\ncareless.read('/tmp/x')\ncareless.read({str(tmp_path / 'secret')!r})")
        assert [(v.wall, v.module, v.claimed, v.line) for v in result.violations] == [("language", "careless", True, 5)]
        assert result.modules == [cordon.ModuleUse("careless", ["/tmp/x"])]
        assert result.enforcement.walls["language"].detail == "module rules"


def test_limits():
    assert cordon.run("while True: pass", timeout=0.2).outcome == "timed_out"
    assert cordon.run("while True: pass", timeout="200ms").error == "timed out: wall time limit of 200ms reached"
    assert cordon.run("x = bytearray(10**9)", memory="64MiB").outcome == "out_of_memory"
    assert cordon.run("while True: pass", cpu_time=0.2).outcome == "out_of_cpu"
    cut = cordon.run("print('x' * 5000)", output=1000)
    assert cut.stdout_truncated and len(cut.stdout) == 1000
    assert cordon.run("while True: pass", limits={"wall_time": "100ms"}).outcome == "timed_out"
    with pytest.raises(cordon.InvalidRequest, match="above the policy's maximum of 1m"):
        cordon.run("pass", timeout=3600)
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="timeout"):
            cordon.run("pass", timeout=wrong)
    with pytest.raises(TypeError, match="memory"):
        cordon.run("pass", memory=1.5)


def test_variables_and_rules():
    result = cordon.run("x = 42; y = object()", variables=["x", "y", "z"])
    assert result.variables["x"] == 42 and result.variables["y"]["$type"] == "object" and "z" not in result.variables
    refused = cordon.run("import os", restricted=True)
    assert refused.outcome == "refused" and refused.violations[0].op == "import-not-allowed"
    assert "math" in refused.violations[0].allowed


def test_hints_have_a_code_and_data():
    star = "from json import *"
    for found in (cordon.check(star)[0], cordon.run(star, restricted=True).violations[0]):
        assert (found.hint_code, found.hint_data) == ("name_imports", {"name": "json"})
        assert found.hint == "name what you need: from json import a, b"
    denied = cordon.run("import socket; socket.socket()").violations[0]
    assert (denied.hint_code, denied.hint_data) == ("script_network", {}) and "network" in denied.hint
    plain = cordon.check("x = 1 1")[0]
    assert (plain.rule, plain.hint, plain.hint_code, plain.hint_data) == ("syntax", "", "", {})


def test_values_that_are_not_json():
    with pytest.raises(TypeError):
        cordon.run("pass", context={1, 2})
    with pytest.raises(ValueError):
        cordon.run("pass", context=float("nan"))
    round = []
    round.append(round)
    with pytest.raises(ValueError, match="Circular"):
        cordon.run("pass", context=round)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(cordon.InvalidRequest, match="too deep"):
        cordon.run("pass", context=deep)
    assert cordon.run("result = object()").outcome == "invalid_output"
    assert cordon.run("result = context", context="\U0001f600 é \x00 \n").value == "\U0001f600 é \x00 \n"


def test_number_that_is_too_long_for_this_python():
    """A guest must not cause an error that looks like the caller's mistake."""
    try:
        value = cordon.run("result = 10 ** 5000").value
    except cordon.CordonError as error:
        assert not isinstance(error, ValueError) and "cannot be read" in str(error)
    else:
        assert value == 10**5000  # before Python 3.11
    assert cordon.run("result = 1").value == 1


def test_wrong_requests():
    with pytest.raises(cordon.InvalidRequest, match="script: there is nothing to run"):
        cordon.run("")
    with pytest.raises(cordon.InvalidRequest, match="NUL"):
        cordon.run("x = '\0'")
    with pytest.raises(cordon.InvalidRequest, match='tier "moon" does not exist'):
        cordon.run("pass", tier="moon")
    with pytest.raises(cordon.Unsupported, match="third_party: process"):
        cordon.run("pass", trust="third-party")


def test_third_party_scripts_where_the_policy_allows_them():
    with cordon.Sandbox(policy={"third_party": "process"}) as sandbox:
        assert sandbox.run("pass", trust="third-party").enforcement.third_party == "process"
        assert sandbox.run("pass").enforcement.third_party is None


def test_one_variable():
    assert cordon.run("total = 1", variables="total").variables == {"total": 1}


def test_large_requests_and_results():
    text = "x" * (5 << 20)
    assert len(cordon.run("result = context + context", context=text, limits={"result": "16MiB"}).value) == 10 << 20
    assert cordon.run("result = context + context", context=text).error_type == "result_limit"


def test_check():
    assert cordon.check("import math") == []
    finding = cordon.check("x = 1\nimport os")[0]
    assert (finding.rule, finding.line) == ("import-not-allowed", 2) and str(finding).startswith(f"2:{finding.column}: import-not-allowed")
    assert cordon.check("import statistics", preset="hook")
    with pytest.raises(cordon.InvalidRequest):
        cordon.check("pass", preset="moon")


def test_command(sandbox, tmp_path):
    assert sandbox.command(["echo", "hello"]).stdout == "hello\n"
    (tmp_path / "a.txt").write_text("here\n")
    assert sandbox.command(["cat", "a.txt"], workspace=str(tmp_path)).stdout == "here\n"
    assert sandbox.command(["env"], env={"A": "1"}).stdout.count("A=1\n") == 1
    with pytest.raises(TypeError, match="no shell"):
        sandbox.command("echo hello")


def test_hook():
    double = cordon.hook("result['output'] = game_state['gold'] * 2")
    assert [double({"gold": n}) for n in range(5)] == [0, 2, 4, 6, 8]
    with pytest.raises(cordon.SandboxError) as caught:
        double({})
    assert caught.value.result.exception.type == "KeyError"
    assert double.call({"gold": 1}).value == 2
    with pytest.raises(cordon.Refused) as refused:
        cordon.hook("import os")()
    assert refused.value.findings[0].rule == "import-not-allowed"
    assert cordon.hook("def f(a):\n    return [a]").call_function("f", {"b": 1}).value == [{"b": 1}]
    assert cordon.hook("while True: pass", timeout=0.2).call().outcome == "timed_out"


def test_errors_can_be_pickled():
    """concurrent.futures and multiprocessing pickle errors."""
    with pytest.raises(cordon.SandboxError) as failed:
        cordon.run("1 / 0", check=True)
    back = pickle.loads(pickle.dumps(failed.value))
    assert back.result == failed.value.result and str(back) == str(failed.value)
    with pytest.raises(cordon.Refused) as refused:
        cordon.hook("import os")()
    back = copy.copy(refused.value)
    assert back.findings == refused.value.findings and str(back) == str(refused.value)


def test_many_hooks(own):
    """With more hooks than cordon keeps open, the oldest are opened again."""
    hooks = [own.hook(f"result['output'] = {n}") for n in range(70)]
    assert [h() for h in hooks] == list(range(70))
    assert hooks[0]() == 0 and hooks[69]() == 69


def test_async_forms():
    async def all_of_it():
        assert (await cordon.arun("result = 1")).value == 1
        assert (await cordon.acheck("import os"))[0].rule == "import-not-allowed"
        assert (await cordon.hook("result['output'] = 2").acall()).value == 2
        assert (await cordon.hook("def f(): return 3").acall_function("f")).value == 3
        assert (await cordon.arun("result = context", context="y" * (3 << 20))).value == "y" * (3 << 20)
        async with cordon.Sandbox() as sandbox:
            assert (await sandbox.acommand(["echo", "hi"])).stdout == "hi\n"

    asyncio.run(all_of_it())


def test_repr():
    assert repr(cordon.run("print(1); result = [1]")).startswith("<Result succeeded, value=[1], stdout='1\\n', ")
    assert repr(cordon.run("1/0")).startswith("<Result raised, error='ZeroDivisionError: division by zero (line 1)', ")
    assert "blocked=socket(AF_INET" in repr(cordon.run("import socket\nsocket.socket()"))
    assert len(repr(cordon.run("result = 'x' * 10000"))) < 300
    assert repr(cordon.Sandbox()) == "<Sandbox local>"


def test_policy_by_name_file_and_dict(tmp_path):
    with cordon.Sandbox(policy="strict") as strict:
        assert strict.run("result = 1").value == 1
    file = tmp_path / "policy.yaml"
    file.write_text("limits: {wall_time: 100ms}\n")
    with cordon.Sandbox(policy=file) as short:
        assert short.run("while True: pass").error == "timed out: wall time limit of 100ms reached"
    with cordon.Sandbox(policy={"maxima": {"wall_time": "2m"}}) as longer:
        assert longer.run("result = 1", timeout=90).value == 1
    with cordon.Sandbox(policy={"no_such_key": 1}) as wrong:
        with pytest.raises(cordon.InvalidRequest, match="no_such_key"):
            wrong.run("pass")
    with cordon.Sandbox(policy="no-such-file.yaml") as missing:
        with pytest.raises(cordon.CordonError, match="no-such-file"):
            missing.run("pass")


def test_functions_take_the_keywords_of_the_methods():
    for options, method in ((_options.RunOptions, cordon.Sandbox.run), (_options.RunOptions, cordon.Sandbox.arun),
                            (_options.HookOptions, cordon.Sandbox.hook)):  # fmt: skip
        keywords = {p.name for p in inspect.signature(method).parameters.values() if p.kind is p.KEYWORD_ONLY}
        assert set(options.__annotations__) | set(getattr(options, "__optional_keys__", ())) == keywords


PACKAGES = sysconfig.get_paths()["purelib"]
HAS_THEM = f"import sys; result = {PACKAGES!r} in sys.path"


def test_guests_have_the_environment_of_this_python():
    assert cordon.run(HAS_THEM).value is True
    with cordon.Sandbox(policy={"limits": {"scratch": "5MiB"}}) as own:
        assert own.run(HAS_THEM).value is True


def test_operator_chooses_another_python(tmp_path, monkeypatch):
    other = "/usr/bin/python3"
    if os.path.realpath(other) == os.path.realpath(sys.executable) and sys.prefix == sys.base_prefix:
        lacks("there is one Python only")
    file = tmp_path / "policy.yaml"
    file.write_text(f"python: {other}\n")
    for policy in ({"python": other}, file):
        with cordon.Sandbox(policy=policy) as own:
            assert own.run(HAS_THEM).value is False
    monkeypatch.setenv("CORDON_PYTHON", other)
    with cordon.Sandbox(policy={"limits": {"scratch": "6MiB"}}) as own:
        assert own.run(HAS_THEM).value is False


def test_python_of_the_guest():
    with cordon.Sandbox(python="/no/such/python") as wrong:
        with pytest.raises(cordon.NotFound, match="/no/such/python"):
            wrong.run("pass")


def test_results_of_other_versions():
    """A newer cordon may send more fields. Missing fields are an error."""
    result = cordon.run("import os; os.system('true'); 1/0")
    raw = {**result.raw, "violations": [{**v, "new": 1} for v in result.raw["violations"]], "new": 2}
    raw["exception"] = {**raw["exception"], "new": 3}
    assert cordon.Result.of(raw) == result
    for name in ("status", "stdout", "enforcement", "usage"):
        less = {key: value for key, value in result.raw.items() if key != name}
        with pytest.raises(cordon.CordonError, match=f"do not match: a Result without '{name}'"):
            cordon.Result.of(less)
    odd = cordon.Result.of({**result.raw, "enforcement": {"tier": "process"}})
    with pytest.raises(cordon.CordonError, match="do not match: a Result without 'walls'"):
        odd.enforcement


def test_copies_of_results():
    """Fields that are made when they are read are also in copies."""
    result = cordon.run("import os; os.system('true'); 1/0")
    for copied in (copy.deepcopy(result), pickle.loads(pickle.dumps(result)), copy.copy(result)):
        assert copied == result and hash(copied.exception) == hash(result.exception)
        assert copied.violations == result.violations != []
    assert not hasattr(result, "no_such_field")


def test_error_names_the_field():
    with pytest.raises(cordon.InvalidRequest) as caught:
        cordon.run("pass", limits={"memory": 64})
    assert caught.value.field == "limits.memory"
