"""execute(): code in, a dict out, by the language rules."""

from __future__ import annotations

from typing import Any, Dict, Iterable, Optional, Union

from ._errors import InvalidRequest
from ._sandbox import default
from ._transport import Order

DEFAULT_TIMEOUT, MAX_TIMEOUT = 30, 60  # seconds
DEFAULT_MEMORY, MAX_MEMORY = 256, 1024  # MiB
DEFAULT_OUTPUT, MAX_OUTPUT = 65_536, 262_144  # bytes


def execute(
    code: str,
    timeout: Union[int, float] = DEFAULT_TIMEOUT,
    memory: int = DEFAULT_MEMORY,
    output_limit: int = DEFAULT_OUTPUT,
    inspect_variables: Optional[Iterable[str]] = None,
    *,
    restricted: bool = True,
) -> Dict[str, Any]:
    """Runs Python code and gives ``stdout``, ``stderr``, ``return_code``, ``variables``
    and ``error``.

    >>> execute("import math; print(math.sqrt(16))")["stdout"]
    '4.0\\n'
    >>> execute("x = 42", inspect_variables=["x"])["variables"]
    {'x': 42}
    >>> refused = execute("import os")
    >>> refused["return_code"], refused["error"].partition(" (")[0]
    (-1, "Import of module 'os' is not allowed")

    ``timeout`` is in seconds (at most 60), ``memory`` in MiB (at most 1024),
    ``output_limit`` in bytes, for stdout and stderr each (at most 262144). The language
    rules are on, above all the walls; ``restricted=False`` leaves the walls alone.

    ``return_code`` is the code's own: 0, 1 after an exception; -1 for what was refused or
    ended from outside. ``error`` is None, or says what happened.
    """
    order = order_of(code, timeout, memory, output_limit, inspect_variables, restricted)
    try:
        answer = default()._transport.ask(order, brief=True)
    except InvalidRequest as problem:
        return refusal(str(problem))
    return as_dict(answer)


async def aexecute(
    code: str,
    timeout: Union[int, float] = DEFAULT_TIMEOUT,
    memory: int = DEFAULT_MEMORY,
    output_limit: int = DEFAULT_OUTPUT,
    inspect_variables: Optional[Iterable[str]] = None,
    *,
    restricted: bool = True,
) -> Dict[str, Any]:
    """:func:`execute` for a task."""
    order = order_of(code, timeout, memory, output_limit, inspect_variables, restricted)
    try:
        answer = await default()._transport.ask_async(order, brief=True)
    except InvalidRequest as problem:
        return refusal(str(problem))
    return as_dict(answer)


def order_of(
    code: str,
    timeout: Union[int, float],
    memory: int,
    output_limit: int,
    inspect_variables: Optional[Iterable[str]],
    restricted: bool,
) -> Order:
    if not isinstance(code, str):
        raise TypeError(f"code is {type(code).__name__}: give the source as text")
    limits = {}
    # What is not said is the policy's own default, which workers that wait already have.
    if _within("timeout", timeout, MAX_TIMEOUT, "seconds") != DEFAULT_TIMEOUT:
        limits["wall_time"] = f"{round(timeout * 1e6)}us"
    if _within("memory", memory, MAX_MEMORY, "MiB") != DEFAULT_MEMORY:
        limits["memory"] = f"{round(memory * (1 << 20))}B"
    if _within("output_limit", output_limit, MAX_OUTPUT, "bytes") != DEFAULT_OUTPUT:
        limits["output"] = f"{output_limit}B"
    # Nothing at all is code, too.
    order: Order = {"script": code if code.strip() else "pass"}
    if restricted:
        order["restricted"] = True
    if limits:
        order["limits"] = limits
    if inspect_variables:
        order["variables"] = [inspect_variables] if isinstance(inspect_variables, str) else list(inspect_variables)
    return order


def _within(name: str, value: Union[int, float], most: int, unit: str) -> Union[int, float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}: give a number of {unit}")
    if not 0 < value <= most:
        raise ValueError(f"{name} is {value}: give more than 0 and at most {most} {unit}")
    return value


def as_dict(answer: Dict[str, Any]) -> Dict[str, Any]:
    refused = answer["outcome"] == "refused"
    code = answer["exit_code"]
    return {
        "stdout": answer["stdout"],
        "stderr": answer["stderr"],
        "return_code": -1 if refused or code is None else code,
        "variables": {name: _shown(value) for name, value in answer["variables"].items()},
        "error": _findings(answer["violations"]) if refused else answer["error"],
    }


def refusal(words: str) -> Dict[str, Any]:
    """For code that cannot be run at all: with a NUL byte, or too long."""
    return {"stdout": "", "stderr": "", "return_code": -1, "variables": {}, "error": words}


def _findings(violations: Any) -> str:
    """All findings, a line each, and what may be imported once, at the end."""
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
    """What is not JSON is shown as Python shows it."""
    if isinstance(value, dict) and set(value) == {"$type", "$repr"}:
        return value["$repr"]
    return value
