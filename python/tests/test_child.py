"""Tests interrupts and broken children: other waiting callers are unaffected or get an error."""

import itertools
import linecache
import os
import random
import resource
import signal
import sys
import threading

import pytest
from conftest import child_of, until

import cordon
from cordon import _child, _errors, _hooks, _transport
from cordon._child import Child

DOUBLE = "result = 2 * context"
HOOK = "result['output'] = 2 * game_state"


class Others:
    """A thread that sends requests until it is stopped, while another caller is interrupted."""

    def __init__(self, ask):
        self.ask, self.answered, self.wrong = ask, 0, []
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def work(self):
        for n in itertools.count():
            if self.stop.is_set():
                return
            try:
                if self.ask(n) != 2 * n:
                    self.wrong.append(n)
            except cordon.ConnectionLost:
                pass  # the expected error
            except BaseException as problem:
                self.wrong.append(problem)
            self.answered += 1

    def __enter__(self):
        self.thread.start()
        return self

    def go_on(self):
        before = self.answered
        until(lambda: self.answered > before + 1 or self.wrong)

    def __exit__(self, *problem):
        self.stop.set()
        self.thread.join(30)
        assert not self.thread.is_alive(), "somebody waits for ever"
        assert not self.wrong


def interrupted_at(step, files, work):
    """Does the work, with an interrupt before its step-th line in these files. Returns whether
    it got that far."""
    left = [step]

    def on_line(frame, event, _):
        # No signal comes between a with statement and the release of its lock: test_locks.py.
        if event == "line" and not linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with "):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        return on_line

    def on_call(frame, event, _):
        return on_line if frame.f_code.co_filename in files else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        work()
        return left[0] <= 0
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)


@pytest.mark.parametrize("way", ["run", "hook", "new hook"])
def test_interrupt_at_any_line_affects_no_other_caller(own, way):
    hook = own.hook(HOOK)
    files = [_transport.__file__, _hooks.__file__ if way == "new hook" else _child.__file__]

    def ask(n):
        return own.run(DOUBLE, context=n).value if way == "run" else hook(n)

    ask(1)
    with Others(ask) as others:
        for step in itertools.count(1):
            if way == "new hook":
                child_of(own).hooks.drop(9)
            if not interrupted_at(step, files, lambda: ask(1)):
                break
            others.go_on()
        assert step > 20
        assert ask(4) == 8


def test_many_interrupts(own):
    """Sends real signals at random times."""

    def interrupt(number, frame):
        if frame is not None and frame.f_code.co_filename == _child.__file__:
            raise KeyboardInterrupt

    hook, chance, came = own.hook(HOOK), random.Random(6), 0
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with Others(lambda n: own.run(DOUBLE, context=n).value) as others:
            for n in range(600):
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-6, 1e-3))
                try:
                    assert hook(n) == 2 * n
                except KeyboardInterrupt:
                    came += 1
                except cordon.ConnectionLost:
                    pass
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            others.go_on()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert came > 10
    assert hook(4) == 8


def test_child_that_never_answers_is_not_restarted_forever(tmp_path):
    count = tmp_path / "count"
    program = tmp_path / "cordon"
    program.write_text(f"#!/bin/sh\necho >> {count}\nexit 3\n")
    program.chmod(0o755)
    for _ in range(20):
        with cordon.Sandbox(binary=str(program)) as broken:
            with pytest.raises(cordon.ConnectionLost, match="exit code 3"):
                broken.run("result = 1")
            hook = broken.hook("result['output'] = 1")
            with pytest.raises(cordon.ConnectionLost, match="exit code 3"):
                hook()
    assert len(count.read_text()) <= 80


@pytest.mark.parametrize("broken", [b"\x7fELF and no more", b"#!/no/such/interpreter\n"])
def test_program_that_cannot_be_started_is_an_error(tmp_path, broken):
    program = tmp_path / "cordon"
    program.write_bytes(broken)
    program.chmod(0o755)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(3):
        with pytest.raises(cordon.NotFound, match="cannot be started"):
            Child([str(program)])
    after = len(os.listdir("/proc/self/fd")) if before else 0
    assert after <= before  # a thread may have closed the pipe of a test before


def test_out_of_descriptors_is_busy(own):
    """A process without free descriptors gets an error, and works again when it has some."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    held = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
    try:
        with pytest.raises(OSError):
            while True:
                held.append(os.open("/dev/null", os.O_RDONLY))
        os.close(held.pop())  # enough for the child's stderr file, but not for its pipes
        with pytest.raises(cordon.Busy, match="cannot be started now: Too many open files"):
            own.run("result = 1")
    finally:
        for fd in held:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert own.run("result = 1").value == 1


@pytest.mark.load
def test_number_of_kept_hooks_is_bounded(own):
    for n in range(90):
        assert own.hook(f"result['output'] = {n}")() == n
    assert len(child_of(own).hooks) <= 65


@pytest.mark.load
def test_called_hook_stays_open(own):
    used = own.hook(HOOK)
    used(1)
    hooks = child_of(own).hooks
    opened = hooks.known(used._source)
    assert opened
    for n in range(100):
        own.hook(f"result['output'] = {n}")()
        assert used(n) == 2 * n
    assert hooks.known(used._source) == opened


@pytest.mark.load
def test_request_that_is_too_large_fails_only_its_caller(own):
    """It gets an answer with its own id, and the child keeps running."""
    assert own.run("result = 1").ok
    pid = child_of(own).pid
    with Others(lambda n: own.run(DOUBLE, context=n).value) as others:
        with pytest.raises(cordon.InvalidRequest, match="longer than"):
            own.run("result = 1", context="x" * (100 << 20))
        others.go_on()
    assert child_of(own).pid == pid


def test_signal_without_a_name():
    child = Child(["/bin/sleep", "60"])
    os.kill(child.pid, signal.SIGRTMIN + 3)
    child._process.wait()
    with pytest.raises(_errors.NothingSent):
        child.ask("}")
    with pytest.raises(cordon.ConnectionLost, match=f"with signal {signal.SIGRTMIN + 3}"):
        child.raise_if_useless()
    child.close()


def test_broken_child_is_reaped(own):
    own.run("result = 1")
    child = child_of(own)
    child._break("no more")
    assert child._process.returncode == -signal.SIGKILL
    assert own.run("result = 2").value == 2
