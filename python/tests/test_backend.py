"""SubprocessSandboxBackend, against its contract."""

import asyncio
import ctypes
import datetime
import decimal
import fractions
import functools
import os
import subprocess
import sys
import uuid
from collections import OrderedDict, deque

import pytest
import toolbox.lazy  # noqa: F401 - of the caller's own, and loaded
from conftest import needs
from toolbox import shapes, tools

import cordon
from cordon import SandboxConfig, SubprocessSandboxBackend


@pytest.fixture(scope="module")
def backend():
    return SubprocessSandboxBackend(SandboxConfig(timeout=10, memory_limit_mb=256))


def test_capabilities(backend):
    assert backend.is_available() is True
    assert backend.get_capabilities() == {
        "backend": "subprocess", "available": True, "isolation_level": "process",
        "filesystem_isolation": True, "network_isolation": True, "memory_limit_mb": 256, "timeout": 10.0,
    }


def test_capabilities_without_cordon(monkeypatch):
    backend = SubprocessSandboxBackend(SandboxConfig())
    monkeypatch.setenv("CORDON_BIN", "/no/such/cordon")
    assert backend.is_available() is False
    found = backend.get_capabilities()
    assert found["available"] is False and found["filesystem_isolation"] is False and found["network_isolation"] is False
    with pytest.raises(RuntimeError, match="CORDON_BIN"):
        backend.execute("t", len, {})


def test_importable_functions(backend):
    assert backend.execute("t", tools.scale, {"number": 4.5}) == 40
    assert backend.execute("t", tools.scale, {"number": 4.5, "by": 2}) == 8
    import json
    import textwrap

    assert backend.execute("t", json.loads, {"s": '{"a": [1]}'}) == {"a": [1]}
    assert backend.execute("t", textwrap.fill, {"text": "a b", "width": 1}) == "a\nb"
    assert backend.execute("t", functools.partial(tools.scale, 3.2), {"by": 3}) == 9


def test_imports_inside_a_called_function(backend):
    assert backend.execute("t", tools.imports_late, {}) == "toolbox.lazy"


def test_dataclasses_both_ways(backend):
    path = shapes.Path((shapes.Point(1, 2), shapes.Point(3, 4)))
    assert backend.execute("t", tools.middle, {"path": path}) == shapes.Point(2, 0)
    walked = backend.execute("t", tools.walk, {"n": 3})
    assert walked == shapes.Path(tuple(shapes.Point(i, i) for i in range(3)), ["walked"])
    assert type(walked.points[0]) is shapes.Point
    assert backend.execute("t", tools.nothing, {}) == shapes.Empty()


@pytest.mark.parametrize("value", [
    None, True, 0, -1, 10**30, -(10**30), 255, 256, 65536, 2**31, 1.5, float("inf"), "", "text", "é\U0001f600", "\ud800", "x" * 100000,
    b"", b"bytes", b"y" * 300, bytearray(b"z"), [], [1, [2, [3]]], (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {}, {"a": {"b": 1}},
    {1: 2, None: 3, (1, 2): [4]}, set(), {1, 2}, frozenset({3}), 1 + 2j, list(range(5000)), {str(i): i for i in range(3000)},
    datetime.datetime(2026, 1, 2, 3, 4, 5, 6), datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc), datetime.date(2026, 1, 2),
    datetime.time(1, 2), datetime.timedelta(days=1, seconds=2), decimal.Decimal("1.10"), fractions.Fraction(1, 3),
    uuid.UUID(int=5), OrderedDict([("b", 1), ("a", 2)]), deque([1, 2], maxlen=5), shapes.Local(1), [shapes.Local(1), shapes.Local(2)], shapes.Slotted(3), {"k": shapes.Slotted(4, "c")},
], ids=repr)
def test_values_round_trip(backend, value):
    back = backend.execute("t", tools.same, {"value": value})
    assert back == value and type(back) is type(value)


def test_shared_values_stay_shared(backend):
    shared = [1]
    back = backend.execute("t", tools.same, {"value": [shared, shared]})
    assert back == [[1], [1]] and back[0] is back[1]


