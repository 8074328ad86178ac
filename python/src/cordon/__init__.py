"""Run code that you do not trust, behind real walls.

>>> import cordon
>>> cordon.run("result = sum(range(10))").value
45

See docs/python.md of the project for the APIs of other sandboxes that are here by name:
``execute``, ``create_sandbox``, ``run_mod_hook`` and ``SubprocessSandboxBackend``.
"""

from typing import TYPE_CHECKING, Any

from ._errors import (
    Busy,
    Closed,
    ConnectionLost,
    CordonError,
    Forbidden,
    InvalidRequest,
    NotFound,
    Refused,
    SandboxError,
    Unknown,
    Unreadable,
    Unsupported,
)
from ._execute import ExecutionResult, aexecute, execute
from ._result import Enforcement, Finding, GuestException, Result, Usage, Violation, WallStatus
from ._sandbox import Hook, Sandbox, acheck, arun, check, connect, hook, run
from ._scripts import SubprocessSandbox, arun_mod_hook, create_sandbox, run_mod_hook

if TYPE_CHECKING:
    from ._backend import SandboxConfig, SubprocessSandboxBackend

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imports what most programs do not use, and what takes as long to import as the rest."""
    if name in ("SandboxConfig", "SubprocessSandboxBackend"):
        from . import _backend

        return getattr(_backend, name)
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


__all__ = [
    "Busy",
    "Closed",
    "ConnectionLost",
    "CordonError",
    "Enforcement",
    "ExecutionResult",
    "Finding",
    "Forbidden",
    "GuestException",
    "Hook",
    "InvalidRequest",
    "NotFound",
    "Refused",
    "Result",
    "Sandbox",
    "SandboxConfig",
    "SandboxError",
    "SubprocessSandbox",
    "SubprocessSandboxBackend",
    "Unknown",
    "Unreadable",
    "Unsupported",
    "Usage",
    "Violation",
    "WallStatus",
    "acheck",
    "aexecute",
    "arun",
    "arun_mod_hook",
    "check",
    "connect",
    "create_sandbox",
    "execute",
    "hook",
    "run",
    "run_mod_hook",
]
