"""Tests sessions: their state, how steps and sessions end, and what steps display."""

import asyncio
import base64
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import child_of, kill, until
from test_service import directory, serve, unix  # noqa: F401: fixtures
from test_transport import alive, busy_guests, python

import cordon
from cordon._errors import NothingSent
from cordon._session import ChildSession

SPIN = "while True: pass"
# A picture of one pixel.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
SHOWS = f"""
class Shows:
    def __init__(self, **forms):
        self.forms = forms
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {{kind.replace("__", "+").replace("_", "/"): form for kind, form in self.forms.items()}}
PNG = {PNG!r}
"""


@pytest.fixture
def session(own):
    with own.session() as session:
        yield session


def until_busy(pid, count=1):
    """Waits until guests below this process have used a CPU for some time."""
    seen = []

    def busy():
        seen.append(busy_guests(pid) >= count)
        return len(seen) >= 4 and all(seen[-4:])

    until(busy)


# State

def test_state_is_kept(session):
    first = session.run("import math\nx = [1]\ndef double(n): return 2 * n\nprint('defined')")
    assert (first.ok, first.stdout, first.step.number, first.step.survived, first.display) == (True, "defined\n", 1, True, [])
    second = session.run("x.append(double(context)); result = [x, math.pi > 3]", context=20, variables=["x"])
    assert second.value == [[1, 40], True] and second.variables == {"x": [1, 40]} and second.step.number == 2
    assert second.usage.wall_time_ms > 0 and second.enforcement.holds("seccomp")
    assert session.run("import sys; sys.stdin.read()", stdin="typed").shown == "'typed'"
    assert session.run("1; 2;").shown is None
    assert session.run("_").shown == "'typed'"
    assert session.alive and repr(session) == "<Session alive>"


def test_sessions_are_apart(own):
    with own.session() as one, own.session() as other:
        one.run("x = 1")
        assert other.run("x").error_type == "exception" and one.run("x").shown == "1"


def test_run_has_no_step(own):
    result = own.run("result = 1")
    assert result.step is None and result.display == [] and result.shown is None and result.png is None


def test_exception_leaves_the_session_alive(session):
    session.run("x = 5")
    raised = session.run("y = 6\n1 / 0")
    assert raised.outcome == "raised" and raised.exception.type == "ZeroDivisionError" and raised.exception.line == 2
    assert session.run("def broken(").outcome == "malformed"
    assert session.run("x + y").shown == "11" and session.alive
    with pytest.raises(cordon.SandboxError, match="ZeroDivisionError"):
        session.run("1 / 0", check=True)


def test_options_of_steps(own):
    with own.session(timeout=0.3, output=100) as session:
        assert session.run(SPIN).error == "timed out: wall time limit of 300ms reached"
        assert session.run("import time; time.sleep(0.5); 1", timeout=20).shown == "1"
        assert session.run("print('x' * 200)").stdout_truncated
        assert not session.run("print('x' * 200)", output="1KiB").stdout_truncated
        assert 'File "<mine>"' in session.run("1/0", name="<mine>").stderr
        with pytest.raises(cordon.InvalidRequest, match="open another session") as refused:
            session.run("pass", limits={"memory": "32MiB"})
        assert refused.value.field == "limits.memory"
        assert session.run("7").shown == "7"
    with own.session(restricted=True) as session:
        assert session.run("import os").outcome == "refused"
        assert session.run("result = 6 * 7").value == 42


def test_wrong_calls(own):
    with pytest.raises(TypeError, match="timeout is"):
        own.session(timeout=[])
    with pytest.raises(cordon.InvalidRequest, match="limits") as refused, own.session(limits={"nonsense": 1}):
        pass
    assert refused.value.field == "limits.nonsense"
    with own.session() as session:
        with pytest.raises(TypeError, match="give the source as text"):
            session.run(None)
        with pytest.raises(cordon.InvalidRequest, match=r"context\['day'\] is a set"):
            session.run("pass", context={"day": {1}})
        assert session.run("1").step.number == 1


def test_session_of_the_package():
    with cordon.Session(timeout=20) as session:
        session.run("x = 1")
        assert session.run("x").shown == "1"


# Ends

