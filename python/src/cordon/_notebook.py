"""Cells that share variables, although no guest keeps state.

Each cell runs in a new guest. At its end it pickles its variables, and the next guest unpickles
them: this process keeps the bytes and never reads them. Functions, classes and imports are
defined again from their source.
"""

from __future__ import annotations

import base64
import os
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from . import _plain
from ._options import ToolOptions
from ._result import Result
from ._sandbox import Sandbox

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass
class Cell:
    """How a cell ended."""

    output: Any  # the value of its last line, or its final answer
    stdout: str
    final: bool
    error: Optional[str]


class Notebook:
    """Runs cells one after another.

    >>> with Sandbox() as sandbox:
    ...     notebook = Notebook(sandbox)
    ...     cells = [notebook.run("x = [1, 2]"), notebook.run("x.append(39); sum(x)")]
    >>> cells[1].output
    42
    """

    def __init__(self, sandbox: Sandbox, **options: Unpack[ToolOptions]) -> None:
        self._sandbox, self._options = sandbox, options
        self._state: Dict[str, str] = {}
        self._definitions: List[str] = []
        #: Python source that is run before each cell.
        self.tools = ""
        self._variables: Dict[str, str] = {}
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "_cell.py"), encoding="utf-8") as file:
            self._script = file.read()

    def send(self, variables: Dict[str, Any]) -> None:
        """Sends values of this process to the next cell."""
        packed = {}
        for name, value in variables.items():
            try:
                packed[name] = base64.b64encode(pickle.dumps(value, 4)).decode("ascii")
            except Exception as problem:  # the value's own code may raise anything
                raise TypeError(f"{name} cannot be sent: {problem}") from problem
        self._variables.update(packed)

    def run(self, code: str) -> Cell:
        context = {
            "code": code,
            "tools": self.tools,
            "definitions": self._definitions,
            "variables": self._variables,
            "state": self._state,
        }
        result = self._sandbox.run(self._script, context=context, name="<notebook>", **self._options)
        if not result.ok:
            return Cell(None, result.stdout, False, result.error)
        return self._cell(code, result)

    def _cell(self, code: str, result: Result) -> Cell:
        """Checks the guest's answer, which may be anything."""
        value = result.value
        if not isinstance(value, dict) or not isinstance(value.get("state"), dict):
            return Cell(None, result.stdout, False, "the cell replaced the answer that carries its state")
        error = value.get("error")
        if error is not None:
            return self._keep(code, value, Cell(None, result.stdout, False, str(error)))
        output: Any = str(value.get("shown"))
        try:
            output = _plain.loads(base64.b64decode(str(value.get("output")), validate=True))
        except (_plain.Refusal, ValueError):
            pass  # not plain data: its repr is the output
        return self._keep(code, value, Cell(output, result.stdout, value.get("final") is True, None))

    def _keep(self, code: str, value: Dict[str, Any], cell: Cell) -> Cell:
        """Keeps the state and the definitions for the next cell."""
        self._state = {str(name): str(data) for name, data in value["state"].items()}
        self._variables = {}
        sources = value.get("definitions")
        for source in sources if isinstance(sources, list) else ():
            # Only text of the cell is kept: anything else would have no bound.
            if isinstance(source, str) and source in code:
                if source in self._definitions:
                    self._definitions.remove(source)  # the last definition wins
                self._definitions.append(source)
        return cell
