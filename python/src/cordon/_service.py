"""The transport to a running service (``cordon serve``), by URL or Unix socket."""

from __future__ import annotations

import asyncio
import atexit
import http.client
import os
import select
import socket
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Dict, List, Mapping, Optional, Tuple, Union
from urllib.parse import quote, unquote, urlsplit

from . import _json
from ._errors import Busy, Closed, ConnectionLost, CordonError, Forbidden, InvalidRequest, NothingSent, Unknown, Unsupported
from ._hooks import Hooks, HookSource
from ._locks import new_lock
from ._session import Handle
from ._transport import Transport, checked

if TYPE_CHECKING:
    from ._files import Source
    from ._transport import Answer, Request

#: The number of concurrent requests of event loops.
_AT_ONCE = 64
# How many of the last called hooks stay open: half of what a service allows a caller.
_HOOKS = 16
# How long to wait for a service to close a hook or session, in seconds. A run has its own limits.
_CLOSE_TIMEOUT = 5.0
# The methods of orders for files, and their headers: contents are no JSON.
_METHODS = {"list": "GET", "read": "GET", "write": "PUT", "remove": "DELETE"}
_RAW = {"Content-Type": "application/octet-stream", "Accept": "*/*"}
# The error for a proxy's answer.
_PROXY_STATUS = {401: Forbidden, 403: Forbidden, 407: Forbidden, 429: Busy, 502: ConnectionLost, 503: Busy, 504: ConnectionLost}


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


class _Exchange:
    """An active request. Another thread may end it by shutting down its connection; the service
    then ends the guest."""

    def __init__(self) -> None:
        self._lock = new_lock()
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
            raise Closed("the request was canceled")

    def end(self) -> None:
        with self._lock:
            self.ended = True
            if self._connection is not None and self._connection.sock is not None:
                with suppress(OSError):  # the service closed it first
                    self._connection.sock.shutdown(socket.SHUT_RDWR)


