"""The magic ``%%cordon`` of IPython and Jupyter, which ``%load_ext cordon`` adds."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Any, List, Optional

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.display import display

from ._errors import SandboxError
from ._sandbox import default
from ._session import Session
from .adapters._answer import failure

if TYPE_CHECKING:
    from ._result import Result
    from ._units import Seconds


def _parser() -> Any:
    parser = MagicArgumentParser(prog="%%cordon")
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--timeout", type=_seconds)
    parser.add_argument("--memory")
    parser.add_argument("--file", action="append", default=[], dest="files")
    parser.add_argument("--artifacts", action="append", default=[])
    parser.add_argument("--result")
    return parser


def _seconds(text: str) -> Seconds:
    try:
        return float(text)
    except ValueError:
        return text  # with a unit


class StepFailed(SandboxError):
    """A step of a cell has failed. IPython shows what happened in the sandbox, and not where in
    this package, and does not run the cells after it."""

    def _render_traceback_(self) -> List[str]:
        return failure(self.result)


class Interrupted(KeyboardInterrupt):
    """A cell was interrupted."""

    def _render_traceback_(self) -> List[str]:
        return ["KeyboardInterrupt: the step was interrupted, and the session goes on"]


class Magic:
    """The session of a notebook."""

    def __init__(self, shell: Any) -> None:
        self._shell, self._parser = shell, _parser()
        self._session: Optional[Session] = None

    def cordon(self, line: str, cell: Optional[str] = None) -> None:
        """Runs the cell in a sandbox. Its variables, functions and imports stay for the next cells
        with %%cordon. The cells of the notebook itself do not see them.

        --restart         begin with a new session; the state of the old one is lost
        --timeout TIME    end the cell after this time: seconds, or "500ms"
        --memory SIZE     the memory of a new session: "512MiB"
        --file PATH       copy a file of this machine to the session (repeatable)
        --artifacts GLOB  keep the files that the cell writes under these names (repeatable)
        --result NAME     make the cordon.Result a variable of the notebook

        An interrupt of the kernel ends the cell, and the session goes on. "%cordon --restart" on
        one line runs nothing.
        """
        try:
            options = self._parser.parse_args(shlex.split(line, posix=os.name == "posix"))
        except ValueError as problem:  # of quotation marks
            raise UsageError(f"{line}: {problem}") from None
        session = self._opened(options.restart, options.memory)
        for path in options.files:
            session.upload(path)
        if cell is None:
            return
        try:
            result = session.run(cell, timeout=options.timeout, artifacts=options.artifacts)
        except KeyboardInterrupt:
            raise Interrupted from None
        if options.result:
            self._shell.user_ns[options.result] = result
        _show(result)
        if not result.ok:
            raise StepFailed(result)

    def _opened(self, restart: bool, memory: Optional[str]) -> Session:
        session = self._session
        if session is not None and session.alive and not restart:
            if memory:
                raise UsageError("--memory is for a whole session: add --restart, which begins a new one")
            return session
        if session is not None:
            if not restart:
                sys.stderr.write("(the session had ended: this is a new one, without its variables and files)\n")
            session.close()
        self._session = default().session(memory=memory)
        return self._session


def _show(result: Result) -> None:
    """Shows the output of a step, and what it displayed: see Display for what of that IPython
    gets."""
    trace = result.exception.traceback if result.exception else ""
    sys.stdout.write(result.stdout)
    # What is raised has the traceback.
    sys.stderr.write(result.stderr[: -len(trace)] if trace and result.stderr.endswith(trace) else result.stderr)
    for name, cut in (("stdout", result.stdout_truncated), ("stderr", result.stderr_truncated)):
        if cut:
            sys.stderr.write(f"\n({name} was cut: it is longer than the limit on output)\n")
    for shown in result.display:
        display(shown)
    if result.step is not None and result.step.display_omitted:
        sys.stderr.write(f"({result.step.display_omitted} displayed objects were left out: they are too many, or too large)\n")


def load(shell: Any) -> None:
    shell.register_magic_function(Magic(shell).cordon, "line_cell", "cordon")
