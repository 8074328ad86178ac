"""SubprocessSandboxBackend: runs the caller's functions behind walls."""

from __future__ import annotations

import base64
import binascii
import os
import sys
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Tuple

from . import _functions, _plain, _units
from ._errors import CordonError
from ._result import Result
from ._sandbox import Sandbox


@dataclass
class SandboxConfig:
    """Limits of a call, and the types that it may return.

    ``allow`` lists types that results may contain besides plain data and dataclasses. Their
    constructors are called with arguments that the guest chooses.
    """

    timeout: float = 30.0
    memory_limit_mb: int = 512
    working_directory: Optional[str] = None
    allow: Tuple[type, ...] = ()


class SubprocessSandboxBackend:
    """Runs a function with arguments in a separate Python.

    >>> backend = SubprocessSandboxBackend(SandboxConfig(timeout=5))
    >>> import math
    >>> backend.execute("root", math.isqrt, {})
    Traceback (most recent call last):
    ...
    RuntimeError: tool 'root' failed: TypeError: ...
    >>> import textwrap
    >>> backend.execute("shorten", textwrap.shorten, {"text": "a long text", "width": 10})
    'a [...]'

    The guest has this Python and its installed packages, but no other files, environment or
    network of this process. Its result is read by a reader for plain data (_plain.py), never by
    pickle.
    """

    def __init__(self, sandbox_config: Optional[Any] = None) -> None:
        self._config = SandboxConfig() if sandbox_config is None else sandbox_config
        self._timeout = float(_setting(self._config, "timeout", 30.0))
        self._memory = int(_setting(self._config, "memory_limit_mb", 512))
        self._directory: Optional[str] = _setting(self._config, "working_directory", None)
        self._allow = tuple(_setting(self._config, "allow", ()))
        self._limits = {
            "wall_time": _units.duration_text(self._timeout, "timeout"),
            "cpu_time": _units.duration_text(self._timeout, "timeout"),
            "memory": _units.size_text(self._memory << 20, "memory_limit_mb"),
        }
        self._sandbox: Optional[Sandbox] = None
        self._script = _guest_script()

    def execute(self, tool_name: str, func: Callable[..., Any], arguments: Dict[str, Any]) -> Any:
        """Returns ``func(**arguments)``. Raises RuntimeError if the function raises, exceeds a
        limit, ends otherwise, or returns something that is not plain data."""
        try:
            request = self._request(func, arguments)
            answer = self._open()._transport.ask(request)
        except (_functions.CannotPack, CordonError) as problem:
            raise RuntimeError(f"tool {tool_name!r} failed: {problem}") from problem
        return self._value(tool_name, answer)

    async def aexecute(self, tool_name: str, func: Callable[..., Any], arguments: Dict[str, Any]) -> Any:
        """:meth:`execute` for a task."""
        try:
            request = self._request(func, arguments)
            answer = await self._open()._transport.ask_async(request)
        except (_functions.CannotPack, CordonError) as problem:
            raise RuntimeError(f"tool {tool_name!r} failed: {problem}") from problem
        return self._value(tool_name, answer)

    def get_capabilities(self) -> Dict[str, Any]:
        """Returns what this backend enforces on this host, as measured by a run."""
        result = self._probe()
        walls = result.enforcement if result is not None else None
        return {
            "backend": "subprocess",
            "available": result is not None,
            "isolation_level": "process",
            "filesystem_isolation": walls is not None and walls.holds("mount", "landlock"),
            "network_isolation": walls is not None and walls.holds("net", "seccomp"),
            "memory_limit_mb": self._memory,
            "timeout": self._timeout,
        }

    def is_available(self) -> bool:
        """Whether functions can be run here."""
        return self._probe() is not None

    def _probe(self) -> Optional[Result]:
        try:
            result = self._open().run("pass")
        except CordonError:
            return None
        return result if result.ok else None

    def _open(self) -> Sandbox:
        """Functions run on this Python, which has them."""
        if self._sandbox is None:
            self._sandbox = Sandbox(policy=self._policy() or None, python=sys.executable)
        return self._sandbox

    def _policy(self) -> Dict[str, Any]:
        """Returns the policy for the functions of a backend: the caller that makes the backend
        is its operator. If CORDON_POLICY names a policy, nothing is added to it."""
        if os.environ.get("CORDON_POLICY"):
            return {}
        policy: Dict[str, Any] = {"maxima": {name: limit for name, limit in self._limits.items() if self._above(name)}}
        if self._directory is not None:
            policy["read"] = [os.path.abspath(self._directory)]
        return {key: value for key, value in policy.items() if value}

    def _above(self, name: str) -> bool:
        return self._memory > 1024 if name == "memory" else self._timeout > 60

    def _request(self, func: Callable[..., Any], arguments: Dict[str, Any]) -> Dict[str, Any]:
        context = _functions.pack(func, arguments)
        context["cwd"] = os.path.abspath(self._directory) if self._directory is not None else None
        return {"script": self._script, "context": context, "limits": self._limits, "name": "<tool>"}

    def _value(self, tool_name: str, answer: Dict[str, Any]) -> Any:
        if answer["outcome"] != "succeeded":
            exception = answer["exception"]
            words = f"{exception['type']}: {exception['message']}" if exception else answer["error"]
            if answer["outcome"] == "raised" and exception.get("traceback"):
                words += "\n" + exception["traceback"]
            elif exception:
                words = answer["error"]
            elif answer["outcome"] == "exited" and answer["stderr"]:
                words += "\n" + answer["stderr"][:1000].rstrip("\n")
            raise RuntimeError(f"tool {tool_name!r} failed: {words}")
        if answer["result"] is None:
            raise RuntimeError(f"tool {tool_name!r} returned no result")
        try:
            return _plain.loads(base64.b64decode(answer["result"], validate=True), self._allow)
        except (_plain.Refusal, binascii.Error, TypeError, ValueError) as problem:
            raise RuntimeError(f"tool {tool_name!r} returned a result that cannot be read: {problem}") from None


def _setting(config: Any, name: str, default: Any) -> Any:
    """Returns a setting, by our name or by that of a framework's configuration."""
    for spelled in (name, "sandbox_" + name):
        if isinstance(config, dict) and spelled in config:
            return config[spelled]
        value = getattr(config, spelled, None)
        if value is not None:
            return value
    return default


def _guest_script() -> str:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_guest.py"), encoding="utf-8") as file:
        return file.read()
