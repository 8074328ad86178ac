"""Tests the adapters with the real frameworks."""

import asyncio
import base64
import datetime

import pytest
from conftest import needs

import cordon

# A picture of one pixel, and a class that displays pictures.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
SHOWS = f"""
class Picture:
    def __init__(self, data={PNG!r}):
        self.data = data
    def _repr_png_(self):
        return self.data
    def __repr__(self):
        return "a picture"
"""


def test_langchain():
    needs("langchain_core")
    from langchain_core.messages import ToolCall

    from cordon.adapters.langchain import python_tool

    tool = python_tool(timeout=5)
    assert tool.name == "run_python" and list(tool.args) == ["code"] and "stay from call to call" in tool.description
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


def test_langchain_keeps_a_session_for_each_thread():
    needs("langchain_core")
    from langchain_core.messages import ToolCall

    from cordon.adapters.langchain import python_tool

    def thread(name):
        return {"configurable": {"thread_id": name}}

    tool = python_tool(timeout=5)
    tool.invoke({"code": "x = 1; open('f', 'w').write('kept')"}, thread("a"))
    assert asyncio.run(tool.ainvoke({"code": "x, open('f').read()"}, thread("a"))) == "(1, 'kept')"
    assert "NameError" in tool.invoke({"code": "x"}, thread("b")) and "NameError" in tool.invoke({"code": "x"})
    tool.invoke({"code": "x = 3"})
    assert tool.invoke({"code": "x"}) == "3" and "NameError" in python_tool().invoke({"code": "x"})
    # The model learns that a session has ended, and the next call has another.
    assert "its variables and files are lost" in tool.invoke({"code": "import os; os._exit(1)"}, thread("a"))
    assert "NameError" in tool.invoke({"code": "x"}, thread("a")) and tool.invoke({"code": "x"}) == "3"
    message = tool.invoke(ToolCall(name="run_python", args={"code": SHOWS + "display(Picture(), 7)"}, id="1", type="tool_call"))
    assert message.content == "a picture\n7" and cordon.Result.of(message.artifact).png == PNG
    saving = python_tool(artifacts="*.txt", stdin="typed").invoke(
        ToolCall(name="run_python", args={"code": "open('a.txt', 'w').write(input())"}, id="1", type="tool_call")
    )
    assert cordon.Result.of(saving.artifact).artifacts["a.txt"].text == "typed"


def test_langchain_without_session():
    needs("langchain_core")
    from cordon.adapters.langchain import python_tool

    tool = python_tool(session=False, timeout=5, stdin="typed")
    assert "Each call starts fresh" in tool.description and tool.invoke({"code": "x = 1; print(input())"}) == "typed"
    assert "NameError" in tool.invoke({"code": "x"}) and tool.invoke({"code": "6 * 7"}).endswith("printed nothing.")


def test_langchain_with_a_session_of_the_caller():
    needs("langchain_core")
    from cordon.adapters.langchain import python_tool

    with cordon.Session() as session:
        tool = python_tool(session=session, stdin="typed")
        session.upload("a.csv", "1,2")
        assert tool.invoke({"code": "x = open('a.csv').read(); x + input()"}) == "'1,2typed'"
        assert session.run("x").shown == "'1,2'"
        session.run("import os; os._exit(0)")
        assert "the session is gone" in tool.invoke({"code": "x"})  # which does not end the agent
        with pytest.raises(TypeError, match="timeout, memory: the session that was given has its own"):
            python_tool(session=session, timeout=5, memory="64MiB")
        with pytest.raises(TypeError, match="sandbox: the session"):
            python_tool(cordon._sandbox.default(), session=session)


def test_conversations_are_bounded():
    from cordon.adapters._conversations import Conversations

    with cordon.Sandbox(policy={"limits": {"scratch": "9MiB"}}) as sandbox:
        conversations = Conversations(sandbox, True, {})
        for n in range(40):  # a program may have 32 sessions
            assert conversations.run(f"x = {n}", str(n)).ok
            assert conversations.run("x", "0").shown == "0"  # it stays in use
        assert conversations.run("x", "30").shown == "30" and not conversations.run("x", "1").ok


def test_pydantic_ai():
    needs("pydantic_ai")
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


