"""Tests failing services and proxies: nothing runs twice, and the error says what happened."""

import json
import socket
import threading

import pytest
from conftest import until

import cordon
from cordon import _service
from cordon._hooks import HookSource

RESULT = {
    "id": "", "status": "ok", "outcome": "succeeded", "result": 1, "error": None, "error_type": None, "exit_code": 0, "signal": None,
    "stdout": "", "stderr": "", "stdout_truncated": False, "stderr_truncated": False, "variables": {}, "violations": [],
    "usage": {}, "enforcement": {"tier": "process", "walls": {}, "violations_observed": True},
}  # fmt: skip


def answer(status="200 OK", kind="application/json", body=None, length=None):
    body = json.dumps(RESULT).encode() if body is None else body
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length or len(body)}\r\n\r\n".encode() + body


class Answering:
    """Serves connections with the given answers, and closes each after its last answer."""

    def __init__(self, *connections):
        self.requests = 0
        self.closed = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.work, args=(connections,), daemon=True)
        self.thread.start()

    def work(self, connections):
        for answers in connections:
            connection, _ = self.listener.accept()
            with connection, connection.makefile("rb") as incoming:
                for text in answers:
                    if not self.request(incoming):
                        break
                    if text is None:
                        incoming.read()  # until the client gives up
                    else:
                        connection.sendall(text)
            self.closed.set()

    def request(self, incoming):
        length = 0
        for line in incoming:
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            if line == b"\r\n":
                incoming.read(length)
                self.requests += 1
                return True
        return False


@pytest.mark.parametrize(
    "text, kind, words",
    [
        (answer("502 Bad Gateway", "text/html", b"<h1>no upstream</h1>"), cordon.ConnectionLost, "502 Bad Gateway: <h1>no upstream"),
        (answer("503 Service Unavailable", "text/plain", b"later"), cordon.Busy, "503 Service Unavailable: later"),
        (answer("403 Forbidden", "text/html", b"sign in"), cordon.Forbidden, "sign in"),
        (answer("200 OK", "text/html", b"<p>Welcome to the hotel</p>"), cordon.CordonError, "Welcome to the hotel"),
        (answer("302 Found", "text/html", b"moved"), cordon.CordonError, "302 Found"),
        (answer("500 Oops", "application/json", b"{}"), cordon.CordonError, "500 Oops"),
        (answer("200 OK", "application/json", b"[1]"), cordon.CordonError, "not a JSON object"),
        (answer("200 OK", "application/json", b'{"status": "ok"}'), cordon.CordonError, "versions"),
        (answer(length=100_000), cordon.ConnectionLost, "may have run"),
        (b"nonsense\r\n\r\n", cordon.ConnectionLost, "may have run"),
        (b"", cordon.ConnectionLost, "may have run"),
    ],
)
def test_foreign_answers_are_errors(text, kind, words):
    service = Answering([text], [answer()])
    with cordon.Sandbox(url=service.url) as sandbox:
        with pytest.raises(kind, match=words) as told:
            sandbox.run("result = 1")
        assert not isinstance(told.value, (cordon.InvalidRequest, cordon.SandboxError))
        assert service.requests == 1


def test_run_is_not_repeated_when_its_answer_is_lost():
    """Also on a kept connection, and if the next connection would get an answer."""
    service = Answering([answer(), b""], [answer()])
    with cordon.Sandbox(url=service.url) as sandbox:
        assert sandbox.run("result = 1").value == 1
        with pytest.raises(cordon.ConnectionLost, match="may have run"):
            sandbox.run("result = 1")
        assert service.requests == 2
        assert sandbox.run("result = 1").value == 1
        assert service.requests == 3


def test_connection_closed_by_the_service_is_not_reused():
    service = Answering([answer()], [answer()])
    with cordon.Sandbox(url=service.url) as sandbox:
        assert sandbox.run("result = 1").value == 1
        assert service.closed.wait(10)
        assert sandbox.run("result = 1").value == 1
        assert service.requests == 2


def test_task_canceled_before_it_began_sends_nothing():
    exchange = _service._Exchange()
    exchange.end()
    service = Answering([answer()])
    with cordon.Sandbox(url=service.url) as sandbox, pytest.raises(cordon.Closed):
        sandbox._transport._ask({"script": "result = 1"}, exchange)
    service.thread.join(10)
    assert service.requests == 0


def test_ending_a_finished_exchange_ends_no_other():
    service = Answering([answer(), answer()])
    with cordon.Sandbox(url=service.url) as sandbox:
        exchange = _service._Exchange()
        sandbox._transport._ask({"script": "result = 1"}, exchange)
        exchange.end()
        assert sandbox.run("result = 1").value == 1
    assert service.requests == 2


def test_waiting_caller_opens_hook_that_another_gave_up():
    """Canceling the task that opens a hook must not fail the other callers."""
    opened = answer("201 Created", body=b'{"id": "h"}')
    service = Answering([None], [opened, answer()])
    with cordon.Sandbox(url=service.url) as sandbox:
        hook, first, ends = HookSource("pass"), _service._Exchange(), {}

        def call(name, exchange):
            try:
                ends[name] = sandbox._transport._call(hook, {}, exchange)["result"]
            except cordon.CordonError as problem:
                ends[name] = type(problem)

        one = threading.Thread(target=call, args=("one", first))
        one.start()
        until(lambda: service.requests == 1)
        two = threading.Thread(target=call, args=("two", _service._Exchange()))
        two.start()
        first.end()
        one.join(30)
        two.join(30)
        assert ends == {"one": cordon.Closed, "two": 1}
        assert service.requests == 3
        sandbox._transport._hooks.drop(1)  # this service has no more answers


def test_closing_hooks_does_not_wait_for_a_silent_service(monkeypatch):
    """It waits once for all hooks, and not forever."""
    monkeypatch.setattr(_service, "_CLOSE_TIMEOUT", 0.2)
    service = Answering([answer("201 Created", body=b'{"id": "h"}'), answer(), None], [None] * 9)
    sandbox = cordon.Sandbox(url=service.url)
    assert sandbox.hook("pass").call().value == 1
    for n in range(8):
        sandbox._transport._hooks.opened(n, lambda: "another")
    sandbox.close()
    service.closed.wait(30)
    assert service.requests == 3
