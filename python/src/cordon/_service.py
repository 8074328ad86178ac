"""A running service (``cordon serve``), by URL or Unix socket."""

from __future__ import annotations

import asyncio
import http.client
import os
import select
import socket
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Dict, List, Optional, Tuple
from urllib.parse import unquote, urlsplit

from . import _json
from ._errors import Busy, Closed, ConnectionLost, CordonError, Forbidden, InvalidRequest, NothingSent, Unknown
from ._hooks import Hooks
from ._transport import Answer, HookSource, Order, Transport, checked

#: How many requests of event loops are under way at once.
_AT_ONCE = 64
# How many hooks are kept open, of those called last: half of what a service lets a caller have.
_HOOKS = 16
# How long to wait for a service that is to close a hook, in seconds. A run has its own limits.
_FAREWELL = 5.0
# What a proxy's answer means.
_OF_OTHERS = {401: Forbidden, 403: Forbidden, 407: Forbidden, 429: Busy, 502: ConnectionLost, 503: Busy, 504: ConnectionLost}


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


class _Exchange:
    """A request that is under way, which another thread may end: by shutting down its
    connection, whereupon the service ends the guest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Optional[http.client.HTTPConnection] = None
        self.ended = False

    def begin(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self.raise_if_ended()
            self._connection = connection

    def over(self) -> None:
        with self._lock:
            self._connection = None

    def raise_if_ended(self) -> None:
        if self.ended:
            raise Closed("nobody waits for this answer")

    def end(self) -> None:
        with self._lock:
            self.ended = True
            if self._connection is not None and self._connection.sock is not None:
                with suppress(OSError):  # the other side was quicker
                    self._connection.sock.shutdown(socket.SHUT_RDWR)


class Service(Transport):
    """The HTTP API as a transport. Connections are kept and used again. A request is sent
    once: where an answer is lost, the guest may have run, and it is not for us to run it
    again."""

    def __init__(self, url: str, token: Optional[str] = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "unix"):
            raise InvalidRequest(f"url is {url!r}: write http://HOST:PORT, https://HOST or unix:/PATH/TO/SOCKET")
        # urlsplit takes "http:127.0.0.1:80" for a path, and the host would be our own.
        if not parts.path.startswith("/") if parts.scheme == "unix" else not parts.hostname:
            raise InvalidRequest(f"url is {url!r}, which names no host: write http://HOST:PORT, https://HOST or unix:/PATH/TO/SOCKET")
        self._parts, self._base = parts, "" if parts.scheme == "unix" else parts.path.rstrip("/")
        self._name = "the service at " + ":".join(parts_of(url))
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        self._closed = False
        self._reset()
        _everybody.add(self)

    def _reset(self) -> None:
        """Connections, and the locks around them, are not for a forked process."""
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._hooks = Hooks(_HOOKS)
        self._pool: Optional[ThreadPoolExecutor] = None

    # Connections

    def _connection(self) -> http.client.HTTPConnection:
        """One that is kept and still open, or a new one."""
        while True:
            with self._lock:
                if self._closed:
                    raise Closed("the sandbox is closed")
                if not self._idle:
                    break
                kept = self._idle.pop()
            if _silent(kept):
                return kept
            kept.close()
        if self._parts.scheme == "unix":
            new: http.client.HTTPConnection = _UnixConnection(unquote(self._parts.path))
        else:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            new = kind(self._parts.hostname or "localhost", self._parts.port)
        try:
            new.connect()
        except OSError as problem:
            raise ConnectionLost(f"{self._name} cannot be reached: {problem}") from problem
        return new

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    # Requests

    def ask(self, order: Order, brief: bool = False) -> Answer:
        return self._ask(order, _Exchange())

    def _ask(self, order: Order, exchange: _Exchange) -> Answer:
        if "check" in order:
            return self._post("/v1/checks", order["check"], exchange)
        if "hook" in order:
            return {"status": "ok", "hook": self._post("/v1/hooks", order["hook"], exchange)["id"]}
        return self._post("/v1/runs", order, exchange)

    def call(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        return self._call(hook, call, _Exchange())

    def _call(self, hook: HookSource, call: Dict[str, Any], exchange: _Exchange) -> Answer:
        while True:
            handle = ""
            try:
                handle = self._hooks.known(hook) or self._hooks.opened(hook, lambda: self._open(hook, exchange))
                return self._post(f"/v1/hooks/{handle}/calls", call, exchange)
            except NothingSent:
                exchange.raise_if_ended()  # else whoever was about to open it has given up
            except Unknown:
                self._hooks.forget(hook, handle)  # the service closes what is not called for long

    def _open(self, hook: HookSource, exchange: _Exchange) -> str:
        """Makes room: a caller may have so many open, and perhaps other processes have."""
        self._close_hooks(self._hooks.spare())
        while True:
            try:
                return str(self._ask(hook.order(), exchange)["hook"])
            except Busy:
                oldest = self._hooks.drop(1)
                if not oldest:
                    raise
                self._close_hooks(oldest)
            except (Closed, ConnectionLost):
                if exchange.ended:
                    raise NothingSent from None  # by us: nobody else needs to know
                raise

    def _close_hooks(self, handles: List[str]) -> None:
        with suppress(Closed, ConnectionLost):  # what is not closed now will be when nobody calls it
            for handle in handles:
                self._send("DELETE", f"/v1/hooks/{handle}", None, _Exchange(), _FAREWELL)

    def _post(self, path: str, body: Any, exchange: _Exchange) -> Answer:
        return self._answer(*self._send("POST", path, _json.write(body).encode("ascii"), exchange))

    def _send(
        self, method: str, path: str, payload: Optional[bytes], exchange: _Exchange, patience: Optional[float] = None
    ) -> Tuple[http.client.HTTPResponse, bytes]:
        connection = self._connection()
        try:
            exchange.begin(connection)
            connection.sock.settimeout(patience)
            try:
                connection.request(method, self._base + path, payload, self._headers)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it does not want all of it, and may have said why
            response = connection.getresponse()
            text = response.read()
            exchange.over()
        except (OSError, http.client.HTTPException) as problem:
            connection.close()
            raise ConnectionLost(f"{self._name} went away before it answered; the guest may have run: {problem}") from problem
        except BaseException:
            connection.close()  # which ends the guest
            raise
        if response.will_close:
            connection.close()
        else:
            self._keep(connection)
        return response, text

    def _answer(self, response: http.client.HTTPResponse, text: bytes) -> Answer:
        if response.headers.get_content_type() not in ("application/json", "application/problem+json"):
            # Something that stands in between, and speaks for itself.
            words = text[:200].decode("utf-8", "replace").strip()
            kind = _OF_OTHERS.get(response.status, CordonError)
            raise kind(f"{self._name} gave no answer of cordon's, but {response.status} {response.reason}: {words}")
        answer = _json.read(text)
        if response.status >= 400:
            # A problem of RFC 9457, in the words of the other frontends.
            words = answer.get("detail") or answer.get("title") or f"{response.status} {response.reason}"
            answer = {**answer, "class": answer.get("class", "internal"), "error": words}
        return checked(answer)

    # For tasks, in threads.

    async def ask_async(self, order: Order, brief: bool = False) -> Answer:
        return await self._aside(self._ask, order)

    async def call_async(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        return await self._aside(self._call, hook, call)

    async def _aside(self, work: Any, *args: Any) -> Answer:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="cordon")
            pool = self._pool
        exchange = _Exchange()
        try:
            answer: Answer = await asyncio.get_running_loop().run_in_executor(pool, work, *args, exchange)
            return answer
        except asyncio.CancelledError:
            exchange.end()
            raise

    def close(self) -> None:
        self._close_hooks(self._hooks.drop(len(self._hooks)))
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            pool, self._pool = self._pool, None
        for connection in idle:
            connection.close()
        if pool is not None:
            pool.shutdown(wait=False)


def _silent(connection: http.client.HTTPConnection) -> bool:
    """Whether a kept connection can be used: one that has something to say was closed."""
    if connection.sock is None or connection.sock.fileno() < 0:
        return False
    if not hasattr(select, "poll"):
        return not select.select([connection.sock], [], [], 0)[0]
    poll = select.poll()  # select has no room for large numbers
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)


_everybody: weakref.WeakSet[Service] = weakref.WeakSet()


def _after_fork() -> None:
    for service in list(_everybody):
        service._reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def parts_of(url: str) -> Tuple[str, str]:
    """Scheme and the rest, for a repr without secrets."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2] or parts.path
