"""Tests the adapters with the real frameworks."""

import asyncio
import datetime

import pytest

import cordon
from cordon._notebook import Notebook


def test_langchain():
    pytest.importorskip("langchain_core")
    from langchain_core.messages import ToolCall

    from cordon.adapters.langchain import python_tool

    tool = python_tool(timeout=5)
    assert tool.name == "run_python" and "code" in tool.args
    assert tool.invoke({"code": "print(6 * 7)"}) == "42"
    assert asyncio.run(tool.ainvoke({"code": "print(6 * 7)"})) == "42"
    message = tool.invoke(ToolCall(name="run_python", args={"code": "1/0"}, id="1", type="tool_call"))
    assert "ZeroDivisionError" in message.content and message.tool_call_id == "1"
    assert "wall time limit" in python_tool(timeout=0.2).invoke({"code": "while True: pass"})
    assert "Blocked: socket(AF_INET" in tool.invoke({"code": "import socket; socket.socket()"})
    assert "import-not-allowed" in python_tool(restricted=True).invoke({"code": "import os"})
    assert "nothing" in tool.invoke({"code": "pass"})
    # The model gets its mistakes as an answer; they do not end the agent.
    assert "nothing" in tool.invoke({"code": ""})
    assert "NUL" in tool.invoke({"code": "\0"}) and "NUL" in asyncio.run(tool.ainvoke({"code": "\0"}))
    assert tool.invoke({"code": "result = 10 ** 5000"})
    assert "no good" in tool.invoke({"code": "import sys; sys.exit('no good')"})
    with pytest.raises(cordon.InvalidRequest, match="wall_time"):  # a developer's mistake is raised
        python_tool(timeout=3600).invoke({"code": "pass"})


def test_pydantic_ai():
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from cordon.adapters.pydantic_ai import python_toolset

    def model(messages, info):
        """Calls the tool, and then answers with its result."""
        assert [t.name for t in info.function_tools] == ["run_python"]
        for part in messages[-1].parts:
            if isinstance(part, ToolReturnPart):
                return ModelResponse(parts=[TextPart("the sandbox says " + part.content)])
        return ModelResponse(parts=[ToolCallPart("run_python", {"code": "print(sum(range(10)))"})])

    agent = Agent(FunctionModel(model), toolsets=[python_toolset(timeout=5)])
    assert agent.run_sync("add them").output == "the sandbox says 45"
    assert "NUL" in asyncio.run(python_toolset().tools["run_python"].function("\0"))


def test_smolagents_agent():
    smolagents = pytest.importorskip("smolagents")
    from cordon.adapters.smolagents import CordonExecutor

    steps = iter([
        "import math\nx = [math.floor(2.5)]\ndef twice(n):\n    return 2 * n\nprint('first', x)",
        "raise ValueError('in between')",
        "x.append(twice(20))\nfinal_answer(sum(x))",
    ])

    class Model(smolagents.Model):
        """Returns prepared answers, one for each step."""

        def generate(self, messages, **_):
            return smolagents.ChatMessage(role="assistant", content=f"Thought: go on.\n<code>\n{next(steps)}\n</code>")

    executor = CordonExecutor(timeout=10)
    agent = smolagents.CodeAgent(tools=[], model=Model(), executor=executor, max_steps=5, verbosity_level=0)
    assert agent.run("add them") == 42
    assert "in between" in str(agent.memory.steps[2].error)
    executor.cleanup()


def test_smolagents_tools():
    pytest.importorskip("smolagents")
    from smolagents import tool

    from cordon.adapters.smolagents import CordonExecutor

    @tool
    def shout(text: str) -> str:
        """Says it louder.

        Args:
            text: What to say.
        """
        return text.upper()

    executor = CordonExecutor(timeout=30, memory="512MiB")
    executor.send_tools({"shout": shout})
    executor.send_variables({"word": "hello"})
    assert executor("shout(word)").output == "HELLO"
    assert executor("final_answer({'a': (1, 2)})").is_final_answer
    with pytest.raises(RuntimeError, match="NameError"):
        executor("missing")
    executor.send_variables({"members": {1, 2}, "day": datetime.date(2026, 1, 2)})
    assert executor("(3 in members, day.year)").output == (False, 2026)
    with pytest.raises(TypeError, match="here"):
        executor.send_variables({"here": open(__file__)})
    assert executor("1 in members").output is True
    executor.cleanup()


@pytest.fixture
def notebook():
    with cordon.Sandbox() as sandbox:
        yield Notebook(sandbox, timeout=10)


def test_notebook(notebook):
    assert notebook.run("x = 40\nprint('hi')").stdout == "hi\n"
    assert notebook.run("from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\np = P(2)").error is None
    assert notebook.run("x + p.a").output == 42
    assert notebook.run("f = lambda n: n + 1\nf(1)").output == 2
    assert notebook.run("f(2)").output == 3
    assert "division by zero" in notebook.run("y = 5\n1 / 0").error
    assert notebook.run("y").output == 5
    assert notebook.run("object()").output.startswith("<object object")
    assert "SyntaxError" in notebook.run("x = (").error
    assert notebook.run("final_answer([x])").final is True
    assert notebook.run("import socket\nsocket.socket()").error


def test_notebook_replaces_definitions(notebook):
    notebook.run("from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\n@staticmethod\ndef f(): return 1")
    assert notebook.run("P(3) == P(3), type(f).__name__").output == (True, "staticmethod")
    for n in (1, 2, 1):
        notebook.run(f"def g(): return {n}")
    assert notebook.run("g()").output == 1
    notebook.run("try:\n    import no_such_module as m\nexcept ImportError:\n    import json as m")
    assert notebook.run("m.dumps([1])").output == "[1]"
    assert notebook.run("m").output.startswith("<module 'json'")
    for wrong in ("x = '\0'", "x = " + "-" * 100000 + "1", "x = " + "(" * 5000 + ")" * 5000):
        assert notebook.run(wrong).error


def test_notebook_value_that_cannot_be_shown(notebook):
    """The other variables must be kept."""
    cell = notebook.run("class A:\n    def __repr__(self): return 1 / 0\nkept, a = 1, A()\na.f = lambda: 1\na")
    assert cell.error is None and "cannot be shown" in cell.output
    assert notebook.run("kept").output == 1


def test_notebook_keeps_state_without_reading_it(notebook):
    """A cell leaves a pickle that runs code where it is loaded. Only the next guest loads it."""
    code = (
        "class Evil:\n    def __reduce__(self):\n        import os\n"
        "        return (os.getpid, ())\nevil = Evil()"
    )
    assert notebook.run(code).error is None
    assert isinstance(notebook.run("evil").output, int)
    assert notebook.run("Evil()").output.startswith("<")
