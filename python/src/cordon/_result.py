"""The result of a run."""

from __future__ import annotations

from ._errors import CordonError, SandboxError
from ._record import Record

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Mapping, Optional

    from ._files import Artifact


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
    nothing else shows that it tried to open it. ``module`` is the imported module that
    asked for it, which only the guest says too; it is empty for the script itself.
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
    module: str = ""
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


class ModuleUse(Record):
    """What an imported module of a script used, as the guest says, under a policy with
    ``module_rules``. ``raw["traffic"]`` of a Result has the hosts."""

    module: str
    files: List[str] = []
    files_omitted: int = 0
    threads: int = 0


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
    #: The policy's ``third_party`` if third-party code ran on a tier that is not made for it.
    third_party: Optional[str] = None

    def holds(self, *walls: str) -> bool:
        """Whether one of these walls stood."""
        return any(wall in self.walls and self.walls[wall].state == "enforced" for wall in walls)


class Display(Record):
    """An object that a step displayed, in all forms that it has. All of it is the guest's word.

    Jupyter shows its text and pictures. HTML and SVG are shown in a frame without scripts and
    without network, because they would otherwise act for the person who looks at them.
    """

    #: A text for each MIME type; base64 for types that are not text.
    forms: Dict[str, str]
    #: Whether it is the value of the step's last expression.
    value: bool = False

    @property
    def text(self) -> Optional[str]:
        """Its text/plain."""
        return self.forms.get("text/plain")

    @property
    def html(self) -> Optional[str]:
        """Its text/html as the guest wrote it: do not show it where scripts can run."""
        return self.forms.get("text/html")

    @property
    def png(self) -> Optional[bytes]:
        """Its image/png."""
        return self.data("image/png")

    def data(self, kind: str) -> Optional[bytes]:
        """Returns a form as bytes, text as UTF-8; None if it has no such form."""
        form = self.forms.get(kind)
        if form is None or kind.startswith("text/") or kind.endswith(("+xml", "json")):
            return None if form is None else form.encode("utf-8", "replace")
        from base64 import b64decode

        try:
            return b64decode(form, validate=True)
        except ValueError as problem:
            raise CordonError(f"{kind} is not base64: {problem}") from None

    def _repr_png_(self) -> Optional[bytes]:
        return self.png

    def _repr_html_(self) -> Optional[str]:
        source = self.html or self.forms.get("image/svg+xml")
        return None if source is None else _FRAME % _escaped(_NO_NETWORK + source)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Dict[str, str]:
        bundle = {kind: self.forms[kind] for kind in _HARMLESS if kind in self.forms}
        html = None if any(kind.startswith("image/") for kind in bundle) and not self.html else self._repr_html_()
        if html is not None:
            bundle["text/html"] = html
        return bundle or {"text/plain": repr(self)}

    @classmethod
    def _of(cls, raw: Mapping[str, Any]) -> Display:
        forms = {str(kind): str(form) for kind, form in raw["forms"].items()}
        return cls(forms, raw.get("value") is True)

    def __repr__(self) -> str:
        others = [kind for kind in self.forms if kind != "text/plain"]
        shown = [] if self.text is None else [_short(self.text)]
        return f"<Display {', '.join(shown + others)}>"


# What Jupyter can show as it is, whoever wrote it.
_HARMLESS = ("text/plain", "image/png", "image/jpeg", "image/gif", "image/webp")
# The frame has no script, form, plugin or network, and another origin than the page.
_FRAME = '<iframe sandbox="" srcdoc="%s" style="border:0;width:100%%;height:24em;resize:vertical;background:#fff"></iframe>'
_NO_NETWORK = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"


def _escaped(html: str) -> str:
    return html.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


class Step(Record):
    """What the Result of a session's step has in addition to that of a run."""

    #: Counts the steps of the session, from 1.
    number: int
    #: Whether the session goes on.
    survived: bool
    #: What the step displayed, in order.
    display: List[Display] = []
    #: How many objects it displayed above the bounds.
    display_omitted: int = 0
    #: The names of the global variables that the step made, bound to other objects, and removed.
    added: List[str] = []
    changed: List[str] = []
    removed: List[str] = []

    @classmethod
    def _of(cls, raw: Mapping[str, Any]) -> Step:
        return cls._known({**raw, "display": [Display._of(d) for d in raw["display"]]})


