"""An executor for smolagents.

::

    from cordon.adapters.smolagents import CordonExecutor
    agent = CodeAgent(tools=[], model=model, executor=CordonExecutor())
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Dict, Optional

from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.remote_executors import get_tools_definition_code

from .._notebook import Notebook
from .._options import ToolOptions
from .._sandbox import Sandbox

if TYPE_CHECKING:
    from typing_extensions import Unpack


class CordonExecutor(PythonExecutor):  # type: ignore[misc]
    """Runs the code of an agent step by step; each step sees the variables of the steps before.
    The options are those of ``Sandbox.run``.

    Tools are sent as source and run in the sandbox: they have network and files only if its
    policy grants them.
    """

    def __init__(self, sandbox: Optional[Sandbox] = None, **options: Unpack[ToolOptions]) -> None:
        # The Python of this process has the packages that tools import.
        self._own = Sandbox(python=sys.executable) if sandbox is None else None
        self._notebook = Notebook(sandbox if sandbox is not None else self._own, **options)  # type: ignore[arg-type]
        self.state: Dict[str, Any] = {}

    def send_tools(self, tools: Dict[str, Any]) -> None:
        # The notebook defines final_answer.
        others = {name: tool for name, tool in tools.items() if name != "final_answer"}
        self._notebook.tools = get_tools_definition_code(others) if others else ""

    def send_variables(self, variables: Dict[str, Any]) -> None:
        self._notebook.send(variables)

    def __call__(self, code_action: str) -> CodeOutput:
        cell = self._notebook.run(code_action)
        self.state["_print_outputs"] = cell.stdout
        if cell.error is not None:
            raise RuntimeError(cell.error.rstrip("\n"))
        return CodeOutput(output=cell.output, logs=cell.stdout, is_final_answer=cell.final)

    def cleanup(self) -> None:
        if self._own is not None:
            self._own.close()
