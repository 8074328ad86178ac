"""The answer of a run for a model."""

from __future__ import annotations

from typing import Any, List

from .._errors import CordonError, Unreadable
from .._result import Result

DESCRIPTION = (
    "Run Python code in a sandbox without network or files, and get back what it prints. "
    "Each call starts anew: nothing is kept between calls. Print what you want to see."
)


def words(result: Result) -> str:
    """Output first; then, after a failure, what happened and what was blocked."""
    parts: List[str] = []
    if result.stdout:
        parts.append(result.stdout.rstrip("\n"))
    if result.value is not None:
        parts.append(f"result = {_short(result.value)}")
    if result.stdout_truncated:
        parts.append("(the output was cut: print less)")
    if result.stderr and result.exception is None:  # whose traceback it would have
        parts.append(result.stderr.rstrip("\n"))
    if not result.ok:
        trace = result.exception.traceback.rstrip("\n") if result.exception else ""
        parts.append(trace or f"It failed: {result.error}")
        if trace and result.outcome not in ("raised", "malformed"):
            parts.append(f"It failed: {result.error}")
        for v in result.violations:
            if result.outcome != "refused":
                parts.append(f"Blocked: {v.op}({v.detail}). {v.hint}".rstrip())
    return "\n".join(parts) or "It ran to its end and printed nothing."


def told(problem: CordonError) -> str:
    """What the model did wrong is for the model; what the developer did is raised."""
    if isinstance(problem, Unreadable) or str(problem).startswith("script "):
        return f"It failed: {problem}"
    raise problem


def _short(value: Any, most: int = 4000) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"
