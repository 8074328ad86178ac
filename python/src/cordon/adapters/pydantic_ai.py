"""A toolset for Pydantic AI.

::

    from cordon.adapters.pydantic_ai import python_toolset
    agent = Agent(model, toolsets=[python_toolset()])
"""

from __future__ import annotations

from typing import Any, Optional

from pydantic_ai.toolsets import FunctionToolset

from .._errors import CordonError
from .._sandbox import Sandbox, default
from ._answer import DESCRIPTION, told, words


def python_toolset(sandbox: Optional[Sandbox] = None, *, name: str = "run_python", **options: Any) -> FunctionToolset[Any]:
    """A toolset with one tool, which runs Python code; the options are those of
    ``Sandbox.run``."""
    place = sandbox if sandbox is not None else default()

    async def run_python(code: str) -> str:
        try:
            return words(await place.arun(code, **options))
        except CordonError as problem:
            return told(problem)

    toolset: FunctionToolset[Any] = FunctionToolset()
    toolset.add_function(run_python, name=name, description=DESCRIPTION)
    return toolset