def test_allowed_types(backend):
    with pytest.raises(RuntimeError, match="toolbox.shapes.Color is not plain data"):
        backend.execute("t", tools.color, {})
    with pytest.raises(RuntimeError, match="NoData is not plain data"):
        backend.execute("t", tools.no_data, {})
    allowing = SubprocessSandboxBackend(SandboxConfig(allow=(shapes.Color, shapes.NoData)))
    assert allowing.execute("t", tools.color, {}) is shapes.Color.BLUE
    assert allowing.execute("t", tools.no_data, {}).value == 1
    by_name = b"\x80\x04\x8c\x08builtins\x8c\x07getattr\x93\x8c\x0etoolbox.shapes\x8c\x05Color\x93\x8c\x03%s\x86R."
    assert allowing.execute("t", tools.sends, {"data": by_name % b"RED"}) is shapes.Color.RED  # as Python 3.11.2 writes it
    with pytest.raises(RuntimeError, match="other than an allowed Enum"):
        allowing.execute("t", tools.sends, {"data": by_name % b"mro"})


def test_dataclasses_with_a_finalizer_are_refused(backend):
    with pytest.raises(RuntimeError, match="Acts is not plain data"):
        backend.execute("t", tools.acting, {})
    assert shapes.dropped == []


def test_errors(backend):
    with pytest.raises(RuntimeError, match=r"tool 'mine' failed: ValueError: no\b") as caught:
        backend.execute("mine", tools.fails, {"words": "no"})
    assert "in fails" in str(caught.value)
    with pytest.raises(RuntimeError, match="wall time limit of 500ms"):
        SubprocessSandboxBackend(SandboxConfig(timeout=0.5)).execute("t", tools.hangs, {})
    with pytest.raises(RuntimeError, match="memory"):
        backend.execute("t", tools.eats, {})
    with pytest.raises(RuntimeError, match="exit code 3"):
        backend.execute("t", tools.leaves, {"code": 3})
    with pytest.raises(RuntimeError, match="returned no result"):
        backend.execute("t", tools.quits, {"words": None})
    with pytest.raises(RuntimeError, match="exit code 1\nin these words"):
        backend.execute("t", tools.quits, {"words": "in these words"})
    with pytest.raises(RuntimeError, match="TypeError"):
        backend.execute("t", tools.scale, {"wrong": 1})
    with pytest.raises(RuntimeError, match="cannot be pickled"):
        backend.execute("t", tools.same, {"value": open(__file__)})
    with pytest.raises(RuntimeError, match="cannot be read|cannot pickle|pickle"):
        backend.execute("t", tools.gives_a_generator, {})


def test_walls(backend, monkeypatch):
    monkeypatch.setenv("CORDON_TEST_SECRET", "secret")
    seen = backend.execute("t", tools.looks_around, {})
    assert seen["secret"] is None and seen["home"] is False
    assert {seen["socket"], seen["fork"], seen["write"]} <= {"PermissionError", "OSError"} | {"FileNotFoundError", "BlockingIOError"}


def test_working_directory(tmp_path):
    directory = os.path.join(os.path.dirname(__file__), "toolbox")
    backend = SubprocessSandboxBackend(SandboxConfig(working_directory=directory))
    assert backend.execute("t", os.getcwd, {}) == directory
    assert "def scale" in backend.execute("t", tools.reads, {"path": "tools.py"})


@pytest.mark.parametrize("text, allowed", [("limits: {memory: 64MiB}\n", False), ("read: [%s]\n", True)])
def test_working_directory_under_an_operator(monkeypatch, tmp_path, text, allowed):
    """A backend adds no grant to an operator's policy, and drops none of its limits."""
    directory = tmp_path / "data"
    directory.mkdir()
    (directory / "secret").write_text("secret")
    policy = tmp_path / "policy.yaml"
    policy.write_text("maxima: {memory: 64MiB, wall_time: 20s}\n" + (text % directory if "%" in text else text))
    monkeypatch.setenv("CORDON_POLICY", str(policy))
    backend = SubprocessSandboxBackend(SandboxConfig(timeout=10, memory_limit_mb=64, working_directory=str(directory)))
    if allowed:
        assert backend.execute("t", tools.reads, {"path": "secret"}) == "secret"
    else:
        with pytest.raises(RuntimeError, match="working_directory .* cannot be read by the guest .* CORDON_POLICY"):
            backend.execute("t", tools.reads, {"path": str(directory / "secret")})
    greedy = SubprocessSandboxBackend(SandboxConfig(memory_limit_mb=512, working_directory=str(directory)))
    with pytest.raises(RuntimeError, match="maximum"):
        greedy.execute("t", os.getcwd, {})


