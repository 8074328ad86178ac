"""Tests invalid calls: each error says what is wrong, where, and what to do."""

import datetime
import decimal

import cordon
import pytest
from cordon import _cli


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (datetime.date(2026, 1, 1), "context['day'] is a date, which is not JSON: give value.isoformat()"),
        ({1, 2}, "context['day'] is a set, which is not JSON: give sorted(value) or list(value)"),
        ([1, {"x": decimal.Decimal(1)}], "context['day'][1]['x'] is a Decimal, which is not JSON: give str(value) or float(value)"),
        (object(), "context['day'] is an object, which is not JSON: convert it to str, int, float, bool, None, list or dict"),
        (float("nan"), "context['day'] is nan, which JSON cannot express: give None or text"),
        ({(1, 2): 3}, "context['day'] has a key that is a tuple: JSON keys are text"),
    ],
)
def test_context_that_is_not_json_is_refused(value, words):
    with pytest.raises(ValueError) as raised:
        cordon.run("result = 1", context={"day": value})
    assert str(raised.value) == words
    assert cordon.create_sandbox().run_script("result = 1", {"day": value}) == {"status": "error", "error": words}
    with pytest.raises(cordon.InvalidRequest, match="game_state"):
        cordon.run_mod_hook("result['output'] = 1", {"day": value})


@pytest.mark.parametrize("script", [None, 3, b"x"])
def test_script_that_is_not_text_is_refused(script):
    for call in (
        cordon.run,
        cordon.create_sandbox().run_script,
        cordon.run_mod_hook,
        cordon.hook,
        cordon.execute,
    ):
        with pytest.raises(TypeError, match="give the source as text"):
            call(script)


def test_limits_of_create_sandbox_may_be_text():
    sandbox = cordon.create_sandbox(timeout="200ms", memory_limit="64MiB", cpu_limit="100ms")
    assert sandbox.run_script("result = 1") == {"status": "ok", "result": 1}
    assert sandbox.run_script("import time; time.sleep(5)") == {"status": "error", "error": "timeout"}


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"timeout": "5"}, "timeout is '5': give seconds, or text like '500ms'"),
        ({"timeout": None}, "timeout is None: give seconds"),
        ({"memory_limit": "64"}, "memory_limit is '64': give bytes, or text like '64MiB'"),
        ({"memory_limit": "64XB"}, "memory_limit is '64XB': give bytes"),
        ({"cpu_limit": "soon"}, "cpu_limit is 'soon': give seconds"),
    ],
)
def test_wrong_limits_are_refused(limits, words):
    with pytest.raises((TypeError, ValueError), match=words):
        cordon.create_sandbox(**limits)


@pytest.mark.parametrize("url", ["http:127.0.0.1:80", "https:host", "http://", "unix:", "unix:relative"])
def test_url_without_a_host_is_refused(url):
    with pytest.raises(cordon.InvalidRequest, match="names no host: write http://HOST:PORT"):
        cordon.Sandbox(url=url).run("pass")


def test_execute_reports_cut_output_and_missing_variables():
    result = cordon.execute("print('x' * 100)\ny = 1", output_limit=10, inspect_variables=["y", "z"])
    assert result["stdout"] == "x" * 10 and result["stdout_truncated"] and not result["stderr_truncated"]
    assert result["variables"] == {"y": 1} and result["missing_variables"] == ["z"]


def test_py_sandbox_reports_cut_output_and_missing_variables(capfd):
    assert _cli.py_sandbox(["-o", "10", "-v", "z", "print('x' * 100)"]) == 0
    told = capfd.readouterr().err
    assert "py-sandbox: stdout was cut at 10 bytes; -o allows more, up to 262144" in told
    assert "py-sandbox: the code has not set z" in told


def test_timeout_error_says_timed_out():
    assert cordon.execute("while True: pass", timeout=0.2)["error"] == "timed out: wall time limit of 200ms reached"


def test_error_of_a_refused_result_names_allow():
    backend = cordon.SubprocessSandboxBackend()
    with pytest.raises(RuntimeError, match="allow="):
        backend.execute("colour", _complex_path, {})


def _complex_path():
    import pathlib

    return pathlib.PurePosixPath("/x")
