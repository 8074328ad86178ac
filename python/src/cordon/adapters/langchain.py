"""A LangChain tool.

::

    from cordon.adapters.langchain import python_tool
    agent = create_agent(model, tools=[python_tool()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple, Union

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool

from .._errors import CordonError
from .._options import ToolOptions
from .._result import Result
from .._sandbox import Sandbox
from .._session import Session
from ._answer import describe, description, error_for_model
from ._conversations import Conversations

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: What the model reads, and the artifact of its message. LangChain evaluates the annotations.
Answer = Tuple[str, Optional[Dict[str, Any]]]


def python_tool(
    sandbox: Optional[Sandbox] = None, *, name: str = "run_python", session: Union[bool, Session] = True, **options: Unpack[ToolOptions]
) -> StructuredTool:
    """Returns a tool that runs Python code; the options are those of ``Sandbox.run``.

    >>> tool = python_tool(timeout=5)
    >>> tool.invoke({"code": "x = 6"}), tool.invoke({"code": "x * 7"})
    ('The code succeeded and printed nothing.', '42')

    Variables and files stay from call to call by default, because agents work in steps. Each
    ``thread_id`` of LangGraph has a session of its own; calls without one share the session of the
    tool object. The 16 that were used last are kept. With ``session=False`` each call starts
    fresh. A ``Session`` of yours is used for all calls: files can be put there and taken out.

    The ``artifact`` of a tool message is the Result as cordon gave it, with pictures and files:
    ``cordon.Result.of(message.artifact)``.
    """
    conversations = Conversations(sandbox, session, options)

    def run(code: str, config: RunnableConfig) -> Answer:
        try:
            return _answer(conversations.run(code, _thread(config)))
        except CordonError as problem:
            return error_for_model(problem), None

    async def arun(code: str, config: RunnableConfig) -> Answer:
        try:
            return _answer(await conversations.arun(code, _thread(config)))
        except CordonError as problem:
            return error_for_model(problem), None

    return StructuredTool.from_function(
        func=run, coroutine=arun, name=name, description=description(conversations.keeps), response_format="content_and_artifact"
    )


def _answer(result: Result) -> Answer:
    return describe(result), result.raw


def _thread(config: RunnableConfig) -> str:
    """Returns the name that LangGraph has for the conversation."""
    return str(config.get("configurable", {}).get("thread_id", ""))
