"""A toolset for Pydantic AI.

::

    from cordon.adapters.pydantic_ai import python_toolset
    agent = Agent(model, toolsets=[python_toolset()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from pydantic_ai.toolsets import FunctionToolset

from .._errors import CordonError
from .._options import ToolOptions
from .._sandbox import Sandbox, default
from ._answer import DESCRIPTION, error_for_model, describe

if TYPE_CHECKING:
    from typing_extensions import Unpack


def python_toolset(sandbox: Optional[Sandbox] = None, *, name: str = "run_python", **options: Unpack[ToolOptions]) -> FunctionToolset[Any]:
    """Returns a toolset with one tool that runs Python code; the options are those of
    ``Sandbox.run``."""
    chosen = sandbox if sandbox is not None else default()

    async def run_python(code: str) -> str:
        try:
            return describe(await chosen.arun(code, **options))
        except CordonError as problem:
            return error_for_model(problem)

    toolset: FunctionToolset[Any] = FunctionToolset()
    toolset.add_function(run_python, name=name, description=DESCRIPTION)
    return toolset