class Variable(Record):
    """A global variable of a session. It is the guest's word."""

    name: str
    type: str
    #: The bytes of the object itself, without those of others to which it refers.
    size: int
    #: A short form of the object on one line.
    text: str

    @classmethod
    def _of(cls, raw: Mapping[str, Any]) -> Variable:
        return cls(raw["name"], raw["type"], raw["bytes"], raw["text"])


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
    modules: List[ModuleUse]
    enforcement: Enforcement
    #: What it has written to the files that the request asked for, by name.
    artifacts: Dict[str, Artifact]
    #: How many of those there were above 1000.
    artifacts_omitted: int
    #: Why there may be others that could not be listed; empty if there are none.
    artifacts_error: str
    #: For the step of a session; None for other runs.
    step: Optional[Step]
    #: The Result as cordon gave it.
    raw: Dict[str, Any]

    _equal_without = ("raw",)

    @classmethod
    def of(cls, raw: Dict[str, Any]) -> Result:
        """Makes a Result. What few callers read is made when they read it: see __getattr__."""
        result = cls.__new__(cls)
        own = result.__dict__
        try:
            for name in _AS_GIVEN:
                own[name] = raw[name]
            own["value"] = raw["result"]
        except KeyError as problem:
            raise _mismatch(problem) from problem
        for name in ("usage", "violations", "enforcement"):
            if name not in raw:
                raise _mismatch(KeyError(name))
        own["raw"] = raw
        return result

    if not TYPE_CHECKING:  # which would then accept any name

        def __getattr__(self, name):
            """Makes a field of _MADE_LATER; one that was made is not looked up here."""
            make, raw = _MADE_LATER.get(name), self.__dict__.get("raw")
            if make is None or raw is None:
                raise AttributeError(f"a Result has no attribute {name!r}")
            try:
                value = self.__dict__[name] = make(raw.get(name))
            except (KeyError, TypeError, AttributeError, ValueError) as problem:
                raise _mismatch(problem) from problem
            return value

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def display(self) -> List[Display]:
        """What the step of a session displayed, in order."""
        return [] if self.step is None else self.step.display

    @property
    def shown(self) -> Optional[str]:
        """The value of the step's last expression as text; None without one."""
        return next((one.text for one in self.display if one.value), None)

    @property
    def png(self) -> Optional[bytes]:
        """The first picture that the step displayed as image/png; None without one."""
        return next((one.png for one in self.display if "image/png" in one.forms), None)

    @property
    def added(self) -> List[str]:
        """The names of the global variables that the step of a session made: at most 100, without
        those that begin with an underscore."""
        return [] if self.step is None else self.step.added

    @property
    def changed(self) -> List[str]:
        """Likewise, of those that it bound to other objects. A list that grew in place is not
        among them."""
        return [] if self.step is None else self.step.changed

    @property
    def removed(self) -> List[str]:
        """Likewise, of those that it removed."""
        return [] if self.step is None else self.step.removed

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
        if self.artifacts:
            parts.append(f"artifacts={_short(list(self.artifacts))}")
        for v in self.violations[:3]:
            parts.append(f"blocked={v.op}({v.detail})" if v.detail else f"blocked={v.op}")
        if len(self.violations) > 3:
            parts.append(f"and {len(self.violations) - 3} more")
        parts.append(f"{self.usage.wall_time_ms:.1f} ms")
        return f"<Result {', '.join(parts)}>"


# How the fields are made that differ from what cordon gave, and the names of the others.
_MADE_LATER: Dict[str, Callable[[Any], Any]] = {
    "exception": lambda exception: GuestException._known(exception) if exception else None,
    "usage": Usage._known,
    "violations": lambda violations: [Violation._known(v) for v in violations],
    # An older cordon gives none.
    "modules": lambda modules: [ModuleUse._known(m) for m in modules or ()],
    "enforcement": lambda enforcement: Enforcement(
        enforcement["tier"],
        {wall: WallStatus._known(status) for wall, status in enforcement["walls"].items()},
        enforcement["violations_observed"],
        enforcement.get("third_party"),
    ),
    "artifacts": lambda artifacts: _artifacts(artifacts) if artifacts else {},
    "artifacts_omitted": lambda omitted: omitted or 0,
    "artifacts_error": lambda error: error or "",
    "step": lambda step: Step._of(step) if step else None,
}


def _artifacts(artifacts: List[Mapping[str, Any]]) -> Dict[str, Artifact]:
    from ._files import Artifact

    return {a["name"]: Artifact._of(a) for a in artifacts}


_AS_GIVEN = tuple(name for name in Result.__match_args__ if name not in (*_MADE_LATER, "value", "raw"))


def _mismatch(problem: Exception) -> CordonError:
    return CordonError(f"the versions of cordon and this package do not match: a Result without {problem}")


def _short(value: Any, most: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"
