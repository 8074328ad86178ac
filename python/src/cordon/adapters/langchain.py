"""A LangChain tool.

::

    from cordon.adapters.langchain import python_tool
    agent = create_agent(model, tools=[python_tool()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from langchain_core.tools import StructuredTool

from .._errors import CordonError
from .._options import ToolOptions
from .._sandbox import Sandbox, default
from ._answer import DESCRIPTION, error_for_model, describe

if TYPE_CHECKING:
    from typing_extensions import Unpack


def python_tool(sandbox: Optional[Sandbox] = None, *, name: str = "run_python", **options: Unpack[ToolOptions]) -> StructuredTool:
    """Returns a tool that runs Python code; the options are those of ``Sandbox.run``.

    >>> python_tool(timeout=5).invoke({"code": "print(6 * 7)"})
    '42'
    """
    chosen = sandbox if sandbox is not None else default()

    def run(code: str) -> str:
        try:
            return describe(chosen.run(code, **options))
        except CordonError as problem:
            return error_for_model(problem)

    async def arun(code: str) -> str:
        try:
            return describe(await chosen.arun(code, **options))
        except CordonError as problem:
            return error_for_model(problem)

    return StructuredTool.from_function(func=run, coroutine=arun, name=name, description=DESCRIPTION)