class Service(Transport):
    """The HTTP API as a transport. Connections are kept and reused. A request is sent once: if
    the answer is lost, the guest may have run, and must not run again."""

    def __init__(self, url: str, token: Optional[str] = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "unix"):
            raise InvalidRequest(f"url is {url!r}: write http://HOST:PORT, https://HOST or unix:/PATH/TO/SOCKET")
        # urlsplit takes "http:127.0.0.1:80" for a path, and the host would default to localhost.
        if not parts.path.startswith("/") if parts.scheme == "unix" else not parts.hostname:
            raise InvalidRequest(f"url is {url!r}, which names no host: write http://HOST:PORT, https://HOST or unix:/PATH/TO/SOCKET")
        self._parts, self._base = parts, "" if parts.scheme == "unix" else parts.path.rstrip("/")
        self._name = "the service at " + ":".join(parts_of(url))
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = "Bearer " + token
        self._closed = False
        self._reset()
        _instances.add(self)

    def _reset(self) -> None:
        """Starts with no connections and new locks: a forked process must not use its parent's."""
        self._lock = new_lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._hooks = Hooks(_HOOKS)
        self._sessions: Dict[str, ServiceSession] = {}  # open ones
        self.dropped: List[ServiceSession] = []  # those that nobody uses any more
        self._pool: Optional[ThreadPoolExecutor] = None

    # Connections

    def _connection(self) -> http.client.HTTPConnection:
        """Returns a kept connection that is still open, or a new one."""
        while True:
            with self._lock:
                if self._closed:
                    raise Closed("the sandbox is closed")
                if not self._idle:
                    break
                kept = self._idle.pop()
            if _usable(kept):
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

    def ask(self, request: Request, brief: bool = False) -> Answer:
        return self._ask(request, _Exchange())

    def _ask(self, request: Request, exchange: _Exchange) -> Answer:
        if "check" in request:
            return self._post("/v1/checks", request["check"], exchange)
        if "hook" in request:
            return {"status": "ok", "hook": self._post("/v1/hooks", request["hook"], exchange)["id"]}
        return self._post("/v1/runs", request, exchange)

    def call(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        return self._call(hook, call, _Exchange())

    def _call(self, hook: HookSource, call: Dict[str, Any], exchange: _Exchange) -> Answer:
        while True:
            handle = ""
            try:
                handle = self._hooks.known(hook) or self._hooks.opened(hook, lambda: self._open(hook, exchange))
                return self._post(f"/v1/hooks/{handle}/calls", call, exchange)
            except NothingSent:
                exchange.raise_if_ended()  # otherwise the caller that was opening it gave up
            except Unknown:
                self._hooks.forget(hook, handle)  # the service closes idle hooks

    def _open(self, hook: HookSource, exchange: _Exchange) -> str:
        """Opens a hook. A caller may have only so many open, and other processes may share the
        token, so older hooks are closed to make room."""
        self._close_hooks(self._hooks.spare())
        while True:
            try:
                return str(self._ask(hook.request(), exchange)["hook"])
            except Busy:
                oldest = self._hooks.drop(1)
                if not oldest:
                    raise
                self._close_hooks(oldest)
            except (Closed, ConnectionLost):
                if exchange.ended:
                    raise NothingSent from None  # we ended it: other callers open the hook themselves
                raise

    def _close_hooks(self, handles: List[str]) -> None:
        with suppress(Closed, ConnectionLost):  # the service closes idle hooks anyway
            for handle in handles:
                self._send("DELETE", f"/v1/hooks/{handle}", None, _Exchange(), _CLOSE_TIMEOUT)

    def open_session(self, options: Dict[str, Any]) -> Handle:
        return self._open_session(options, _Exchange())

    def _open_session(self, options: Dict[str, Any], exchange: _Exchange) -> ServiceSession:
        self._close_dropped()
        try:
            answer = self._post("/v1/sessions", options, exchange)
        except Unknown:
            raise Unsupported(f"{self._name} has no sessions: it needs a newer version of cordon") from None
        session = ServiceSession(self, str(answer["session"]))
        self._sessions[session.path] = session
        return session

    def _close_dropped(self) -> None:
        while self.dropped:
            self._close_session(self.dropped.pop())

    def _close_session(self, session: ServiceSession) -> None:
        """Closes a session that is still open."""
        if self._sessions.pop(session.path, None) is not None:
            with suppress(CordonError):  # the service closes idle sessions anyway
                self._send("DELETE", session.path, None, _Exchange(), _CLOSE_TIMEOUT)

    def close_sessions(self) -> None:
        for session in list(self._sessions.values()):
            self._close_session(session)

    def _post(self, path: str, body: Any, exchange: _Exchange) -> Answer:
        return self._answer(*self._send("POST", path, _json.write(body).encode("ascii"), exchange))

    def _send(
        self,
        method: str,
        path: str,
        payload: Union[bytes, BinaryIO, None],
        exchange: _Exchange,
        patience: Optional[float] = None,
        headers: Mapping[str, str] = {},
    ) -> Tuple[http.client.HTTPResponse, bytes]:
        connection = self._connection()
        try:
            exchange.begin(connection)
            connection.sock.settimeout(patience)
            try:
                connection.request(method, self._base + path, payload, {**self._headers, **headers})
            except (BrokenPipeError, ConnectionResetError):
                pass  # the service refused the body, and may have sent a reason
            response = connection.getresponse()
            text = response.read()
            exchange.over()
        except (OSError, http.client.HTTPException) as problem:
            connection.close()
            raise ConnectionLost(f"{self._name} closed the connection before it answered; the guest may have run: {problem}") from problem
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
            # A proxy between us and the service answered.
            words = text[:200].decode("utf-8", "replace").strip()
            kind = _PROXY_STATUS.get(response.status, CordonError)
            raise kind(f"{self._name} is not cordon, or is behind a proxy that answered {response.status} {response.reason}: {words}")
        answer = _json.read(text)
        if response.status >= 400:
            # A problem document of RFC 9457, as an error like those of a child.
            words = answer.get("detail") or answer.get("title") or f"{response.status} {response.reason}"
            answer = {**answer, "class": answer.get("class", "internal"), "error": words}
        return checked(answer)

    # For tasks: each request runs in a thread.

    async def ask_async(self, request: Request, brief: bool = False) -> Answer:
        answer: Answer = await self._in_thread(self._ask, request)
        return answer

    async def call_async(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        answer: Answer = await self._in_thread(self._call, hook, call)
        return answer

    async def open_session_async(self, options: Dict[str, Any]) -> Handle:
        session: ServiceSession = await self._in_thread(self._open_session, options)
        return session

    async def _in_thread(self, work: Any, *args: Any) -> Any:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="cordon")
            pool = self._pool
        exchange = _Exchange()
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work, *args, exchange)
        except asyncio.CancelledError:
            exchange.end()
            raise

    def close(self) -> None:
        self.close_sessions()
        self._close_hooks(self._hooks.drop(len(self._hooks)))
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            pool, self._pool = self._pool, None
        for connection in idle:
            connection.close()
        if pool is not None:
            pool.shutdown(wait=False)


