"""Tests the variables of sessions, with a child and with a service."""

import asyncio
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import child_of, kill
from test_files import either, session  # noqa: F401: fixtures
from test_service import directory, unix  # noqa: F401: fixtures

import cordon


def test_variables(session):  # noqa: F811
    assert session.variables() == []
    session.run("x = [1, 2]\ndef f(): pass\n_hidden = 1\ntext = 'a\\nb'")
    f, text, x = session.variables()
    assert isinstance(x, cordon.Variable) and (x.name, x.type, x.text) == ("x", "list", "[1, 2]") and 40 < x.size < 200
    assert (f.type, text.name, text.text) == ("function", "text", r"'a\nb'")
    assert pickle.loads(pickle.dumps(x)) == x
    with pytest.raises(AttributeError):
        x.name = "y"
    session.run("for n in range(1100): globals()['v%d' % n] = n")
    assert len(session.variables()) == 1000


def test_changes_of_steps(session):  # noqa: F811
    first = session.run("x = [1]; y = 2")
    assert (first.added, first.changed, first.removed) == (["x", "y"], [], [])
    second = session.run("x.append(2); y = 3; z = 4")
    assert (second.added, second.changed, second.removed) == (["z"], ["y"], [])
    third = session.run("del x")
    assert (third.added, third.changed, third.removed) == ([], [], ["x"])
    assert third.step.removed == ["x"] and second.step.changed == ["y"]


def test_runs_have_no_changes(sandbox):
    result = sandbox.run("x = 1")
    assert (result.added, result.changed, result.removed) == ([], [], [])


def test_tasks_list_variables(either):  # noqa: F811
    async def work():
        async with either.session() as session:  # noqa: F811
            await session.arun("x = 1")
            lists = await asyncio.gather(*(session.avariables() for _ in range(10)))
            assert [[v.text for v in variables] for variables in lists] == 10 * [["1"]]
        with pytest.raises(cordon.Closed):
            await session.avariables()

    asyncio.run(work())


def test_variables_wait_for_a_running_step(session):  # noqa: F811
    session.upload("gate", "")
    with ThreadPoolExecutor(2) as pool:
        step = pool.submit(session.run, "import os, time\nx = 1\nopen('began', 'w').close()\nwhile os.path.exists('gate'): time.sleep(0.01)\nx = 2")
        while "began" not in [file.name for file in session.files()]:
            assert not step.done()
        listed = pool.submit(session.variables)
        time.sleep(0.1)
        assert not listed.done()
        session.remove("gate")
        assert [v.text for v in listed.result() if v.name == "x"] == ["2"] and step.result().ok


def test_variables_that_describe_themselves_forever(session):  # noqa: F811
    session.run("class Slow:\n    def __repr__(self):\n        while True: pass\nslow, x = Slow(), 1")
    assert [v.text for v in session.variables()][1:] == ["<Slow>", "1"]
    assert session.run("x").shown == "1"


def test_ctrl_c_ends_the_list(own):
    with own.session() as session:  # noqa: F811
        session.run("class Slow:\n    def __repr__(self):\n        while True: pass\nx = Slow()")
        main = threading.main_thread().ident
        timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            session.variables()
        timer.join()
        assert session.alive and session.run("1").shown == "1"


def test_variables_of_an_ended_session(session):  # noqa: F811
    session.run("import os; os._exit(0)")
    with pytest.raises(cordon.Gone, match="ended it"):
        session.variables()
    session._over = None  # as for another user of the session
    with pytest.raises(cordon.Gone):
        session.variables()
    assert not session.alive


def test_variables_of_a_closed_session(either):  # noqa: F811
    with either.session() as session:  # noqa: F811
        session.run("x = 1")
    with pytest.raises(cordon.Closed, match="the session is closed"):
        session.variables()


def test_variables_of_a_dead_child(own):
    with own.session() as session:  # noqa: F811
        session.run("x = 1")
        kill(child_of(own).pid)
        with pytest.raises((cordon.ConnectionLost, cordon.Gone)):
            session.variables()
        assert not session.alive


def test_variables_under_the_language_rules(either):  # noqa: F811
    with either.session(restricted=True) as session:  # noqa: F811
        assert session.run("x = [1]").added == ["x"]
        assert [(v.name, v.text) for v in session.variables()] == [("x", "[1]")]
