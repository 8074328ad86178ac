"""A toolset for Pydantic AI.

::

    from cordon.adapters.pydantic_ai import python_toolset
    agent = Agent(model, toolsets=[python_toolset()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from pydantic_ai.toolsets import FunctionToolset

from .._errors import CordonError
from .._sandbox import Sandbox, ToolOptions, default
from ._answer import DESCRIPTION, told, words

if TYPE_CHECKING:
    from typing_extensions import Unpack


def python_toolset(sandbox: Optional[Sandbox] = None, *, name: str = "run_python", **options: Unpack[ToolOptions]) -> FunctionToolset[Any]:
    """A toolset with one tool, which runs Python code; the options are those of
    ``Sandbox.run``."""
    chosen = sandbox if sandbox is not None else default()

    async def run_python(code: str) -> str:
        try:
            return words(await chosen.arun(code, **options))
        except CordonError as problem:
            return told(problem)

    toolset: FunctionToolset[Any] = FunctionToolset()
    toolset.add_function(run_python, name=name, description=DESCRIPTION)
    return toolset
