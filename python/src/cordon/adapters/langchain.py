"""A LangChain tool.

::

    from cordon.adapters.langchain import python_tool
    agent = create_agent(model, tools=[python_tool()])
"""

from __future__ import annotations

from typing import Any, Optional

from langchain_core.tools import StructuredTool

from .._errors import CordonError
from .._sandbox import Sandbox, default
from ._answer import DESCRIPTION, told, words


def python_tool(sandbox: Optional[Sandbox] = None, *, name: str = "run_python", **options: Any) -> StructuredTool:
    """A tool that runs Python code; the options are those of ``Sandbox.run``.

    >>> python_tool(timeout=5).invoke({"code": "print(6 * 7)"})
    '42'
    """
    place = sandbox if sandbox is not None else default()

    def run(code: str) -> str:
        try:
            return words(place.run(code, **options))
        except CordonError as problem:
            return told(problem)

    async def arun(code: str) -> str:
        try:
            return words(await place.arun(code, **options))
        except CordonError as problem:
            return told(problem)

    return StructuredTool.from_function(func=run, coroutine=arun, name=name, description=DESCRIPTION)
