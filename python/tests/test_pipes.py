"""The parts of the child for systems without poll and without signals, tested on this one."""

import os
import select
import threading

import pytest
from conftest import child_of, until

import cordon
from cordon import _process
from cordon._process import Pipes, Process, ThreadedPipes, nameless_file, read_nameless

BOTH = pytest.mark.parametrize("kind", [Pipes, ThreadedPipes])


@pytest.fixture
def ends():
    """The ends of two pipes: ours, and the child's."""
    their_stdin, stdin = os.pipe()
    stdout, their_stdout = os.pipe()
    yield stdin, stdout, their_stdout
    os.close(their_stdin)
    os.close(stdin)


def is_closed(fd):
    try:
        os.fstat(fd)
    except OSError:
        return True
    return False


@BOTH
def test_chunks_come_in_order_until_the_end(ends, kind):
    stdin, stdout, theirs = ends
    pipes = kind(stdin, stdout)
    sent = os.urandom(1 << 20)
    writer = threading.Thread(target=lambda: (os.write(theirs, sent[:9]), os.write(theirs, sent[9:]), os.close(theirs)))
    writer.start()
    got = b""
    while True:
        pipes.wait()
        chunk = pipes.read()
        if not chunk:
            break
        got += chunk
    assert got == sent
    pipes.wait()
    assert pipes.read() == b""
    writer.join()
    pipes.close()
    until(lambda: is_closed(stdout))


@BOTH
def test_unread_answers_do_not_pile_up(ends, kind):
    """What nobody reads stays in the pipe, so that cordon waits."""
    stdin, stdout, theirs = ends
    pipes = kind(stdin, stdout)
    os.set_blocking(theirs, False)
    for _ in range(100):
        if not select.select([], [theirs], [], 0.2)[1]:
            break
        os.write(theirs, bytes(1 << 16))
    else:
        raise AssertionError("megabytes were read ahead")
    os.close(theirs)
    while pipes.wait() or pipes.read():
        pass
    pipes.close()
    until(lambda: is_closed(stdout))


def test_dropped_answers_keep_nobody_waiting(ends):
    stdin, stdout, theirs = ends
    pipes = ThreadedPipes(stdin, stdout)
    pipes.drop_rest()
    for _ in range(100):
        os.write(theirs, bytes(1 << 16))
    assert not pipes.writable()
    os.close(theirs)
    until(lambda: is_closed(stdout))


def test_notes_are_read_from_their_beginning(monkeypatch):
    for pread in (True, False):
        if not pread:
            monkeypatch.delattr(os, "pread")
        notes = nameless_file()
        os.write(notes, b"said")
        assert read_nameless(notes, 100) == b"said"
        os.close(notes)


@pytest.fixture
def as_on_windows(monkeypatch):
    """Children that are read by a thread and get no signals."""
    monkeypatch.setattr(_process, "new_pipes", ThreadedPipes)
    monkeypatch.setattr(Process, "has_signals", False)
    monkeypatch.setattr(Process, "terminate", None)


def test_child_without_signals_ends_with_its_input(as_on_windows):
    with cordon.Sandbox(policy={"limits": {"scratch": "5MiB"}}) as sandbox:
        assert sandbox.run("result = 1").value == 1
        child = child_of(sandbox)
    assert child._process.returncode == 0


def test_close_cancels_running_requests_without_signals(as_on_windows):
    sandbox = cordon.Sandbox(policy={"limits": {"scratch": "6MiB"}})
    assert sandbox.run("result = 1").value == 1
    child, ends = child_of(sandbox), []

    def work():
        try:
            sandbox.run("while True: pass", timeout=50)
        except cordon.Closed as problem:
            ends.append(problem)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: len(child._pending) == 3)
    sandbox.close()
    for thread in threads:
        thread.join(30)
    assert len(ends) == 3 and child._process.returncode == 0


def test_killed_child_is_replaced(as_on_windows):
    with cordon.Sandbox(policy={"limits": {"scratch": "7MiB"}}) as sandbox:
        assert sandbox.run("result = 1").value == 1
        child = child_of(sandbox)
        child._process.kill()
        child._process.wait()
        assert sandbox.run("result = 2").value == 2
        assert child_of(sandbox) is not child
