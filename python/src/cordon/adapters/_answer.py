"""Describes results and errors for a model."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Tuple

from .._errors import CordonError, Gone, Unknown, Unreadable
from .._result import Display, Result

_KEPT = (
    "Variables, functions, imports and files in the current directory stay from call to call. "
    "If they are missing, the sandbox was restarted: make them again. "
)
_FRESH = "Each call starts fresh: nothing is kept between calls. "

# What pictures begin with: models and libraries refuse others, and a guest can display anything.
_PICTURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8", "image/webp": b"RIFF"}


def description(keeps: bool) -> str:
    """Returns what a tool says of itself."""
    about = "Run Python code in a sandbox without network and without the files of this machine, and get back what it prints"
    return f"{about}. {_FRESH}Print what you want to see." if not keeps else f"{about} and the value of the last line. {_KEPT}"[:-1]


def describe(result: Result) -> str:
    """Returns the output, and after a failure what happened and what was blocked."""
    parts: List[str] = []
    if result.stdout:
        parts.append(result.stdout.rstrip("\n"))
    parts += [shown.text for shown in result.display if shown.text]
    if result.value is not None:
        parts.append(f"result = {_short(result.value)}")
    if result.stdout_truncated:
        parts.append("(the output was cut: print less)")
    if result.stderr and result.exception is None:  # stderr would repeat the traceback
        parts.append(result.stderr.rstrip("\n"))
    if not result.ok:
        parts += failure(result)
    return "\n".join(parts) or "The code succeeded and printed nothing."


def failure(result: Result) -> List[str]:
    """Returns what happened and what was blocked."""
    trace = result.exception.traceback.rstrip("\n") if result.exception else ""
    parts = [trace or f"Failed: {result.error}"]
    if trace and result.outcome not in ("raised", "malformed"):
        parts.append(f"Failed: {result.error}")
    if result.outcome != "refused":
        parts += [f"Blocked: {v.op}({v.detail}). {v.hint}".rstrip() for v in result.violations]
    if result.step is not None and not result.step.survived:
        parts.append("The session has ended: its variables and files are lost.")
    return parts


def pictures(shown: Iterable[Display]) -> Iterator[Tuple[str, bytes]]:
    """Yields one picture of each object that has one: its MIME type, and its data."""
    for one in shown:
        for kind, beginning in _PICTURES.items():
            data = one.data(kind)
            if data is not None and data.startswith(beginning):
                yield kind, data
                break


def error_for_model(problem: CordonError) -> str:
    """Returns the text for an error that the model caused, or after which it can go on in a new
    session, and raises one that the developer caused."""
    if isinstance(problem, (Gone, Unknown, Unreadable)) or problem.field == "script":
        return f"Failed: {problem}"
    raise problem


def _short(value: Any, most: int = 4000) -> str:
    text = repr(value)
    return text if len(text) <= most else text[:most] + "…"
