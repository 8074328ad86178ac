"""Shared helpers and fixtures. The tests need a cordon binary: CORDON_BIN, or on PATH."""

import importlib
import os
import signal
import time

import pytest

import cordon
from cordon import _process, _sandbox


def pytest_addoption(parser):
    parser.addoption("--pipes", choices=["poll", "thread"], default="poll", help="how answers are read: by poll, or by a thread, as on Windows")


def pytest_configure(config):
    if config.getoption("--pipes") == "thread":
        _process.new_pipes = _process.ThreadedPipes


def child_of(sandbox):
    """Returns the Child object that serves a sandbox."""
    return sandbox._transport.child()


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def until(condition, seconds=60):
    """Waits until a condition holds that another process fulfills."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it did not come to pass")
        time.sleep(0.01)


def lacks(what):
    """Skips a test, or fails it if this host must have everything, as in CI."""
    if os.environ.get("CORDON_REQUIRE_HOST") == "1":
        pytest.fail(what)
    pytest.skip(what, allow_module_level=True)


def needs(module):
    """Returns a module that scripts/setup installs for these tests."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        lacks(str(missing))


@pytest.fixture(scope="session")
def sandbox():
    return _sandbox.default()


@pytest.fixture
def own():
    """A sandbox with a child of its own, which no other test uses."""
    with cordon.Sandbox(policy={"limits": {"scratch": "3MiB"}}) as own:
        yield own