def test_pydantic_ai_keeps_a_session_for_each_conversation():
    needs("pydantic_ai")
    from pydantic_ai import Agent, BinaryContent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
    from pydantic_ai.models.function import FunctionModel

    from cordon.adapters.pydantic_ai import python_toolset

    def agent(**options):
        """Runs the code of its prompt: one call for each paragraph."""

        def model(messages, _):
            start = max(i for i, m in enumerate(messages) if any(isinstance(p, UserPromptPart) and isinstance(p.content, str) for p in m.parts))
            code = next(p.content for p in messages[start].parts if isinstance(p, UserPromptPart)).split("\n\n")
            parts = [p for m in messages[start:] for p in m.parts]
            done = [p.content for p in parts if isinstance(p, ToolReturnPart)]
            if len(done) < len(code):
                return ModelResponse(parts=[ToolCallPart("run_python", {"code": code[len(done)]})])
            images = [c for p in parts if isinstance(p, UserPromptPart) and not isinstance(p.content, str) for c in p.content]
            assert all(isinstance(image, BinaryContent) and image.data == PNG and image.media_type == "image/png" for image in images)
            return ModelResponse(parts=[TextPart(" | ".join(done) + f" | {len(images)} images")])

        return Agent(FunctionModel(model), toolsets=[python_toolset(**options)])

    kept = agent()
    first = kept.run_sync("x = 20\n\nx += 1; x\n\n2 * x")
    assert first.output.endswith("| 21 | 42 | 0 images")
    assert kept.run_sync("x", message_history=first.all_messages()).output == "21 | 0 images"
    assert "NameError" in kept.run_sync("x").output  # another user's conversation
    kept = agent(timeout=5)
    assert "NUL" in kept.run_sync("\0").output
    shown = kept.run_sync(SHOWS.strip() + "\nPicture()\n\ndisplay(Picture(b'no picture'))")
    assert shown.output == "a picture | a picture | 1 images"
    metadata = [p.metadata for m in shown.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]
    assert cordon.Result.of(metadata[0]).png == PNG
    assert agent(images=False).run_sync(SHOWS.strip() + "\nPicture()").output == "a picture | 0 images"
    assert "NameError" in agent(session=False).run_sync("x = 1\n\nx").output
    with cordon.Session() as session:
        session.run("x = 7")
        assert agent(session=session).run_sync("x").output == "7 | 0 images"


def test_smolagents_agent():
    smolagents = needs("smolagents")
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
    needs("smolagents")
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
def executor():
    needs("smolagents")
    from cordon.adapters.smolagents import CordonExecutor

    executor = CordonExecutor(timeout=10)
    yield executor
    executor.cleanup()


def test_smolagents_state(executor):
    assert executor("x = 40\nprint('hi')").logs == "hi\n"
    executor("from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\np = P(2)")
    assert executor("x + p.a").output == 42
    assert executor("f = lambda n: n + 1\nf(1)").output == 2 and executor("f(2)").output == 3
    assert executor("g = (n for n in range(9))\nnext(g)").output == 0 and executor("next(g)").output == 1
    with pytest.raises(RuntimeError, match="division by zero"):
        executor("y = 5\n1 / 0")
    assert executor("y").output == 5
    assert executor("object()").output.startswith("<object object")
    assert executor("x = 1").output is None and executor("x;").output is None
    for wrong in ("x = (", "x = " + "-" * 100000 + "1", "import socket\nsocket.socket()"):
        with pytest.raises(RuntimeError):
            executor(wrong)
    with pytest.raises(RuntimeError, match="Blocked: socket"):
        executor("import socket\nsocket.socket()")
    last = executor("def end(): final_answer([x])\nend()")
    assert last.is_final_answer and last.output == [1]
    none = executor("final_answer()")
    assert none.is_final_answer and none.output is None


def test_smolagents_value_that_shows_nothing(executor):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        executor("class A:\n    def __repr__(self): return 1 / 0\nkept, a = 1, A()\na")
    assert executor("kept").output == 1


def test_smolagents_pictures(executor):
    image = needs("PIL.Image")
    executor(SHOWS)
    for code, final in (("Picture()", False), ("final_answer(Picture())", True)):
        answer = executor(code)
        assert isinstance(answer.output, image.Image) and answer.output.size == (1, 1) and answer.is_final_answer is final
    assert executor("Picture(b'no picture')").output == "a picture"
    assert executor(f"Picture({PNG[:12]!r})").output == "a picture"
    assert executor("display(Picture())\n7").output == 7


def test_smolagents_files(executor):
    executor.session.upload("a.csv", "1,2")
    assert executor("open('b.csv', 'w').write(open('a.csv').read())").output == 3
    assert executor.session.download("b.csv") == b"1,2"


def test_smolagents_host_reads_no_code(executor):
    """A step leaves a pickle that would run code where it is loaded."""
    executor("class Evil:\n    def __reduce__(self):\n        import os\n        return (os.getpid, ())\nevil = Evil()")
    assert "Evil object" in executor("evil").output
    executor("def _packed(value):\n    return 'Y29zCmdldHBpZAoodFIu'")  # os.getpid(), in base64
    assert executor("7").output == "7"
    executor("def _packed(value): return [1]")
    assert executor("7").output == "7"


def test_smolagents_session_that_ends_is_replaced(executor):
    executor.send_variables({"word": "given"})
    executor("x = 1")
    with pytest.raises(RuntimeError, match="its variables and files are lost"):
        executor("import os; os._exit(1)")
    with pytest.raises(RuntimeError, match="NameError"):
        executor("x")
    assert executor("word").output == "given" and executor("final_answer(1)").is_final_answer


def test_smolagents_without_session():
    needs("smolagents")
    from cordon.adapters.smolagents import CordonExecutor

    executor = CordonExecutor(session=False, timeout=10)
    executor.send_variables({"word": "given"})
    assert executor("x = 1\nword").output == "given"
    with pytest.raises(RuntimeError, match="NameError"):
        executor("x")
    assert executor("word").output == "given"
    executor.cleanup()


def test_smolagents_variables_that_the_sandbox_cannot_use(executor):
    executor("pass")
    with pytest.raises(RuntimeError, match="result cannot be used in the sandbox"):
        executor.send_variables({"result": cordon.Result})
