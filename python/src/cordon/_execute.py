"""execute(): runs code under the language rules and returns a dict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, TypedDict, Union

from . import _units
from ._errors import InvalidRequest, Unreadable
from ._sandbox import Own

if TYPE_CHECKING:
    from ._transport import Request

DEFAULT_TIMEOUT, MAX_TIMEOUT = 30, 60  # seconds
DEFAULT_MEMORY, MAX_MEMORY = 256, 1024  # MiB
DEFAULT_OUTPUT, MAX_OUTPUT = 65_536, 262_144  # bytes


class ExecutionResult(TypedDict):
    """The result of :func:`execute`: a plain dict."""

    stdout: str
    stderr: str
    return_code: int
    variables: Dict[str, Any]
    error: Optional[str]
    #: Whether more was written than ``output_limit``.
    stdout_truncated: bool
    stderr_truncated: bool
    #: The names of ``inspect_variables`` that the code has not set.
    missing_variables: List[str]


# The default policy allows 10 s of CPU time, but here code may use all of its timeout. The idle
# workers of a child with this policy already have that limit; asking for it in each request
# would need a new worker each time.
_own = Own({"limits": {"cpu_time": f"{MAX_TIMEOUT}s"}})


def execute(
    code: str,
    timeout: Union[int, float] = DEFAULT_TIMEOUT,
    memory: int = DEFAULT_MEMORY,
    output_limit: int = DEFAULT_OUTPUT,
    inspect_variables: Optional[Iterable[str]] = None,
    *,
    restricted: bool = True,
) -> ExecutionResult:
    """Runs Python code and returns ``stdout``, ``stderr``, ``return_code``, ``variables``
    and ``error``; ``stdout_truncated`` and ``stderr_truncated`` say whether output was cut,
    and ``missing_variables`` which of the names were not set.

    >>> execute("import math; print(math.sqrt(16))")["stdout"]
    '4.0\\n'
    >>> execute("x = 42", inspect_variables=["x"])["variables"]
    {'x': 42}
    >>> refused = execute("import os")
    >>> refused["return_code"], refused["error"].partition(" (")[0]
    (-1, "Import of module 'os' is not allowed")

    ``timeout`` is in seconds (at most 60), ``memory`` in MiB (at most 1024),
    ``output_limit`` in bytes, for stdout and stderr each (at most 262144). The language
    rules are on, in addition to the walls; ``restricted=False`` turns the rules off.

    ``return_code`` is the code's exit code, 1 after an exception, and -1 if the code was refused
    or ended from outside. ``error`` is None, or says what happened.
    """
    request = request_from(code, timeout, memory, output_limit, inspect_variables, restricted)
    try:
        answer = _own.sandbox()._transport.ask(request, brief=True)
    except InvalidRequest as problem:
        return refusal(str(problem))
    except Unreadable as problem:
        answer = problem.readable()
    return as_dict(answer, request)


async def aexecute(
    code: str,
    timeout: Union[int, float] = DEFAULT_TIMEOUT,
    memory: int = DEFAULT_MEMORY,
    output_limit: int = DEFAULT_OUTPUT,
    inspect_variables: Optional[Iterable[str]] = None,
    *,
    restricted: bool = True,
) -> ExecutionResult:
    """:func:`execute` for a task."""
    request = request_from(code, timeout, memory, output_limit, inspect_variables, restricted)
    try:
        answer = await _own.sandbox()._transport.ask_async(request, brief=True)
    except InvalidRequest as problem:
        return refusal(str(problem))
    except Unreadable as problem:
        answer = problem.readable()
    return as_dict(answer, request)


def request_from(
    code: str,
    timeout: Union[int, float],
    memory: int,
    output_limit: int,
    inspect_variables: Optional[Iterable[str]],
    restricted: bool,
) -> Request:
    code = _units.source(code, "code")
    limits = {}
    # Limits that are not given are the policy's defaults, which idle workers already have.
    if _within("timeout", timeout, MAX_TIMEOUT, "seconds") != DEFAULT_TIMEOUT:
        limits["wall_time"] = f"{max(1, round(timeout * 1e6))}us"  # 0 would be the default
    if _within("memory", memory, MAX_MEMORY, "MiB") != DEFAULT_MEMORY:
        limits["memory"] = f"{max(1, round(memory * (1 << 20)))}B"
    if _within("output_limit", output_limit, MAX_OUTPUT, "bytes") != DEFAULT_OUTPUT:
        limits["output"] = f"{int(output_limit)}B"
    # Empty code is valid.
    request: Request = {"script": code if code.strip() else "pass"}
    if restricted:
        request["restricted"] = True
    if limits:
        request["limits"] = limits
    if inspect_variables:
        request["variables"] = [inspect_variables] if isinstance(inspect_variables, str) else list(inspect_variables)
    return request


def _within(name: str, value: Union[int, float], most: int, unit: str) -> Union[int, float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}: give a number of {unit}")
    if not 0 < value <= most or (unit == "bytes" and value < 1):
        raise ValueError(f"{name} is {value}: give more than 0 and at most {most} {unit}")
    return value


def as_dict(answer: Dict[str, Any], request: Request) -> ExecutionResult:
    outcome, code, error = answer["outcome"], answer["exit_code"], answer["error"]
    if outcome == "refused":
        code, error = -1, _findings(answer["violations"])
    asked: List[str] = request.get("variables", [])
    left = answer["variables"]
    about_result = outcome == "invalid_output" or outcome == "out_of_result" and bool(left or not asked)
    if about_result and code == 0:
        error = None  # about `result`, which is an ordinary name here
    return {
        "stdout": answer["stdout"],
        "stderr": answer["stderr"],
        "return_code": -1 if code is None else code,
        "variables": {name: _shown(left[name]) for name in asked if name in left},
        "error": error,
        "stdout_truncated": answer["stdout_truncated"],
        "stderr_truncated": answer["stderr_truncated"],
        "missing_variables": [name for name in asked if name not in left],
    }


def refusal(words: str) -> ExecutionResult:
    """Returns the result for code that cannot be run: with a NUL byte, or too long."""
    return {
        "stdout": "", "stderr": "", "return_code": -1, "variables": {}, "error": words,
        "stdout_truncated": False, "stderr_truncated": False, "missing_variables": [],
    }


def _findings(violations: Any) -> str:
    """Returns all findings, one line each, and at the end the names that may be imported."""
    lines = []
    allowed: Any = None
    for v in violations:
        detail = v.get("detail", "")
        line = f"{detail[:1].upper()}{detail[1:]} (line {v.get('line', 0)})"
        lines.append(f"{line}: {v['hint']}" if v.get("hint") else line)
        allowed = v.get("allowed") or allowed
    if allowed:
        lines.append("Allowed here: " + ", ".join(allowed))
    return "\n".join(lines)


def _shown(value: Any) -> Any:
    """Returns a variable; a value that is not JSON as its repr."""
    if isinstance(value, dict) and set(value) == {"$type", "$repr"}:
        return value["$repr"]
    return value