def test_operator_named_later(monkeypatch, tmp_path):
    """A child that was started without CORDON_POLICY serves no call after it was set."""
    before = SubprocessSandboxBackend(SandboxConfig(memory_limit_mb=512))
    assert before.execute("t", os.getcwd, {})
    policy = tmp_path / "policy.yaml"
    policy.write_text("maxima: {memory: 64MiB}\n")
    monkeypatch.setenv("CORDON_POLICY", str(policy))
    with pytest.raises(RuntimeError, match="maximum"):
        SubprocessSandboxBackend(SandboxConfig(memory_limit_mb=512)).execute("t", os.getcwd, {})


def test_config_of_a_framework():
    """A framework's configuration has other names."""

    class Theirs:
        sandbox_timeout = 7
        sandbox_memory_limit_mb = 99

    told = SubprocessSandboxBackend(Theirs()).get_capabilities()
    assert (told["timeout"], told["memory_limit_mb"]) == (7.0, 99)
    told = SubprocessSandboxBackend(SandboxConfig(timeout=90, memory_limit_mb=2000)).get_capabilities()
    assert told["available"] is True


def test_async(backend):
    async def many():
        return await asyncio.gather(*(backend.aexecute("t", tools.scale, {"number": n}) for n in range(20)))

    assert asyncio.run(many()) == [10 * n for n in range(20)]


def test_closures_and_lambdas(backend):
    needs("cloudpickle")
    base = 100
    assert backend.execute("t", lambda a: a + base, {"a": 1}) == 101
    assert backend.execute("t", lambda a: tools.scale(a), {"a": 1}) == 10

    def nested(a):
        return [tools.helper(x) + base for x in a]

    assert backend.execute("t", nested, {"a": [1.5]}) == [101]


MAIN = '''
import math
from cordon import SandboxConfig, SubprocessSandboxBackend
FACTOR = 3
def twice(n): return 2 * n
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
def tool(n, by=FACTOR, *, more=1): return [math.floor(n), twice(n) * by, more, sum(twice(i) for i in range(3)), even(4)]
if __name__ == "__main__":
    backend = SubprocessSandboxBackend(SandboxConfig())
    print(backend.execute("t", tool, {"n": 1.5}))
    try:
        print(backend.execute("t", lambda: tool(1), {}))
    except RuntimeError as e:
        print("install cloudpickle" in str(e))
'''