def test_timeout_keeps_the_state(session):
    session.run("x = 5")
    slow = session.run("x = 6\n" + SPIN, timeout=0.3)
    assert slow.outcome == "timed_out" and slow.step.survived
    assert session.run("x").shown == "6" and session.alive


def test_interrupt_from_another_thread(own, session):
    session.run("x = 1")
    session.interrupt()  # nothing runs
    with ThreadPoolExecutor(1) as pool:
        step = pool.submit(session.run, "x = 2\n" + SPIN, timeout=50, cpu_time=50)
        until_busy(child_of(own).pid)
        session.interrupt()
        result = step.result()
    assert result.outcome == "canceled" and result.exception.type == "KeyboardInterrupt"
    assert session.run("x").shown == "2" and session.alive


def test_ctrl_c_interrupts_the_step(own, session):
    session.run("x = 1")
    pid = child_of(own).pid

    def press():
        until_busy(pid)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        session.run("x = 2\n" + SPIN, timeout=50, cpu_time=50)
    thread.join()
    # The step is being interrupted. The next one runs after it.
    assert session.run("x").shown == "2" and session.alive


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import os; os._exit(3)", "step 1 ended it: .*exit code 3"),
        ("import ctypes; ctypes.string_at(0)", "step 1 ended it: .*SIGSEGV"),
        ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", "step 1 ended it: .*wall time"),
    ],
)
def test_ended_session_is_gone(own, script, words):
    with own.session(timeout=0.5) as session:
        assert not session.run(script).step.survived
        assert not session.alive and repr(session) == "<Session ended>"
        for _ in range(2):
            with pytest.raises(cordon.Gone, match=words):
                session.run("1")
    with pytest.raises(cordon.Gone):
        session.run("1")


def test_cordon_itself_says_that_a_session_is_gone(own):
    """Another thread may learn from cordon what this process did not see."""
    with own.session() as session:
        session.run("import os; os._exit(0)")
        session._over = None
        with pytest.raises(cordon.Gone, match="step 1 ended it"):
            session.run("1")
        assert not session.alive


def test_killed_child_loses_the_state(own):
    session = own.session()
    session.run("x = 1")
    child = child_of(own)
    with ThreadPoolExecutor(1) as pool:
        step = pool.submit(session.run, SPIN, timeout=50, cpu_time=50)
        until_busy(child.pid)
        kill(child.pid)
        with pytest.raises(cordon.ConnectionLost, match="SIGKILL.*may have run.*state of the session is lost"):
            step.result()
    assert not session.alive
    with pytest.raises(cordon.Gone, match="its state is lost: cordon ended with SIGKILL"):
        session.run("x")
    session.close()
    with own.session() as another:
        assert another.run("1").shown == "1"


def test_child_that_was_killed_while_idle_loses_the_state(own):
    session = own.session()
    session.run("x = 1")
    kill(child_of(own).pid)
    until(lambda: own._transport._child._process.poll() is not None)
    with pytest.raises(cordon.Gone, match="its state is lost"):
        session.run("x")
    assert not session.alive and own.run("result = 1").value == 1


def test_forked_process_cannot_use_the_session(own, session):
    session.run("x = 1")
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        words = []
        try:
            for use in (lambda: session.run("x"), session.interrupt):
                try:
                    use()
                except cordon.Gone as error:
                    words.append(str(error))
            words.append(session.alive)
            session.close()
            with own.session() as another:
                words.append(another.run("'x' in globals()").shown)
            own.close()
            os.write(w, json.dumps(words).encode())
        finally:
            os._exit(0)
    os.close(w)
    os.waitpid(pid, 0)
    first, second, still, shown = json.loads(os.read(r, 1000))
    os.close(r)
    assert "forked" in first and first == second and still is False and shown == "False"
    assert session.run("x").shown == "1"


def test_closed_session(own):
    session = own.session()
    assert session.alive
    session.close()  # before it was opened
    with pytest.raises(cordon.Closed, match="the session is closed"):
        session.run("1")
    with own.session() as session:
        session.run("1")
    session.close()
    assert not session.alive
    session.interrupt()
    with pytest.raises(cordon.Closed, match="the session is closed"):
        session.run("1")
    with pytest.raises(cordon.Closed):
        session.__enter__()


