"""Tests the same API with a running service: by URL, by Unix socket, with a token."""

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
import threading

import pytest
from conftest import until

import cordon
from cordon import _binary, _sandbox


@pytest.fixture(scope="module")
def directory():
    # A short path: the path of a socket may have at most 107 bytes.
    path = tempfile.mkdtemp(prefix="cdn")
    yield path
    shutil.rmtree(path)


def serve(*arguments):
    process = subprocess.Popen([_binary.find(), "serve", *arguments], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    lines = []
    for line in process.stderr:
        lines.append(line)
        if re.search(r"listening|ready", line):
            break
    else:
        raise AssertionError("".join(lines))
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return process, "".join(lines)


@pytest.fixture(scope="module")
def unix(directory):
    path = os.path.join(directory, "s")
    process, _ = serve("--listen", "unix:" + path)
    until(lambda: os.path.exists(path))
    yield "unix:" + path
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="module")
def with_tokens(directory):
    tokens = os.path.join(directory, "tokens.yaml")
    made = subprocess.run([_binary.find(), "token", "new", "tests", "--file", tokens], capture_output=True, text=True, timeout=20)
    assert made.returncode == 0, made.stderr
    process, words = serve("--listen", "127.0.0.1:0", "--tokens", tokens)
    address = re.search(r"127\.0\.0\.1:[1-9]\d*", words)
    assert address, words
    yield "http://" + address.group(0), made.stdout.split()[-1]
    process.terminate()
    process.wait(20)


def test_run_check_and_hook(unix):
    with cordon.Sandbox(url=unix) as sandbox:
        assert repr(sandbox).startswith("<Sandbox unix:")
        assert sandbox.run("print(1); result = context", context=[1]).value == [1]
        assert sandbox.run("1/0").exception.type == "ZeroDivisionError"
        assert sandbox.run("while True: pass", timeout=0.2).outcome == "timed_out"
        assert sandbox.check("import os")[0].rule == "import-not-allowed"
        hook = sandbox.hook("result['output'] = game_state['n'] + 1")
        assert [hook({"n": n}) for n in range(5)] == [1, 2, 3, 4, 5]
        assert sandbox.hook("def f(a): return a").call_function("f", 7).value == 7
        with pytest.raises(cordon.Refused) as refused:
            sandbox.hook("import os")()
        assert refused.value.findings[0].rule == "import-not-allowed"
        with pytest.raises(cordon.InvalidRequest, match="maximum"):
            sandbox.run("pass", timeout=3600)


def test_service_decides_whether_hook_calls_share_a_process(unix, monkeypatch):
    with cordon.Sandbox(url=unix) as sandbox:
        assert sandbox.hook("result['output'] = 1").call().enforcement.tier == "process"
        with pytest.raises(cordon.CordonError, match="more than the policy grants"):
            sandbox.hook("result['output'] = 1", trust="platform").call()
        monkeypatch.setattr(_sandbox, "_default", sandbox)
        assert cordon.run_mod_hook("result['output'] = game_state", 1, {}) == 1
        with pytest.raises(cordon.CordonError, match="more than the policy grants"):
            cordon.run_mod_hook("result['output'] = game_state", 1, {}, trust="platform")


def test_hook_is_opened_again_after_the_service_closed_it(unix):
    with cordon.Sandbox(url=unix) as sandbox:
        hook = sandbox.hook("result['output'] = 5")
        assert hook() == 5
        service = sandbox._transport
        service._close_hooks([service._hooks.known(hook._source)])
        assert hook() == 5


