"""The interface between the public API and cordon.

A request is a line of ``cordon run --json-lines``: a run, a check, or opening a hook. Both
transports take the same requests and give the same answers.
"""

from __future__ import annotations

import atexit
import os

from ._child import Child
from ._errors import Closed, NothingSent, Unknown, failure
from ._locks import new_lock

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Set, Tuple

    from ._hooks import HookSource
    from ._session import ChildSession, Handle

    Request = Dict[str, Any]
    Answer = Dict[str, Any]


class Transport:
    """Answers requests, for threads and for tasks. A brief answer has no usage and no
    enforcement."""

    def ask(self, request: Request, brief: bool = False) -> Answer:
        raise NotImplementedError

    async def ask_async(self, request: Request, brief: bool = False) -> Answer:
        raise NotImplementedError

    def call(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        """Calls a hook, and opens it first if it is not open."""
        raise NotImplementedError

    async def call_async(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        raise NotImplementedError

    def open_session(self, options: Dict[str, Any]) -> Handle:
        raise NotImplementedError

    async def open_session_async(self, options: Dict[str, Any]) -> Handle:
        raise NotImplementedError

    #: Whether an empty script ran.
    _tried = False

    def try_out(self) -> None:
        """Runs an empty script, once, and raises the reason if none can run."""
        if not self._tried:
            self.ask({"script": "pass"}, brief=True)
            self._tried = True

    def close(self) -> None:
        raise NotImplementedError


def checked(answer: Answer) -> Answer:
    """Returns the answer, or raises the error that it carries: errors have a class."""
    if "class" in answer:
        raise failure(answer)
    return answer


class Local(Transport):
    """A child of the cordon binary, started with the first request and again after it has died.
    A forked process gets its own."""

    def __init__(self, command: List[str], policy: Optional[str] = None) -> None:
        self._command, self._policy = command, policy
        self._lock = new_lock()
        self._child: Optional[Child] = None
        self._closed = False
        _instances.add(self)

    def child(self) -> Child:
        child = self._child
        if child is not None and child.alive:
            return child
        with self._lock:
            if self._closed:
                raise Closed("the sandbox is closed")
            if self._child is None or not self._child.alive:
                self._child = Child(self._command, self._policy)
            return self._child

    async def _child_async(self) -> Child:
        child = self._child
        if child is not None and child.alive:
            return child
        import asyncio

        # Starting a process takes milliseconds and would block the loop.
        return await asyncio.get_running_loop().run_in_executor(None, self.child)

    def ask(self, request: Request, brief: bool = False) -> Answer:
        self.child()  # a new one starts while we import what reads and writes JSON
        return checked(_read(self._ask(_body(request, brief))))

    def _ask(self, body: str) -> bytes:
        while True:
            child = self.child()
            try:
                return child.ask(body)
            except NothingSent:
                child.raise_if_useless()  # it had died before; the next child is new

    async def ask_async(self, request: Request, brief: bool = False) -> Answer:
        body = _body(request, brief)
        while True:
            child = await self._child_async()
            try:
                return checked(_read(await child.ask_async(body)))
            except NothingSent:
                child.raise_if_useless()

    def call(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        while True:
            child, handle = self.child(), ""
            try:
                handle = child.hooks.known(hook) or child.hooks.opened(hook, lambda: _open(child, hook))
                return checked(_read(child.ask(_call(handle, call, brief))))
            except NothingSent:
                child.raise_if_useless()
            except Unknown:
                # cordon closed it, because many other hooks were called since. The call did not run.
                child.hooks.forget(hook, handle)

    async def call_async(self, hook: HookSource, call: Dict[str, Any], brief: bool = False) -> Answer:
        while True:
            child, handle = await self._child_async(), ""
            try:
                handle = child.hooks.known(hook) or await child.hooks.opened_async(hook, lambda: _open_async(child, hook))
                return checked(_read(await child.ask_async(_call(handle, call, brief))))
            except NothingSent:
                child.raise_if_useless()
            except Unknown:
                child.hooks.forget(hook, handle)

    def open_session(self, options: Dict[str, Any]) -> Handle:
        from ._session import ChildSession, _quietly_close

        while True:
            child = self.child()
            for unused in _dropped(child):
                _quietly_close(unused)
            try:
                return ChildSession(child, str(checked(_read(child.ask(_body({"session": options}))))["session"]))
            except NothingSent:
                child.raise_if_useless()

    async def open_session_async(self, options: Dict[str, Any]) -> Handle:
        from ._session import ChildSession, _quietly_close_async

        while True:
            child = await self._child_async()
            for unused in _dropped(child):
                await _quietly_close_async(unused)
            try:
                return ChildSession(child, str(checked(_read(await child.ask_async(_body({"session": options}))))["session"]))
            except NothingSent:
                child.raise_if_useless()

    def close(self) -> None:
        _instances.discard(self)
        with self._lock:
            self._closed = True
            child, self._child = self._child, None
        if child is not None:
            child.close()

    def after_fork(self) -> None:
        self._lock = new_lock()
        child, self._child = self._child, None
        if child is not None:
            child.forget()


def _open(child: Child, hook: HookSource) -> str:
    child.hooks.spare()  # cordon closes them without a request
    return str(checked(_read(child.ask(_body(hook.request()))))["hook"])


async def _open_async(child: Child, hook: HookSource) -> str:
    child.hooks.spare()
    return str(checked(_read(await child.ask_async(_body(hook.request()))))["hook"])


def _dropped(child: Child) -> List[ChildSession]:
    """Returns the sessions that nobody uses any more."""
    found = []
    while child.dropped:
        found.append(child.dropped.pop())
    return found


# _json, imported with the first request while the child starts. An import statement in a
# function takes as long as the rest of it: nothing of the import system is in the CPU's caches.
_codec: Any = None


def _load() -> Any:
    global _codec
    from . import _json

    _codec = _json
    return _json


def _body(request: Request, brief: bool = False) -> str:
    written: str = (_codec or _load()).write(request)
    return _brief_field(brief) + written[1:]


def _call(handle: str, call: Dict[str, Any], brief: bool) -> str:
    rest = f",{(_codec or _load()).write(call)[1:]}}}" if call else "}}"
    return f'{_brief_field(brief)}"call":{{"hook":"{handle}"{rest}'


def _read(answer: bytes) -> Answer:
    value: Answer = (_codec or _load()).read(answer)
    return value


def _brief_field(brief: bool) -> str:
    return '"brief":true,' if brief else ""


_instances: Set[Local] = set()  # those that are not closed


@atexit.register
def _close_all() -> None:
    for transport in list(_instances):
        transport.close()


def _after_fork() -> None:
    for transport in list(_instances):
        transport.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
