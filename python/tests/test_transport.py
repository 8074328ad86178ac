"""Tests one child that is shared by threads and tasks, with forks and deaths."""

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import child_of, kill, until

import cordon
from cordon._child import Child, Slot
from cordon._errors import NothingSent

NUMBERED = "result = context * 2"


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.load
def test_a_thousand_threads_get_their_own_results(own):
    answers, barrier = {}, threading.Barrier(1000)

    def ask(n):
        barrier.wait()
        answers[n] = own.run(NUMBERED, context=n).value

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n: 2 * n for n in range(1000)}


@pytest.mark.load
def test_a_thousand_tasks_get_their_own_results(own):
    async def ask():
        return await asyncio.gather(*(own.arun(NUMBERED, context=n) for n in range(1000)))

    assert [r.value for r in asyncio.run(ask())] == [2 * n for n in range(1000)]


@pytest.mark.load
def test_threads_and_tasks_together(own):
    """The reading caller distributes the answers to threads and tasks."""
    hook = own.hook("result['output'] = game_state")

    async def tasks():
        return [r.value for r in await asyncio.gather(*(hook.acall(n) for n in range(2000)))]

    with ThreadPoolExecutor(16) as pool:
        loops = [pool.submit(asyncio.run, tasks()) for _ in range(2)]
        calls = list(pool.map(hook, range(2000)))
        assert calls == list(range(2000))
        for loop in loops:
            assert loop.result() == list(range(2000))


@pytest.mark.load
def test_large_requests_and_answers_at_the_same_time(own):
    """Pipes that are full in both directions must not cause a deadlock."""
    text = "z" * (2 << 20)

    async def tasks():
        return [r.value == text for r in await asyncio.gather(*(own.arun("result = context", context=text) for _ in range(6)))]

    with ThreadPoolExecutor(8) as pool:
        loop = pool.submit(asyncio.run, tasks())
        assert all(pool.map(lambda _: own.run("result = context", context=text).value == text, range(6)))
        assert all(loop.result())


@pytest.mark.load
def test_killed_under_load_loses_no_answer_silently(own):
    """Each of many callers gets its own result or a clear error, and another child serves the
    next request."""
    own.run("pass")
    answered, lost, wrong = [], [], []
    stop = threading.Event()

    def ask(n):
        while not stop.is_set():
            try:
                result = own.run(NUMBERED, context=n)
                (answered if result.value == 2 * n else wrong).append(n)
            except cordon.ConnectionLost as error:
                assert "SIGKILL" in str(error) and "may have run" in str(error)
                lost.append(n)
            except BaseException as error:
                wrong.append(error)

    async def task(n):
        while not stop.is_set():
            try:
                result = await own.arun(NUMBERED, context=n)
                (answered if result.value == 2 * n else wrong).append(n)
            except cordon.ConnectionLost:
                lost.append(n)
            except BaseException as error:
                wrong.append(error)

    async def tasks():
        await asyncio.gather(*(task(n) for n in range(100, 120)))

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(20)]
    threads.append(threading.Thread(target=asyncio.run, args=(tasks(),)))
    for thread in threads:
        thread.start()
    pids = set()
    for _ in range(5):
        before = len(answered)
        until(lambda before=before: len(answered) > before + 50)
        child = child_of(own)
        pids.add(child.pid)
        kill(child.pid)
        until(lambda child=child: not child.alive)
    before = len(answered)
    until(lambda: len(answered) > before + 50)
    stop.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), "somebody still waits for an answer"
    assert not wrong and lost and len(pids) == 5


def test_files_stay_open_while_a_caller_reads():
    """A writer notices the end, and the thread for event loops handles it before the reader."""
    child = Child(["/bin/sleep", "60"])
    child._start_threads()
    reader = child._reader = Slot()  # a thread is between poll and read
    child._finish(cordon.ConnectionLost("gone"))
    child._threads[0].join(10)
    assert not child._threads[0].is_alive()
    assert not child._dropped
    child._pass_on(reader)
    assert child._dropped
    child.close()


