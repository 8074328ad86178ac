"""The result of a run."""

from __future__ import annotations

from ._errors import CordonError, SandboxError
from ._record import Record

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional


class Finding(Record):
    """One finding of the language rules in a script."""

    rule: str
    line: int
    column: int
    reason: str
    hint: str = ""
    allowed: List[str] = []
    #: What is advised, and about what, for programs: docs/hints.md lists the codes.
    hint_code: str = ""
    hint_data: Dict[str, str] = {}

    _hidden = ("allowed", "hint_data")

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Finding:
        return cls._known({"line": 0, "column": 0, **raw})

    def __str__(self) -> str:
        words = f"{self.line}:{self.column}: {self.rule}: {self.reason}"
        return f"{words}; {self.hint}" if self.hint else words


class Violation(Record):
    """An attempt that a wall stopped.

    ``claimed`` is true for what only the guest says: its exception names a path, and
    nothing else shows that it tried to open it.
    """

    wall: str
    op: str
    detail: str = ""
    line: int = 0
    column: int = 0
    count: int = 1
    hint: str = ""
    allowed: List[str] = []
    claimed: bool = False
    #: What is advised, and about what, for programs: docs/hints.md lists the codes.
    hint_code: str = ""
    hint_data: Dict[str, str] = {}

    _hidden = ("allowed", "hint_data")


class GuestException(Record):
    """An exception that the guest did not catch."""

    type: str
    message: str
    traceback: str = ""
    line: int = 0

    _hidden = ("traceback",)


class Usage(Record):
    """What a run used."""

    wall_time_ms: float = 0
    cpu_time_ms: float = 0
    memory_bytes: int = 0
    output_bytes: int = 0
    result_bytes: int = 0


class WallStatus(Record):
    """Whether a wall stood: ``state`` is ``"enforced"`` or ``"missing"``.

    ``detail`` says how the wall is made, or why it is missing.
    """

    state: str
    detail: str = ""


class Enforcement(Record):
    """The walls between the guest and this host."""

    tier: str
    walls: Dict[str, WallStatus]
    violations_observed: bool

    def holds(self, *walls: str) -> bool:
        """Whether one of these walls stood."""
        return any(wall in self.walls and self.walls[wall].state == "enforced" for wall in walls)


class Result(Record):
    """How a guest ended, and what it left.

    ``ok`` says whether it ran to its end; ``unwrap()`` gives its value, or raises
    :class:`SandboxError` with this Result in it.
    """

    status: str
    outcome: str
    value: Any
    error: Optional[str]
    error_type: Optional[str]
    exception: Optional[GuestException]
    exit_code: Optional[int]
    signal: Optional[str]
    stdout: str
    stderr: str
    stdout_truncated: bool
    stderr_truncated: bool
    variables: Dict[str, Any]
    usage: Usage
    violations: List[Violation]
    enforcement: Enforcement
    #: The Result as cordon gave it.
    raw: Dict[str, Any]

    _equal_without = ("raw",)

    @classmethod
    def of(cls, raw: Dict[str, Any]) -> Result:
        try:
            return cls._of(raw)
        except (KeyError, TypeError, AttributeError, ValueError) as problem:
            raise CordonError(f"the versions of cordon and this package do not match: a Result without {problem}") from problem

    @classmethod
    def _of(cls, raw: Dict[str, Any]) -> Result:
        exception, enforcement = raw.get("exception"), raw["enforcement"]
        return cls(
            status=raw["status"],
            outcome=raw["outcome"],
            value=raw["result"],
            error=raw["error"],
            error_type=raw["error_type"],
            exception=GuestException._known(exception) if exception else None,
            exit_code=raw["exit_code"],
            signal=raw["signal"],
            stdout=raw["stdout"],
            stderr=raw["stderr"],
            stdout_truncated=raw["stdout_truncated"],
            stderr_truncated=raw["stderr_truncated"],
            variables=raw["variables"],
            usage=Usage._known(raw["usage"]),
            violations=[Violation._known(v) for v in raw["violations"]],
            enforcement=Enforcement(
                enforcement["tier"],
                {wall: WallStatus._known(status) for wall, status in enforcement["walls"].items()},
                enforcement["violations_observed"],
            ),
            raw=raw,
        )

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    def unwrap(self) -> Any:
        """Returns the guest's value, or raises SandboxError."""
        if not self.ok:
            raise SandboxError(self)
        return self.value

    def __repr__(self) -> str:
        parts = [self.outcome]
        if self.ok:
            parts.append(f"value={_short(self.value)}")
        else:
            parts.append(f"error={_short(self.error)}")
        for name in ("stdout", "stderr"):
            text = getattr(self, name)
            if text and (name == "stdout" or self.exception is None):
                parts.append(f"{name}={_short(text)}")
        if self.variables:
            parts.append(f"variables={_short(self.variables)}")
        for v in self.violations[:3]:
            parts.append(f"blocked={v.op}({v.detail})" if v.detail else f"blocked={v.op}")
        if len(self.violations) > 3:
            parts.append(f"and {len(self.violations) - 3} more")
        parts.append(f"{self.usage.wall_time_ms:.1f} ms")
        return f"<Result {', '.join(parts)}>"


def _short(value: Any, most: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"