def test_threads_and_tasks(unix):
    with cordon.Sandbox(url=unix) as sandbox:
        answers = {}
        threads = [threading.Thread(target=lambda n=n: answers.update({n: sandbox.run("result = context", context=n).value})) for n in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {n: n for n in range(40)}

        async def tasks():
            return await asyncio.gather(*(sandbox.arun("result = context", context=n) for n in range(100)))

        assert [r.value for r in asyncio.run(tasks())] == list(range(100))


def test_canceled_task_ends_its_run(unix):
    async def ask():
        async with cordon.Sandbox(url=unix) as sandbox:
            task = asyncio.create_task(sandbox.arun("while True: pass", timeout=30, cpu_time=30))
            await asyncio.sleep(0.5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await sandbox.arun("result = 1")).value == 1

    asyncio.run(ask())


def test_closed_connection_is_replaced(unix):
    with cordon.Sandbox(url=unix) as sandbox:
        assert sandbox.run("result = 1").value == 1
        for connection in sandbox._transport._idle:
            connection.sock.close()
        assert sandbox.run("result = 2").value == 2


@pytest.mark.load
def test_request_that_is_too_large_is_refused(unix):
    with cordon.Sandbox(url=unix) as sandbox:
        with pytest.raises(cordon.CordonError, match="above the maximum|went away"):
            sandbox.run("result = 1", context="x" * (100 << 20))
        assert sandbox.run("result = 1").value == 1


def test_closed(unix):
    sandbox = cordon.Sandbox(url=unix)
    hook = sandbox.hook("result['output'] = 1")
    assert hook() == 1
    sandbox.close()
    for ask in (lambda: sandbox.run("pass"), hook):
        with pytest.raises(cordon.Closed):
            ask()
    assert sandbox._transport._idle == []


@pytest.mark.load
def test_old_hooks_are_closed_to_open_more(unix):
    """Hooks that are not called are closed, also for another sandbox of the same caller."""
    with cordon.Sandbox(url=unix) as sandbox, cordon.Sandbox(url=unix) as other, cordon.Sandbox(url=unix) as third:
        for n in range(40):
            for one in (sandbox, other, third):
                assert one.hook(f"result['output'] = {n}")() == n
        assert len(sandbox._transport._hooks) <= 17
    with cordon.Sandbox(url=unix) as sandbox:
        hooks = [sandbox.hook(f"result['output'] = {n}") for n in range(40)]
        assert [hook() for hook in hooks + hooks] == [*range(40), *range(40)]


def test_many_threads_open_a_hook_once(unix):
    with cordon.Sandbox(url=unix) as sandbox:
        hook, answers = sandbox.hook("result['output'] = 2 * game_state"), {}
        threads = [threading.Thread(target=lambda n=n: answers.update({n: hook(n)})) for n in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {n: 2 * n for n in range(64)}


def test_token(with_tokens):
    url, token = with_tokens
    with cordon.Sandbox(url=url, token=token) as sandbox:
        assert sandbox.run("result = 1").value == 1
    for wrong in (None, "wrong"):
        with cordon.Sandbox(url=url, token=wrong) as sandbox, pytest.raises(cordon.Forbidden):
            sandbox.run("pass")


def test_connect(unix):
    before = _sandbox._default
    try:
        _sandbox._default = None
        cordon.connect(unix)
        assert cordon.run("result = 3").value == 3
        assert cordon.execute("print(4)")["stdout"] == "4\n"
        assert cordon.run_mod_hook("result['output'] = 5", {}, {}) == 5
        assert cordon.create_sandbox().run_script("result = 6") == {"status": "ok", "result": 6}
        # A request above the service's maxima must not run locally instead.
        assert "maximum" in cordon.create_sandbox(timeout=120).run_script("result = 7")["error"]
        with pytest.raises(ValueError, match="maximum"):
            cordon.run_mod_hook("result['output'] = 8", {}, {}, timeout_seconds=120)
    finally:
        _sandbox._default.close()
        _sandbox._default = before


def test_unreachable_service_is_an_error():
    with cordon.Sandbox(url="unix:/no/such/socket") as sandbox, pytest.raises(cordon.ConnectionLost, match="/no/such/socket"):
        sandbox.run("pass")
    with cordon.Sandbox(url="http://127.0.0.1:1") as sandbox, pytest.raises(cordon.ConnectionLost):
        sandbox.run("pass")
    for wrong in ("localhost:80", "ftp://x"):
        with pytest.raises(cordon.InvalidRequest, match="url is"):
            cordon.Sandbox(url=wrong)
    with pytest.raises(cordon.InvalidRequest, match="the service chooses them"):
        cordon.Sandbox(url="http://127.0.0.1:1", policy="strict")
    with pytest.raises(cordon.InvalidRequest, match="token needs url"):
        cordon.Sandbox(token="x")