def test_child_that_died_while_idle_is_replaced(own):
    """Nothing was sent to the dead child, so its death is not reported."""
    assert own.run("result = 1").value == 1
    hook = own.hook("result['output'] = 3")
    assert hook() == 3
    for again in range(3):
        kill(child_of(own).pid)
        until(lambda: own._transport._child._process.poll() is not None)
        assert (hook() if again == 1 else own.run("result = 2").value) == (3 if again == 1 else 2)


def test_dead_child_is_noticed_while_another_process_holds_its_pipe(tmp_path):
    """Processes of a dead cordon may live a moment longer and keep its pipe open."""
    program = tmp_path / "dies"
    program.write_text("#!/bin/sh\nexec 3<&0\nsleep 5 <&3 &\n")
    program.chmod(0o755)
    child = Child([str(program)])
    until(lambda: child._process.poll() is not None)
    with pytest.raises(NothingSent):
        child.ask('"script":"pass"}')
    child.close()


def test_old_handle_never_calls_another_hook(own):
    one, two = own.hook("result['output'] = 1"), own.hook("result['output'] = 2")
    assert (one(), two()) == (1, 2)
    kill(child_of(own).pid)
    until(lambda: own._transport._child._process.poll() is not None)
    assert (two(), one()) == (2, 1)


def test_close_ends_waiting_callers_and_leaves_nothing(own):
    sandbox = cordon.Sandbox(policy={"limits": {"scratch": "5MiB"}})
    sandbox.run("pass")
    pid, errors = child_of(sandbox).pid, []

    def ask():
        try:
            sandbox.run("import time; time.sleep(20)")
        except cordon.CordonError as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: len(child_of(sandbox)._pending) == 3)
    sandbox.close()
    for thread in threads:
        thread.join(10)
    assert len(errors) == 3 and not alive(pid)
    with pytest.raises(cordon.Closed):
        sandbox.run("pass")
    sandbox.close()  # a second close has no effect


def test_child_is_shared_until_the_last_sandbox_closes():
    first, second = (cordon.Sandbox(policy={"limits": {"scratch": "6MiB"}}) for _ in range(2))
    assert child_of(first) is child_of(second)
    pid = child_of(first).pid
    first.close()
    assert second.run("result = 1").value == 1
    second.close()
    assert not alive(pid)


def test_interrupt_ends_only_its_own_guest(own):
    """Ctrl-C in a notebook does this."""
    own.run("pass")
    others = []
    thread = threading.Thread(target=lambda: others.append(own.run("import time; time.sleep(1); result = 1").value))
    thread.start()
    until(lambda: len(child_of(own)._pending) == 1)
    child = child_of(own)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    begin, limit = time.monotonic(), 60
    with pytest.raises(KeyboardInterrupt):
        own.run("while True: pass", timeout=limit, cpu_time=limit)
    assert time.monotonic() - begin < limit, "the guest came to its end by itself"
    thread.join()
    assert others == [1] and child_of(own) is child
    # The guest was ended: no process of it uses a CPU.
    until(lambda: busy_guests(child.pid) == 0)


def busy_guests(pid):
    """Counts the running processes below a child, by its tree in /proc."""
    parents, running = {}, set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat:
                    fields = stat.read().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry)] = int(fields[1])
            if fields[0] == "R":
                running.add(int(entry))
    count = 0
    for one in running:
        up = parents.get(one)
        while up:
            if up == pid:
                count += 1
                break
            up = parents.get(up)
    return count


def test_canceled_task_ends_its_guest(own):
    async def ask():
        task = asyncio.create_task(own.arun("while True: pass", timeout=20, cpu_time=20))
        while own._transport._child is None or not child_of(own)._pending:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await own.arun("result = 1")).value == 1

    asyncio.run(ask())
    until(lambda: busy_guests(child_of(own).pid) == 0)


def test_wait_for(own):
    async def ask():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(own.arun("while True: pass"), 0.3)

    asyncio.run(ask())