def test_close_ends_the_running_step(own):
    session = own.session()
    session.run("pass")
    with ThreadPoolExecutor(3) as pool:
        steps = [pool.submit(session.run, SPIN, timeout=50, cpu_time=50) for _ in range(3)]
        until_busy(child_of(own).pid)
        session.close()
        outcomes = [step.exception() or step.result().outcome for step in steps]
    assert outcomes.count("canceled") == 1
    assert sum(isinstance(outcome, cordon.Closed) for outcome in outcomes) == 2
    until(lambda: busy_guests(child_of(own).pid) == 0)


def test_closed_sandbox_ends_its_sessions():
    sandbox = cordon.Sandbox(policy={"limits": {"scratch": "7MiB"}})
    session = sandbox.session()
    session.run("x = 1")
    sandbox.close()
    with pytest.raises(cordon.Closed, match="the sandbox of this session is closed"):
        session.run("x")
    assert not session.alive
    session.close()


def test_too_many_sessions_are_refused_and_dropped_ones_closed(own):
    sessions = [own.session() for _ in range(32)]
    for session in sessions:
        session.run("pass")
    with pytest.raises(cordon.Busy, match="32 sessions are open"):
        own.session().run("pass")
    sessions.pop().close()
    session = own.session()
    session.run("pass")
    session = None
    gc.collect()
    with own.session() as another:
        assert another.run("1").shown == "1"
    for session in sessions:
        session.close()


def test_nothing_is_left_at_exit():
    code = (
        "import cordon; from conftest import child_of; s = cordon.Session(); s.run('x = 1');"
        "b = cordon.Session(); b.run('y = 1'); print(child_of(cordon._sandbox.default()).pid)"
    )
    done = python(code, cwd=os.path.dirname(__file__), env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0 and done.stderr == ""
    assert not alive(int(done.stdout))


# Threads and tasks

def test_many_threads_each_with_a_session(own):
    answers, barrier = {}, threading.Barrier(16)

    def work(n):
        with own.session() as session:
            barrier.wait()
            session.run("total = 0")
            for i in range(20):
                session.run("total += context", context=n * i)
            answers[n] = session.run("result = total").value

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n: n * 190 for n in range(16)}


def test_threads_and_tasks_share_a_session(own):
    """It is opened once, and its steps run one at a time."""
    session = own.session()

    async def tasks():
        return await asyncio.gather(*(session.arun("n = globals().get('n', 0) + 1") for _ in range(30)))

    with ThreadPoolExecutor(8) as pool:
        loop = pool.submit(asyncio.run, tasks())
        steps = list(pool.map(lambda _: session.run("n = globals().get('n', 0) + 1"), range(30)))
        steps += loop.result()
    assert sorted(step.step.number for step in steps) == list(range(1, 61))
    assert session.run("n").shown == "60"
    session.close()


def test_tasks(own):
    async def work():
        async with own.session() as session:
            await session.arun("import asyncio\nx = 1")
            assert (await session.arun("await asyncio.sleep(0, x)")).shown == "1"
            task = asyncio.create_task(session.arun("x = 2\n" + SPIN, timeout=50, cpu_time=50))
            await asyncio.get_running_loop().run_in_executor(None, until_busy, child_of(own).pid)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await session.arun("x")).shown == "2"
            task = asyncio.create_task(session.arun(SPIN, timeout=50, cpu_time=50))
            await asyncio.get_running_loop().run_in_executor(None, until_busy, child_of(own).pid)
            session.interrupt()
            assert (await task).outcome == "canceled"
        assert not session.alive
        with pytest.raises(cordon.Closed):
            await session.arun("x")

    asyncio.run(work())


def test_opening_that_was_given_up_is_done_by_another(own, monkeypatch):
    session, opened = own.session(), []
    transport = session._transport
    original = transport.open_session

    def open_session(options):
        opened.append(options)
        if len(opened) == 1:
            raise KeyboardInterrupt
        return original(options)

    monkeypatch.setattr(transport, "open_session", open_session)
    with pytest.raises(KeyboardInterrupt):
        session.run("1")
    assert session.run("1").shown == "1" and len(opened) == 2
    session.close()


