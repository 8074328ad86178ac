"""A toolset for Pydantic AI.

::

    from cordon.adapters.pydantic_ai import python_toolset
    agent = Agent(model, toolsets=[python_toolset()])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Union

from pydantic_ai import BinaryContent, RunContext, ToolReturn
from pydantic_ai.toolsets import FunctionToolset

from .._errors import CordonError
from .._options import ToolOptions
from .._sandbox import Sandbox
from .._session import Session
from ._answer import describe, description, error_for_model, pictures
from ._conversations import Conversations

if TYPE_CHECKING:
    from typing_extensions import Unpack


def python_toolset(
    sandbox: Optional[Sandbox] = None,
    *,
    name: str = "run_python",
    session: Union[bool, Session] = True,
    images: bool = True,
    **options: Unpack[ToolOptions],
) -> FunctionToolset[Any]:
    """Returns a toolset with one tool that runs Python code; the options are those of
    ``Sandbox.run``.

    Variables and files stay from call to call by default, because agents work in steps, but not
    from one conversation to another, because an agent serves many users. The sessions of the 16
    conversations that were used last are kept. With ``session=False`` each call starts fresh. A
    ``Session`` of yours is used for all calls: files can be put there and taken out.

    The model gets what the code displays as images; ``images=False`` is for models that see none.
    The ``metadata`` of a tool's answer is the Result as cordon gave it:
    ``cordon.Result.of(part.metadata)``.
    """
    conversations = Conversations(sandbox, session, options)

    async def run_python(ctx: RunContext[Any], code: str) -> Any:
        # Older versions have no conversations.
        conversation = str(getattr(ctx, "conversation_id", None) or ctx.run_id)
        try:
            result = await conversations.arun(code, conversation)
        except CordonError as problem:
            return error_for_model(problem)
        shown = [BinaryContent(data, media_type=kind) for kind, data in pictures(result.display)] if images else []
        return ToolReturn(describe(result), content=shown or None, metadata=result.raw)

    toolset: FunctionToolset[Any] = FunctionToolset()
    toolset.add_function(run_python, name=name, description=description(conversations.keeps))
    return toolset
