"""Errors, and their causes.

A guest that failed is a Result; :class:`SandboxError` is that Result as an exception, for
callers that want one. Every other :class:`CordonError` is not the guest's fault: the request is
wrong, the host cannot run it, or cordon failed.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple, Type

    from ._result import Finding, Result


class CordonError(Exception):
    """The request was not answered with a Result."""

    #: The class of the error, as on every frontend of cordon: "invalid", "busy", …
    kind = "internal"
    #: The field of the request that is wrong: "script", "limits.memory"; empty if it is none.
    field = ""


class InvalidRequest(CordonError, ValueError):
    """The request or the policy is wrong; the message says where."""

    kind = "invalid"


class NotJSON(InvalidRequest, TypeError):
    """A value in the request is not JSON; the message says which, and what to pass instead."""


class Refused(InvalidRequest):
    """The language rules refuse a hook. ``findings`` lists all reasons."""

    def __init__(self, words: str, findings: List[Finding]) -> None:
        super().__init__(words)
        self.findings = findings

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.findings)


class Forbidden(CordonError):
    """The service does not allow this caller to make the request."""

    kind = "forbidden"


class Unknown(CordonError):
    """The request names something that does not exist."""

    kind = "unknown"


class Gone(CordonError):
    """What the request names has ended, such as a session."""

    kind = "gone"


class Unsupported(CordonError):
    """This host cannot provide what the policy requires; nothing ran."""

    kind = "unsupported"


class NotFound(CordonError):
    """The cordon binary, the interpreter or a program does not exist."""

    kind = "not_found"


class Busy(CordonError):
    """Too many requests are running: try again."""

    kind = "busy"


class Closed(CordonError):
    """The sandbox was closed, or the service is about to end."""

    kind = "closed"


class ConnectionLost(CordonError):
    """cordon ended before it answered. The guest may have run."""


class Unreadable(CordonError):
    """This Python refuses to read the guest's value: a number is too long."""

    def __init__(self, words: str, loosely: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(words)
        self._loosely = loosely

    def readable(self) -> Dict[str, Any]:
        """Returns the answer with such numbers as text, if it can be read."""
        if self._loosely is None or "class" in self._loosely:
            raise self
        return self._loosely


class SandboxError(CordonError):
    """The guest failed. ``result`` says how."""

    kind = "guest"

    def __init__(self, result: Result) -> None:
        super().__init__(result.error or result.outcome)
        self.result = result

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.result,)  # by default exceptions are pickled by their message


class NothingSent(Exception):
    """No byte of the request was sent: it can be sent to another cordon."""


# Tracebacks show the public module.
for _class in (
    CordonError, InvalidRequest, NotJSON, Refused, Forbidden, Unknown, Gone, Unsupported, NotFound, Busy, Closed, ConnectionLost, Unreadable, SandboxError,
):
    _class.__module__ = "cordon"

BY_KIND: Dict[str, Type[CordonError]] = {
    cls.kind: cls for cls in (InvalidRequest, Forbidden, Unknown, Gone, Unsupported, NotFound, Busy, Closed)
}


def failure(answer: Dict[str, Any]) -> CordonError:
    """The exception for an answer that is not a Result."""
    words = str(answer.get("error", "cordon sent no reason"))
    if answer.get("findings"):
        from ._result import Finding

        return Refused(words, [Finding.of(f) for f in answer["findings"]])
    error = BY_KIND.get(str(answer.get("class")), CordonError)(words)
    error.field = str(answer.get("field", ""))
    return error
