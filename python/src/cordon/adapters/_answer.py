"""Describes results and errors for a model."""

from __future__ import annotations

from typing import Any, List

from .._errors import CordonError, Unreadable
from .._result import Result

DESCRIPTION = (
    "Run Python code in a sandbox without network or files, and get back what it prints. "
    "Each call starts fresh: nothing is kept between calls. Print what you want to see."
)


def describe(result: Result) -> str:
    """Returns the output, and after a failure what happened and what was blocked."""
    parts: List[str] = []
    if result.stdout:
        parts.append(result.stdout.rstrip("\n"))
    if result.value is not None:
        parts.append(f"result = {_short(result.value)}")
    if result.stdout_truncated:
        parts.append("(the output was cut: print less)")
    if result.stderr and result.exception is None:  # stderr would repeat the traceback
        parts.append(result.stderr.rstrip("\n"))
    if not result.ok:
        trace = result.exception.traceback.rstrip("\n") if result.exception else ""
        parts.append(trace or f"Failed: {result.error}")
        if trace and result.outcome not in ("raised", "malformed"):
            parts.append(f"Failed: {result.error}")
        for v in result.violations:
            if result.outcome != "refused":
                parts.append(f"Blocked: {v.op}({v.detail}). {v.hint}".rstrip())
    return "\n".join(parts) or "The code succeeded and printed nothing."


def error_for_model(problem: CordonError) -> str:
    """Returns the text for an error that the model caused, and raises one that the developer
    caused."""
    if isinstance(problem, Unreadable) or problem.field == "script":
        return f"Failed: {problem}"
    raise problem


def _short(value: Any, most: int = 4000) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"