def test_session_that_was_closed_while_it_was_opened(own, monkeypatch):
    session, closed = own.session(), []
    monkeypatch.setattr(ChildSession, "close", lambda self: closed.append(self))
    original = session._transport.open_session

    def open_session(options):
        session.close()
        return original(options)

    monkeypatch.setattr(session._transport, "open_session", open_session)
    with pytest.raises(cordon.Closed):
        session.run("1")
    assert len(closed) == 1


def test_dead_child_between_opening_and_step(own, monkeypatch):
    """A child that took no byte of the step has no session for it either."""
    with own.session() as session:
        def ask(self, body):
            self._end = cordon.ConnectionLost("cordon ended with SIGKILL")
            raise NothingSent

        monkeypatch.setattr(type(session._handle._child), "ask", ask)
        with pytest.raises(cordon.Gone, match="its state is lost: cordon ended with SIGKILL"):
            session.run("1")


# Display

def test_display(session):
    session.run(SHOWS)
    step = session.run("""
display(Shows(text_plain="a table", text_html="<table>", image_png=PNG), 7)
print("between")
Shows(image_svg__xml="<svg/>", application_json={"a": [1]})
""")
    assert step.ok and step.stdout == "between\n" and step.step.display_omitted == 0
    table, seven, last = step.display
    assert isinstance(table, cordon.Display) and (table.text, table.html, table.png, table.value) == ("a table", "<table>", PNG, False)
    assert table.data("text/html") == b"<table>" and table.data("image/png") == PNG and table.data("image/jpeg") is None
    assert seven.forms == {"text/plain": "7"} and seven.png is None
    assert last.value and last.data("image/svg+xml") == b"<svg/>" and json.loads(last.data("application/json")) == {"a": [1]}
    assert step.png == PNG and step.shown == last.text and "Shows" in step.shown
    assert repr(table) == "<Display 'a table', image/png, text/html>"
    again = pickle.loads(pickle.dumps(step))
    assert again.step == step.step and again.png == PNG


def test_jupyter_shows_pictures_and_text(session):
    session.run(SHOWS)
    shown = session.run("Shows(text_plain='words', image_png=PNG)").display[0]
    assert shown._repr_mimebundle_() == {"text/plain": "words", "image/png": base64.b64encode(PNG).decode()}
    assert shown._repr_png_() == PNG and shown._repr_html_() is None
    assert session.run("1").display[0]._repr_mimebundle_() == {"text/plain": "1"}


@pytest.mark.parametrize("form", ["text_html", "image_svg__xml"])
def test_jupyter_runs_no_code_of_the_guest(session, form):
    """HTML of a guest must not act in the page of the person who looks at it."""
    session.run(SHOWS)
    attack = '"><script>alert(1)</script>&quot;'
    shown = session.run(f"Shows({form}=context, application_javascript=b'alert(1)', text_plain='x')", context=attack).display[0]
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"} and bundle["text/html"] == shown._repr_html_()
    html = bundle["text/html"]
    assert html.startswith('<iframe sandbox="" srcdoc="&lt;meta http-equiv=&quot;Content-Security-Policy&quot; content=&quot;default-src')
    assert html.count("<") == 2 and html.count('"') == 6 and "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;quot;" in html


def test_hostile_display(session):
    many = session.run("for n in range(100): display(n)\n'last'")
    assert len(many.display) == 64 and many.step.display_omitted == 37 and many.shown is None
    huge = session.run("class Huge:\n    def _repr_html_(self): return 'x' * (30 << 20)\ndisplay(Huge(), 1)\n2")
    assert [one.text for one in huge.display] == ["1", "2"] and huge.step.display_omitted == 1
    long = session.run("'y' * (1 << 20)")
    assert len(long.shown) <= (64 << 10) + 1
    wrong = session.run("""
class Wrong:
    def __init__(self, *answer): self.answer = answer
    def _repr_mimebundle_(self, include=None, exclude=None): return self.answer[0]
for answer in (None, 7, "text", [], {}, {"text/html": None}, {"": "x"}, {"no type": b"x"}, {1: "x"}):
    display(Wrong(answer))
""")
    assert wrong.ok and all(set(one.forms) == {"text/plain"} for one in wrong.display)
    assert wrong.step.display_omitted == 1  # the form that has no MIME type
    assert session.run("class Raises:\n    def _repr_html_(self): 1 / 0\nRaises()").exception.type == "ZeroDivisionError"
    assert session.alive


