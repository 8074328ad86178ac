"""Tests the magic %%cordon with IPython."""

import base64
import os
import signal
import threading

import pytest
from conftest import child_of, kill, needs, until
from test_transport import busy_guests

import cordon
from cordon import _sandbox

needs("IPython")
from IPython.core.error import UsageError  # noqa: E402
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402
from IPython.utils.capture import capture_output  # noqa: E402

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SPIN = "kept = 1\nwhile True: pass"


class Notebook:
    """Runs cells, and keeps what the last one has shown."""

    def __init__(self, shell):
        self.shell = shell

    def run(self, cell, options=""):
        return self.raw(f"%%cordon {options}\n{cell}")

    def raw(self, cell):
        with capture_output() as shown:
            self.result = self.shell.run_cell(cell)
        self.out, self.err, self.bundles = shown.stdout, shown.stderr, [output.data for output in shown.outputs]
        return self

    @property
    def error(self):
        return self.result.error_in_exec


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    InteractiveShell.clear_instance()
    notebook = Notebook(InteractiveShell.instance())
    assert notebook.raw("%load_ext cordon").result.success
    yield notebook
    notebook.raw("%cordon --restart")
    InteractiveShell.clear_instance()


def plain(notebook):
    return [bundle["text/plain"] for bundle in notebook.bundles]


def test_cells_share_a_session(notebook):
    notebook.run("import math\nx = [1]\nprint('made')\nimport sys; print('note', file=sys.stderr)")
    assert (notebook.out, notebook.err, notebook.bundles, notebook.error) == ("made\n", "note\n", [], None)
    assert plain(notebook.run("x.append(math.floor(2.5))\nx")) == ["[1, 2]"]
    assert notebook.result.result is None  # the value is not an object of the notebook
    assert "x" not in notebook.shell.user_ns and "NameError" in repr(notebook.raw("x").error)


def test_restart(notebook):
    notebook.run("x = 1")
    assert "NameError" in notebook.run("x", "--restart").out
    notebook.run("x = 2")
    assert notebook.raw("%cordon --restart").result.success
    assert "NameError" in notebook.run("x").out


def test_failed_cell_shows_the_traceback_of_the_sandbox(notebook):
    """It fails in the notebook, too: the cells after it do not run."""
    notebook.run("print('before')\n1 / 0")
    assert isinstance(notebook.error, cordon.SandboxError) and notebook.error.result.exception.type == "ZeroDivisionError"
    assert notebook.out.startswith("before\n") and notebook.out.count("ZeroDivisionError: division by zero") == 1
    assert "_magic.py" not in notebook.out and "Traceback" not in notebook.err
    assert "Blocked: socket(" in notebook.run("import socket; socket.socket()").out
    assert plain(notebook.run("'goes on'")) == ["'goes on'"]


def test_options(notebook, tmp_path):
    (tmp_path / "a b.csv").write_text("1,2")
    notebook.run("text = open('a b.csv').read()\nopen('out.txt', 'w').write(text)\nopen('other', 'w').close()",
                 "--file 'a b.csv' --artifacts *.txt --result answer")
    answer = notebook.shell.user_ns["answer"]
    assert isinstance(answer, cordon.Result) and answer.added == ["text"] and list(answer.artifacts) == ["out.txt"]
    assert answer.artifacts["out.txt"].text == "1,2" and not (tmp_path / "out.txt").exists()
    for options in ("--timeout 0.3", "--timeout 300ms"):
        assert "wall time limit of 300ms" in notebook.run(SPIN, options).out
    assert plain(notebook.run("text")) == ["'1,2'"]
    hungry = "len(bytes(200 << 20))"
    assert "MemoryError" in notebook.run(hungry, "--restart --memory 100MiB").out
    assert plain(notebook.run(hungry, "--restart --memory 400MiB")) == [str(200 << 20)]


def test_wrong_options(notebook):
    notebook.run("x = 1")
    for options, words in (("--memory 64MiB", "add --restart"), ("--unknown", "unrecognized arguments: --unknown"), ("--timeout", "expected one argument"), ("--file 'a", "No closing quotation")):
        assert isinstance(notebook.run("x = 2", options).error, UsageError) and words in str(notebook.error)
    assert isinstance(notebook.run("x = 3", "--file none").error, FileNotFoundError)
    assert isinstance(notebook.run("x = 4", "--timeout 9x").error, cordon.InvalidRequest)
    assert plain(notebook.run("x")) == ["1"]


def test_rich_display(notebook):
    shows = f"class Shows:\n    def __init__(self, **f): self.f = f\n    def _repr_mimebundle_(self, **_): return {{k.replace('_', '/'): v for k, v in self.f.items()}}\nPNG = {PNG!r}"
    notebook.run(shows + "\ndisplay(Shows(image_png=PNG, text_plain='a plot'), 7)\nShows(text_plain='last')")
    assert plain(notebook) == ["a plot", "7", "last"]
    assert notebook.bundles[0]["image/png"].strip() in (PNG, base64.b64decode(PNG))
    notebook.run("for n in range(70): display(n)")
    assert len(notebook.bundles) == 64 and "6 displayed objects were left out" in notebook.err


def test_notebook_runs_no_code_of_the_guest(notebook):
    notebook.run("""
class Evil:
    def _repr_mimebundle_(self, **_):
        return {"text/html": "<script>alert(1)</script>", "application/javascript": b"alert(1)", "text/markdown": "<b onclick='x'>", "text/plain": "evil"}
Evil()""")
    [bundle] = notebook.bundles
    assert set(bundle) == {"text/plain", "text/html"} and "<script" not in bundle["text/html"]
    assert bundle["text/html"].startswith('<iframe sandbox="" srcdoc="')


def test_interrupt_ends_the_cell_and_the_session_goes_on(notebook):
    notebook.run("x = 5")
    child = child_of(_sandbox.default())

    def interrupt():
        until(lambda: busy_guests(child.pid) > 0)
        until(lambda: busy_guests(child.pid) > 0)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    notebook.run(SPIN, "--timeout 50")
    thread.join()
    assert isinstance(notebook.error, KeyboardInterrupt) and "_magic.py" not in notebook.out
    assert plain(notebook.run("x, kept")) == ["(5, 1)"]


def test_session_that_ends_is_replaced(notebook):
    notebook.run("x = 1")
    assert "its variables and files are lost" in notebook.run("import os; os._exit(3)").out
    notebook.run("y = 2")
    assert notebook.error is None and "the session had ended" in notebook.err
    assert plain(notebook.run("y")) == ["2"] and notebook.err == ""
    kill(child_of(_sandbox.default()).pid)
    assert isinstance(notebook.run("y").error, (cordon.Gone, cordon.ConnectionLost)) or "the session had ended" in notebook.err
    notebook.run("z = 3")
    assert plain(notebook.run("z")) == ["3"]


def test_output_that_was_cut(notebook):
    notebook.run("print('x' * (64 << 20))")
    assert "stdout was cut" in notebook.err


def test_help(notebook):
    assert "--restart" in notebook.shell.find_line_magic("cordon").__doc__