@pytest.mark.parametrize("with_cloudpickle", [False, True])
@pytest.mark.parametrize("how", ["script", "typed"])
def test_functions_of_the_main_program(tmp_path, how, with_cloudpickle):
    """Functions of a script are sent with its source; functions typed into an interpreter are
    sent by their code."""
    if with_cloudpickle:
        needs("cloudpickle")
    hide = "" if with_cloudpickle else "import sys; sys.modules['cloudpickle'] = None\n"
    script = tmp_path / "main.py"
    script.write_text(hide + MAIN)
    command = [sys.executable, str(script)] if how == "script" else [sys.executable, "-c", hide + MAIN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    lines = done.stdout.splitlines()
    assert lines and lines[0] == "[1, 9.0, 1, 6, True]", done.stderr
    if with_cloudpickle:
        assert lines[1] == "[1, 6, 1, 6, True]"
    elif how == "typed":
        assert lines[1] == "[1, 6, 1, 6, True]"  # a lambda without a closure is plain


def program(directory, *command):
    """Returns what it prints, line by line."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=60, env=environment, cwd=directory)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_classes_of_the_main_program(tmp_path):
    """The guest knows its module by another name."""
    (tmp_path / "main.py").write_text('''
import dataclasses
from cordon import SandboxConfig, SubprocessSandboxBackend
@dataclasses.dataclass
class Point:
    x: int
class Other: pass
def point(x): return Point(x)
def moved(point): return Point(point.x + 1)
def other(): return Other()
if __name__ == "__main__":
    backend = SubprocessSandboxBackend(SandboxConfig(allow=(Other,)))
    print(backend.execute("t", point, {"x": 1}) == Point(1), backend.execute("t", moved, {"point": Point(1)}) == Point(2))
    print(type(backend.execute("t", other, {})) is Other)
''')
    assert program(tmp_path, "main.py") == ["True True", "True"]


def test_main_program_of_a_package(tmp_path):
    """With python -m, the main program can import relative names."""
    (tmp_path / "app" / "inner").mkdir(parents=True)
    for directory in ("app", "app/inner"):
        (tmp_path / directory / "__init__.py").write_text("")
    (tmp_path / "app" / "near.py").write_text("def add(a): return a + 1\n")
    (tmp_path / "app" / "inner" / "main.py").write_text('''
from ..near import add
from . import side
def tool(a): return add(a) * side.BY
class Tool:
    def method(self, a): return -add(a)
if __name__ == "__main__":
    from cordon import SubprocessSandboxBackend
    print(SubprocessSandboxBackend().execute("t", tool, {"a": 1}), SubprocessSandboxBackend().execute("t", Tool().method, {"a": 1}))
''')
    (tmp_path / "app" / "inner" / "side.py").write_text("BY = 21\n")
    assert program(tmp_path, "-m", "app.inner.main") == ["42 -2"]


@pytest.mark.parametrize("later", ["print('later')", "raise SystemExit"])
def test_main_program_that_calls_the_backend_at_import(tmp_path, later):
    """The guest runs the main program, too, and stops where it calls the backend."""
    (tmp_path / "main.py").write_text(f'''
from cordon import SubprocessSandboxBackend
def tool(a): return a + 1
print(SubprocessSandboxBackend().execute("t", tool, {{"a": 1}}))
{later}
''')
    assert program(tmp_path, "main.py")[0] == "2"


def test_main_program_that_fails_in_the_guest(tmp_path):
    (tmp_path / "main.py").write_text('''
import os
if "CORDON_BIN" not in os.environ: raise ValueError("not here")
from cordon import SubprocessSandboxBackend
def tool(a): return a + 1
try:
    SubprocessSandboxBackend().execute("t", tool, {"a": 1})
except RuntimeError as error:
    print("not here" in str(error))
''')
    assert program(tmp_path, "main.py") == ["True"]


def test_module_whose_source_has_changed(backend, monkeypatch, tmp_path):
    (tmp_path / "changing.py").write_text("def tool(): return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    import changing

    assert backend.execute("t", changing.tool, {}) == 1
    (tmp_path / "changing.py").write_text("def tool(: return 1\n")
    with pytest.raises(RuntimeError, match="SyntaxError"):
        backend.execute("t", changing.tool, {})


def test_arguments_that_cannot_be_pickled(backend):
    with pytest.raises(RuntimeError, match="cannot be pickled: .*pointers"):
        backend.execute("t", tools.same, {"value": ctypes.pointer(ctypes.c_int(1))})


def test_closure_without_cloudpickle(backend, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    base = 1
    with pytest.raises(RuntimeError, match="install cloudpickle"):
        backend.execute("t", lambda: base, {})
    assert cordon.run("result = 1").value == 1


def test_interactive_function_sends_only_the_globals_it_uses(tmp_path):
    """An attribute may have the name of a global that cannot be sent."""
    lines = program(tmp_path, "-c", '''
import sys; sys.modules["cloudpickle"] = None
import threading
from cordon import SandboxConfig, SubprocessSandboxBackend
lock, real = threading.Lock(), threading.Lock()
factor = 3
def tool(x):
    class Thing:
        lock = factor
    return [x.real * f for f in (Thing.lock, factor)]
print(SubprocessSandboxBackend(SandboxConfig()).execute("t", tool, {"x": 2}))
''')
    assert lines == ["[6, 6]"]