def test_fork_gets_its_own_child(own):
    own.run("pass")
    parents = child_of(own).pid
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            value = own.run("result = 7").value
            os.write(w, f"{value} {child_of(own).pid}".encode())
            own.close()
        finally:
            os._exit(0)
    os.close(w)
    os.waitpid(pid, 0)
    value, forked = os.read(r, 100).decode().split()
    os.close(r)
    assert value == "7" and int(forked) != parents
    assert child_of(own).pid == parents and own.run("result = 1").value == 1
    until(lambda: not alive(int(forked)))


def test_fork_in_the_middle_of_many_requests(own):
    """Locks that other threads hold at that moment must not block the forked process."""
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            own.run("pass")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    codes = []
    for _ in range(5):
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                code = 0 if own.run("result = 7").value == 7 else 1
                own.close()
            finally:
                os._exit(code)
        codes.append(os.waitpid(pid, 0)[1])
    stop.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 5


def test_policy_is_there_when_the_child_is_started_again():
    script = (
        "import cordon, os, sys\n"
        "s = cordon.Sandbox(policy={'limits': {'scratch': '4MiB'}})\n"
        "s.run('pass')\n"
        "if os.fork() == 0:\n    sys.exit(0)\n"
        "os.wait()\n"
        "os.kill(s._transport.child().pid, 9)\n"
        "s._transport._child._process.wait()\n"
        "print(s.run('result = 1').value)"
    )
    assert python(script).stdout == "1\n"


def python(code, **more):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, **more)


def test_nothing_is_left_at_exit():
    done = python("import cordon; from conftest import child_of; s = cordon.Sandbox(); s.run('pass'); print(child_of(s).pid)",
                  cwd=os.path.dirname(__file__), env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.returncode == 0 and done.stderr == ""
    assert not alive(int(done.stdout))


def test_nothing_is_left_after_sigkill(tmp_path):
    code = (
        "import cordon, os; from conftest import child_of; s = cordon.Sandbox(policy={'limits': {'scratch': '4MiB'}}); s.run('pass');"
        "print(child_of(s).pid, flush=True); os.kill(os.getpid(), 9)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    done = python(code, cwd=os.path.dirname(__file__), env=env)
    until(lambda: not alive(int(done.stdout)))
    assert os.listdir(tmp_path) == []


def test_number_of_descriptors_stays_the_same(own):
    def descriptors():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    own.run("pass")
    before = descriptors()
    for _ in range(3):
        kill(child_of(own).pid)
        until(lambda: own._transport._child._process.poll() is not None)
        own.run("pass")
    assert descriptors() == before


def test_no_binary(monkeypatch):
    monkeypatch.setenv("CORDON_BIN", "/no/such/cordon")
    with pytest.raises(cordon.NotFound, match="CORDON_BIN is /no/such/cordon"):
        cordon.Sandbox()
    with pytest.raises(cordon.NotFound, match="binary is /nor/this"):
        cordon.Sandbox(binary="/nor/this")
    monkeypatch.delenv("CORDON_BIN")
    monkeypatch.setenv("PATH", "/nowhere")
    from cordon import _binary

    if not os.path.exists(os.path.join(os.path.dirname(_binary.__file__), "bin")):
        with pytest.raises(cordon.NotFound, match="CORDON_BIN"):
            cordon.Sandbox()


def test_binary_that_is_not_cordon():
    sandbox = cordon.Sandbox(binary="/bin/true")
    with pytest.raises(cordon.ConnectionLost, match="exit code 0"):
        sandbox.run("pass")
    sandbox = cordon.Sandbox(binary="/bin/cat")  # echoes the request
    with pytest.raises(cordon.CordonError):
        sandbox.run("pass")
    sandbox.close()


def test_system_without_posix_spawn_is_unsupported(monkeypatch):
    monkeypatch.delattr("os.posix_spawn")
    with cordon.Sandbox(policy={"preset": "strict"}) as sandbox, pytest.raises(cordon.Unsupported, match="by its url"):
        sandbox.run("pass")
