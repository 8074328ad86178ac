"""What the tests share. They need a cordon binary: CORDON_BIN, or PATH."""

import os
import signal
import time

import pytest

import cordon
from cordon import _sandbox


def child_of(sandbox):
    """The child that serves a sandbox, as our own process sees it."""
    return sandbox._transport.child()


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def until(condition, seconds=60):
    """Waits for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come to pass")
        time.sleep(0.01)


@pytest.fixture(scope="session")
def sandbox():
    return _sandbox.default()


@pytest.fixture
def own():
    """A sandbox with a child that no other test has."""
    with cordon.Sandbox(policy={"limits": {"scratch": "3MiB"}}) as own:
        yield own
