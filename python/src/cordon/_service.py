"""A running service (``cordon serve``), by URL or Unix socket."""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import threading
import uuid
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional, Tuple
from urllib.parse import unquote, urlsplit

from . import _json
from ._errors import ConnectionLost, InvalidRequest, Unknown
from ._transport import Answer, HookSource, Order, Transport, checked

#: How many requests of event loops are under way at once.
_AT_ONCE = 64


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


class Service(Transport):
    """The HTTP API as a transport. Connections are kept and used again."""

    def __init__(self, url: str, token: Optional[str] = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "unix"):
            raise InvalidRequest(f"url is {url!r}: write http://HOST:PORT, https://HOST or unix:/PATH/TO/SOCKET")
        self._parts, self._base = parts, "" if parts.scheme == "unix" else parts.path.rstrip("/")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        self._reset()
        _everybody.add(self)

    def _reset(self) -> None:
        """Connections, and the locks around them, are not for a forked process."""
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._hooks: Dict[HookSource, str] = {}
        self._pool: Optional[ThreadPoolExecutor] = None

    def _connect(self) -> http.client.HTTPConnection:
        if self._parts.scheme == "unix":
            return _UnixConnection(unquote(self._parts.path))
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        return kind(self._parts.hostname or "localhost", self._parts.port)

    # Requests

    def ask(self, order: Order, brief: bool = False) -> Answer:
        return self._ask(order, [])

    def _ask(self, order: Order, open_now: List[http.client.HTTPConnection]) -> Answer:
        if "check" in order:
            return self._post("/v1/checks", order["check"], open_now)
        if "hook" in order:
            return {"status": "ok", "hook": self._post("/v1/hooks", order["hook"], open_now)["id"]}
        return self._post("/v1/runs", order, open_now, repeatable=True)

    def call(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        return self._call(hook, call, [])

    def _call(self, hook: HookSource, call: Dict[str, Any], open_now: List[http.client.HTTPConnection]) -> Answer:
        while True:
            handle = self._hooks.get(hook)
            if handle is None:
                handle = self._hooks[hook] = self._ask(hook.order(), open_now)["hook"]
            try:
                return self._post(f"/v1/hooks/{handle}/calls", call, open_now, repeatable=True)
            except Unknown:
                self._hooks.pop(hook, None)  # the service closes what is not called for long

    def _post(self, path: str, body: Any, open_now: List[http.client.HTTPConnection], repeatable: bool = False) -> Answer:
        headers = self._headers
        if repeatable:
            # A kept connection may have been closed by the other side. With a key, the
            # same request again is no second run.
            headers = {**headers, "Idempotency-Key": uuid.uuid4().hex}
        payload = _json.write(body).encode("ascii")
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                return self._exchange(connection, path, payload, headers, open_now)
            except (OSError, http.client.HTTPException):
                connection.close()
                if not repeatable:
                    raise ConnectionLost(f"the service at {self._parts.geturl()} went away before it answered") from None
        try:
            return self._exchange(self._connect(), path, payload, headers, open_now)
        except (OSError, http.client.HTTPException) as problem:
            raise ConnectionLost(f"the service at {self._parts.geturl()} gave no answer: {problem}") from problem

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        path: str,
        payload: bytes,
        headers: Dict[str, str],
        open_now: List[http.client.HTTPConnection],
    ) -> Answer:
        open_now.append(connection)
        connection.request("POST", self._base + path, payload, headers)
        response = connection.getresponse()
        text = response.read()
        open_now.remove(connection)
        if response.will_close:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)
        answer = _json.read(text)
        if response.status >= 400:
            # A problem of RFC 9457, in the words of the other doors.
            answer = {**answer, "class": answer.get("class", "internal"), "error": answer.get("detail", answer.get("title"))}
        return checked(answer)

    # For tasks, in threads: to end a request is to close its connection.

    async def ask_async(self, order: Order, brief: bool = False) -> Answer:
        return await self._aside(self._ask, order)

    async def call_async(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        return await self._aside(self._call, hook, call)

    async def _aside(self, work: Any, *args: Any) -> Answer:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="cordon")
            pool = self._pool
        open_now: List[http.client.HTTPConnection] = []
        try:
            answer: Answer = await asyncio.get_running_loop().run_in_executor(pool, work, *args, open_now)
            return answer
        except asyncio.CancelledError:
            for connection in list(open_now):
                if connection.sock is not None:
                    connection.sock.shutdown(socket.SHUT_RDWR)
            raise

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
            pool, self._pool = self._pool, None
        for connection in idle:
            connection.close()
        if pool is not None:
            pool.shutdown(wait=False)


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
