"""An executor for smolagents.

::

    from cordon.adapters.smolagents import CordonExecutor
    agent = CodeAgent(tools=[], model=model, executor=CordonExecutor())
"""

from __future__ import annotations

import pickle
import sys
from base64 import b64decode, b64encode
from io import BytesIO
from typing import TYPE_CHECKING, Any, Dict, Optional

from smolagents.local_python_executor import CodeOutput, PythonExecutor
from smolagents.remote_executors import get_tools_definition_code

from .. import _plain
from .._options import ToolOptions
from .._result import Result
from .._sandbox import Sandbox
from .._session import Session
from ._answer import failure, pictures
from ._conversations import split

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Runs in a session before the first step of the agent.
_BEGIN = '''
import base64 as _base64, pickle as _pickle
_display = display

class FinalAnswer(BaseException):
    """Ends a step with its final answer."""

def final_answer(answer=None):
    global _final
    _final = answer
    _display(answer)
    raise FinalAnswer

def _packed(value):
    try:
        return _base64.b64encode(_pickle.dumps(value, 4)).decode()
    except Exception:
        return None
'''
_RECEIVE = """
for _name, _data in context.items():
    try:
        globals()[_name] = _pickle.loads(_base64.b64decode(_data))
    except Exception as _problem:
        raise TypeError("%s cannot be used in the sandbox: %s" % (_name, _problem)) from None
"""


class CordonExecutor(PythonExecutor):  # type: ignore[misc]
    """Runs the code of an agent step by step; the options are those of ``Sandbox.run``.

    Each step sees the variables and files of the steps before by default, because that is what
    smolagents tells its models. With ``session=False`` each step starts fresh, with the tools and
    the variables that the agent was given. A session that ends, such as by using too much memory,
    is replaced by a fresh one too.

    Tools are sent as source and run in the sandbox: they have network and files only if its
    policy grants them. A step whose value shows itself as a picture gives a ``PIL.Image``, if
    Pillow is installed. It reads the picture of a stranger when it is used: keep it up to date.
    """

    def __init__(self, sandbox: Optional[Sandbox] = None, *, session: bool = True, **options: Unpack[ToolOptions]) -> None:
        # The Python of this process has the packages that tools import.
        self._own = Sandbox(python=sys.executable) if sandbox is None else None
        self._sandbox, self._keeps = sandbox or self._own, session
        self._of_session, self._options = split(options)
        self._session: Optional[Session] = None
        self._tools = ""
        self._variables: Dict[str, str] = {}
        self.state: Dict[str, Any] = {}

    @property
    def session(self) -> Session:
        """The session of the next step, where files can be put and from where they can be taken."""
        session = self._session
        if session is None or not session.alive:
            session = self._sandbox.session(**self._of_session)  # type: ignore[union-attr]
            _prepare(session, _BEGIN + self._tools)
            _prepare(session, _RECEIVE, self._variables)
            self._session = session
        return session

    def send_tools(self, tools: Dict[str, Any]) -> None:
        # The session defines final_answer.
        others = {name: tool for name, tool in tools.items() if name != "final_answer"}
        self._tools = get_tools_definition_code(others) if others else ""
        if self._session is not None:
            _prepare(self.session, self._tools)

    def send_variables(self, variables: Dict[str, Any]) -> None:
        packed = {}
        for name, value in variables.items():
            try:
                packed[name] = b64encode(pickle.dumps(value, 4)).decode("ascii")
            except Exception as problem:  # the value's own code may raise anything
                raise TypeError(f"{name} cannot be sent: {problem}") from problem
        self._variables.update(packed)
        if self._session is not None:
            _prepare(self.session, _RECEIVE, packed)

    def __call__(self, code_action: str) -> CodeOutput:
        session = self.session
        try:
            step = session.run(code_action, **self._options)
            self.state["_print_outputs"] = step.stdout
            final = step.exception is not None and step.exception.type == "FinalAnswer"
            if not (step.ok or final):
                raise RuntimeError("\n".join(failure(step)))
            return CodeOutput(output=_output(session, step, final), logs=step.stdout, is_final_answer=final)
        finally:
            if not self._keeps:
                self._end()

    def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def cleanup(self) -> None:
        self._end()
        if self._own is not None:
            self._own.close()


def _prepare(session: Session, code: str, context: Optional[Dict[str, str]] = None) -> None:
    """Runs code of ours, or tools."""
    if code and context != {}:
        step = session.run(code, context=context)
        if not step.ok:
            raise RuntimeError(step.error)


def _output(session: Session, step: Result, final: bool) -> Any:
    """Returns the value of a step. The host reads only plain data; of the rest it gets a picture,
    or the text that the object shows of itself."""
    shown = [one for one in step.display if one.value] if not final else step.display[-1:]
    if not shown and not final:
        return None
    for kind, data in pictures(shown):
        try:
            from PIL import Image

            return Image.open(BytesIO(data), formats=[kind.split("/")[1]])
        except (ImportError, OSError):
            pass  # its text is the output
    packed = session.run(f"result = _packed({'_final' if final else '_'})").value
    try:
        return _plain.loads(b64decode(str(packed), validate=True))
    except (_plain.Refusal, ValueError):
        return shown[0].text if shown else None
