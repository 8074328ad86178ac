"""Run code that you do not trust, behind real walls.

>>> import cordon
>>> cordon.run("result = sum(range(10))").value
45

See docs/python.md of the project for the APIs of other sandboxes that are here by name:
``execute``, ``create_sandbox``, ``run_mod_hook`` and ``SubprocessSandboxBackend``.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any, List

    from ._backend import SandboxConfig, SubprocessSandboxBackend
    from ._errors import (
        Busy,
        Closed,
        ConnectionLost,
        CordonError,
        Forbidden,
        Gone,
        InvalidRequest,
        NotFound,
        Refused,
        SandboxError,
        Unknown,
        Unreadable,
        Unsupported,
    )
    from ._execute import ExecutionResult, aexecute, execute
    from ._files import Artifact, FileInfo
    from ._result import Display, Enforcement, Finding, GuestException, ModuleUse, Result, Step, Usage, Variable, Violation, WallStatus
    from ._sandbox import Hook, Sandbox, acheck, arun, check, connect, hook, run
    from ._scripts import SubprocessSandbox, arun_mod_hook, create_sandbox, run_mod_hook
    from ._session import Session

__version__ = "0.1.0"

# Each module is imported when one of its names is used for the first time: nobody needs all of
# them, and some take as long to import as Python takes to start.
_MODULES = {
    "_backend": {"SandboxConfig", "SubprocessSandboxBackend"},
    "_errors": {
        "Busy", "Closed", "ConnectionLost", "CordonError", "Forbidden", "Gone", "InvalidRequest", "NotFound", "Refused", "SandboxError",
        "Unknown", "Unreadable", "Unsupported",
    },
    "_execute": {"ExecutionResult", "aexecute", "execute"},
    "_files": {"Artifact", "FileInfo"},
    "_result": {"Display", "Enforcement", "Finding", "GuestException", "ModuleUse", "Result", "Step", "Usage", "Variable", "Violation", "WallStatus"},
    "_sandbox": {"Hook", "Sandbox", "acheck", "arun", "check", "connect", "hook", "run"},
    "_scripts": {"SubprocessSandbox", "arun_mod_hook", "create_sandbox", "run_mod_hook"},
    "_session": {"Session"},
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = getattr(__import__(__name__ + "." + module, fromlist=[name]), name)
            globals()[name] = value
            return value
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def load_ipython_extension(shell: Any) -> None:
    """Adds the magic ``%%cordon``, for ``%load_ext cordon``."""
    from ._magic import load

    load(shell)


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "Artifact",
    "Busy",
    "Closed",
    "ConnectionLost",
    "CordonError",
    "Display",
    "Enforcement",
    "ExecutionResult",
    "FileInfo",
    "Finding",
    "Forbidden",
    "Gone",
    "GuestException",
    "Hook",
    "InvalidRequest",
    "ModuleUse",
    "NotFound",
    "Refused",
    "Result",
    "Sandbox",
    "SandboxConfig",
    "SandboxError",
    "Session",
    "Step",
    "SubprocessSandbox",
    "SubprocessSandboxBackend",
    "Unknown",
    "Unreadable",
    "Unsupported",
    "Usage",
    "Variable",
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