class ServiceSession(Handle):
    """A session of a service."""

    def __init__(self, service: Service, handle: str) -> None:
        self._service, self.path = service, "/v1/sessions/" + quote(handle, safe="")

    def step(self, request: Request) -> Answer:
        return self._service._post(self.path + "/steps", request, _Exchange())

    async def step_async(self, request: Request) -> Answer:
        answer: Answer = await self._service._in_thread(self._service._post, self.path + "/steps", request)
        return answer

    def file(self, what: str, name: str, source: Source) -> Any:
        return self._file(what, name, source, _Exchange())

    async def file_async(self, what: str, name: str, source: Source) -> Any:
        return await self._service._in_thread(self._file, what, name, source)

    def _file(self, what: str, name: str, source: Source, exchange: _Exchange) -> Any:
        path = self.path + "/files" + ("/" + quote(name) if name else "")
        with open(source, "rb") if isinstance(source, str) else nullcontext(source) as payload:
            response, text = self._service._send(_METHODS[what], path, payload, exchange, headers=_RAW)
        if what == "read" and response.status == 200:
            return text
        if what == "remove" and response.status == 204:
            return None
        answer = self._service._answer(response, text)
        return answer["files"] if what == "list" else answer

    def variables(self) -> Answer:
        return self._variables(_Exchange())

    async def variables_async(self) -> Answer:
        answer: Answer = await self._service._in_thread(self._variables)
        return answer

    def _variables(self, exchange: _Exchange) -> Answer:
        return self._service._answer(*self._service._send("GET", self.path + "/variables", None, exchange))

    def interrupt(self) -> None:
        response, text = self._service._send("POST", self.path + "/interrupt", b"", _Exchange())
        if response.status >= 400:
            self._service._answer(response, text)

    def close(self) -> None:
        self._service._close_session(self)

    async def close_async(self) -> None:
        await self._service._in_thread(lambda _: self.close())

    def forget(self) -> None:
        self._service._sessions.pop(self.path, None)

    def drop(self) -> None:
        self._service.dropped.append(self)

    def end(self) -> Optional[CordonError]:
        return Closed("the sandbox of this session is closed") if self._service._closed else None


def _usable(connection: http.client.HTTPConnection) -> bool:
    """Whether a kept connection can be used: one with data to read was closed by the service."""
    if connection.sock is None or connection.sock.fileno() < 0:
        return False
    if not hasattr(select, "poll"):
        return not select.select([connection.sock], [], [], 0)[0]
    poll = select.poll()  # select cannot handle large descriptor numbers
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)


_instances: weakref.WeakSet[Service] = weakref.WeakSet()


@atexit.register
def _close_sessions() -> None:
    """A service keeps idle sessions for a while; nobody can use those of this process any more."""
    for service in list(_instances):
        service.close_sessions()


def _after_fork() -> None:
    for service in list(_instances):
        service._reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def parts_of(url: str) -> Tuple[str, str]:
    """Returns the scheme and the rest, for a repr without secrets."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.rpartition("@")[2] or parts.path