@pytest.mark.parametrize(
    "forged",
    ["7", "[7]", "[{}, True]", "[{'text/plain': 7}, True]", "[{'text/plain': 'x'}, 7]", "[{'image/png': 'x'}, True]", "[{'te\\nxt': 'x'}, True]",
     "[{'text/plain': 'x'}, True, 1]", "[{'k%d/x' % n: 'x' for n in range(100)}, True]"],
)
def test_forged_display_is_left_out(session, forged):
    step = session.run(f"display(1)\ndisplay.__globals__['DISPLAYS'].shown.append({forged})\ndisplay(2)")
    assert [one.forms for one in step.display] == [{"text/plain": "1"}, {"text/plain": "2"}] and step.step.display_omitted == 1


@pytest.mark.parametrize("step", [7, {}, {"number": 1}, {"number": 1, "survived": True, "display": 7}, {"number": 1, "survived": True, "display": [{"forms": 7}]}])
def test_answer_of_another_version(own, step):
    result = cordon.Result.of({**own.run("pass").raw, "step": step})
    if step == {}:
        assert result.step is None
        return
    with pytest.raises(cordon.CordonError, match="versions of cordon and this package do not match"):
        result.display


def test_png_that_is_not_base64():
    with pytest.raises(cordon.CordonError, match="image/png is not base64"):
        cordon.Display({"image/png": "no base64!"}).png


# With a service

def test_session_of_a_service(unix):  # noqa: F811
    with cordon.Sandbox(url=unix) as sandbox, sandbox.session(timeout=20) as session:
        session.run("x = [1]")
        assert session.run("x.append(context); x", context=2).shown == "[1, 2]"
        assert session.run(SPIN, timeout=0.3).outcome == "timed_out" and session.run("x").shown == "[1, 2]"
        with pytest.raises(cordon.InvalidRequest):
            session.run("pass", timeout=3600)
        session.run("import os; os._exit(0)")
        assert not session.alive
        with pytest.raises(cordon.Gone, match="step 6 ended it|step 5 ended it"):
            session.run("x")
        session._over = None
        with pytest.raises(cordon.Gone):
            session.run("x")


def test_interrupt_of_a_service(directory):  # noqa: F811
    path = os.path.join(directory, "i")
    process, _ = serve("--listen", "unix:" + path)
    try:
        with cordon.Sandbox(url="unix:" + path) as sandbox, sandbox.session() as session, ThreadPoolExecutor(1) as pool:
            session.run("x = 1")
            step = pool.submit(session.run, SPIN, timeout=20, cpu_time=20)
            until_busy(process.pid)
            session.interrupt()
            assert step.result().outcome == "canceled" and session.run("x").shown == "1"
            left = sandbox.session()
            left.run("pass")
            assert len(sandbox._transport._sessions) == 2
        assert sandbox._transport._sessions == {} and not left.alive
    finally:
        process.terminate()
        process.wait(20)


def test_tasks_with_a_service(unix):  # noqa: F811
    async def work():
        async with cordon.Sandbox(url=unix) as sandbox, sandbox.session() as session:
            await session.arun("x = 1")
            steps = await asyncio.gather(*(session.arun("x += 1") for _ in range(10)))
            assert sorted(step.step.number for step in steps) == list(range(2, 12))
            assert (await session.arun("x")).shown == "11"
        with pytest.raises(cordon.Closed):
            await session.arun("x")

    asyncio.run(work())


def test_sessions_of_a_service_are_closed_at_exit(unix):  # noqa: F811
    """A caller may have 32 sessions open."""
    code = "import cordon, sys; s = [cordon.Sandbox(url=sys.argv[1]).session() for _ in range(20)]; [one.run('pass') for one in s]"
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code, unix], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr == ""


def test_service_without_sessions(unix, monkeypatch):  # noqa: F811
    with cordon.Sandbox(url=unix) as sandbox:
        original = sandbox._transport._send
        monkeypatch.setattr(sandbox._transport, "_send", lambda method, path, *rest: original(method, path.replace("sessions", "nothing"), *rest))
        with pytest.raises(cordon.Unsupported, match="has no sessions: it needs a newer version"):
            sandbox.session().run("1")
