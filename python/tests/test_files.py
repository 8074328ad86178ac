"""Tests files: those of scripts, artifacts, and those of sessions, with a child and with a service."""

import asyncio
import errno
import http.client
import os
import pathlib
import pickle
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import child_of, kill
from test_service import directory, unix  # noqa: F401: fixtures
from test_service_faults import Answering, answer

import cordon
from cordon import _files

COPY = "open('out.bin', 'wb').write(open('in.bin', 'rb').read())"
ALL_BYTES = bytes(range(256))


@pytest.fixture(params=["child", "service"])
def either(request):
    """A sandbox of a child of its own, and one of a service."""
    options = {"url": request.getfixturevalue("unix")} if request.param == "service" else {"policy": {"limits": {"scratch": "11MiB"}}}
    with cordon.Sandbox(**options) as sandbox:
        yield sandbox


@pytest.fixture
def session(either):
    with either.session() as session:
        yield session


@pytest.fixture
def local(tmp_path):
    path = tmp_path / "local.csv"
    path.write_bytes(b"1,2")
    return path


# Scripts

def test_files_go_in_and_artifacts_come_out(either):
    script = f"import os, sys\n{COPY}\nos.mkdir('d'); open('d/a.txt', 'w').write('é'); open('x', 'w').close(); result = [sys.argv[1:], os.listdir('sub')]"
    result = either.run(script, files={"in.bin": ALL_BYTES, "sub/b": "text"}, artifacts=["*.bin", "**/*.txt"], args=["-v", "a b"])
    assert result.value == [["-v", "a b"], ["b"]]
    assert list(result.artifacts) == ["d/a.txt", "out.bin"] and result.artifacts_omitted == 0
    out, text = result.artifacts["out.bin"], result.artifacts["d/a.txt"]
    assert (out.name, out.data, out.size, out.type, out.error) == ("out.bin", ALL_BYTES, 256, "application/octet-stream", "")
    assert out.sha256 == "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880"
    assert (text.text, text.type) == ("é", "text/plain")
    assert "artifacts=['d/a.txt', 'out.bin']" in repr(result) and "_data" not in repr(out)
    assert pickle.loads(pickle.dumps(result)).artifacts == result.artifacts


def test_run_without_files(sandbox):
    result = sandbox.run("pass")
    assert result.artifacts == {} and result.artifacts_omitted == 0 and result.artifacts_error == "" and "artifacts" not in repr(result)


def test_tasks_have_files(either):
    async def work():
        result = await either.arun(COPY, files={"in.bin": b"1"}, artifacts="out.bin", args=["x"])
        async with either.session() as session:
            step = await session.arun("import sys\n" + COPY, files={"in.bin": b"2"}, artifacts="*", args=["y"])
            return result.artifacts["out.bin"].data, step.artifacts["out.bin"].data, (await session.arun("sys.argv[1:]")).shown

    assert asyncio.run(work()) == (b"1", b"2", "[]")


def test_functions_of_the_package_have_files(local):
    result = cordon.run("open('b', 'w').write(open('local.csv').read())", files=[local], artifacts="b")
    assert result.artifacts["b"].text == "1,2"


@pytest.mark.parametrize("content", [b"1,2", bytearray(b"1,2"), memoryview(b"1,2"), "1,2", "path"])
def test_contents_of_files(local, content):
    assert _files.given({"a": local if content == "path" else content}) == [{"name": "a", "base64": "MSwy"}]


def test_paths_of_files(local, monkeypatch):
    monkeypatch.chdir(local.parent)
    assert _files.given([local, "local.csv", os.fspath(local)]) == 3 * [{"name": "local.csv", "base64": "MSwy"}]


def test_wrong_files(sandbox, local):
    for wrong in ("local.csv", b"x", local):
        with pytest.raises(TypeError, match="give a list of paths, or a dict of names and contents"):
            sandbox.run("pass", files=wrong)
    with pytest.raises(TypeError, match=r"files\['a'\] is 7: give bytes, text, or a path"):
        sandbox.run("pass", files={"a": 7})
    with pytest.raises(TypeError, match="args is text"):
        sandbox.run("pass", args="-v")
    with pytest.raises(FileNotFoundError):
        sandbox.run("pass", files=["no-such-file"])
    with pytest.raises(cordon.InvalidRequest, match="is there twice"):
        sandbox.run("pass", files=[local, local])
    with pytest.raises(cordon.InvalidRequest, match="below /work") as refused:
        sandbox.run("pass", files={"../a": ""})
    assert refused.value.field == "files[0].name"
    with pytest.raises(cordon.InvalidRequest, match="artifacts"):
        sandbox.run("pass", artifacts="/etc/*")


def test_artifact_whose_data_is_missing(sandbox, tmp_path):
    link = sandbox.run("import os; os.symlink('/etc/passwd', 'link')", artifacts="**").artifacts["link"]
    assert "symbolic link" in link.error and link.sha256 == ""
    for use in (lambda: link.data, lambda: link.text, lambda: link.save(tmp_path)):
        with pytest.raises(cordon.CordonError, match="symbolic link"):
            use()
    assert os.listdir(tmp_path) == []


def test_files_whose_names_cannot_come_back(either):
    result = either.run("open('line\\nbreak', 'w').close(); open('a', 'w').close()", artifacts="**")
    assert list(result.artifacts) == ["a"] and "1 names are no text" in result.artifacts_error


def test_artifact_that_is_not_text(sandbox):
    binary = sandbox.run("open('a', 'wb').write(bytes([255]))", artifacts="a").artifacts["a"]
    with pytest.raises(UnicodeDecodeError):
        binary.text


def test_artifacts_of_another_version(sandbox):
    for wrong in ([{}], [7], [{"name": "a", "bytes": 1, "type": "x", "base64": "?"}]):
        with pytest.raises(cordon.CordonError, match="versions of cordon and this package do not match"):
            cordon.Result.of({**sandbox.run("pass").raw, "artifacts": wrong}).artifacts


# Saving

@pytest.fixture(params=["by descriptor", "by name"])
def saving(request, monkeypatch):
    """Systems with names relative to open directories, and others, such as Windows."""
    if request.param == "by name":
        monkeypatch.setattr(_files, "_HAS_DIR_FD", False)


def artifact(name, data=b"new"):
    return cordon.Artifact(name, len(data), "text/plain", "", "", data)


def test_saving(saving, tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")
    assert artifact("a").save(tmp_path) == str(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"new"
    umask = os.umask(0o022)
    try:
        deep = artifact("d/e/b.txt").save(str(tmp_path))
    finally:
        os.umask(umask)
    assert deep == str(tmp_path / "d" / "e" / "b.txt") and pathlib.Path(deep).read_bytes() == b"new"
    assert stat.S_IMODE(os.stat(deep).st_mode) == 0o644
    artifact("d/e/c.txt").save(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert artifact("x").save("other") == os.path.join(".", "other") and (tmp_path / "other").read_bytes() == b"new"
    assert artifact("x").save(".") == os.path.join(".", "x")
    assert sorted(os.listdir(tmp_path)) == ["a", "d", "other", "x"] and sorted(os.listdir(tmp_path / "d" / "e")) == ["b.txt", "c.txt"]
    with pytest.raises(FileNotFoundError):
        artifact("x").save(tmp_path / "none" / "x")


@pytest.mark.parametrize("name", ["../a", "/a", "d/../../a", "a/..", ".", "", "a//b", "a/./b", "a/"])
def test_no_name_leads_out(saving, tmp_path, name):
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(cordon.CordonError, match="a name is a path below /work"):
        artifact(name).save(inside)
    assert os.listdir(tmp_path) == ["inside"] and os.listdir(inside) == []


@pytest.mark.parametrize("name", ["C:a", "d\\a", "..\\a", "a:stream"])
def test_no_name_of_windows_leads_out(saving, tmp_path, monkeypatch, name):
    monkeypatch.setattr(_files, "_SPLIT_BY_SYSTEM", ("\\", ":"))
    with pytest.raises(cordon.CordonError, match="not a name for files of this system"):
        artifact(name).save(tmp_path)
    assert os.listdir(tmp_path) == []


def test_no_link_leads_out(saving, tmp_path):
    """Whoever else writes to the directory, such as a command, may have left links there."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "kept").write_bytes(b"old")
    (inside / "link").symlink_to(outside)
    (inside / "file").symlink_to(outside / "kept")
    for name in ("link/a", "link/new/a"):
        with pytest.raises(OSError):
            artifact(name).save(inside)
    artifact("file").save(inside)
    assert os.listdir(outside) == ["kept"] and (outside / "kept").read_bytes() == b"old"
    assert not (inside / "file").is_symlink() and (inside / "file").read_bytes() == b"new"


def test_saving_that_fails_leaves_the_old_file(saving, tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "replace", full)
    before = set(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="no space"):
        artifact("a").save(tmp_path)
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"old"
    assert set(os.listdir("/proc/self/fd")) == before


# Sessions

def test_files_of_a_session(session, local):
    assert session.files() == []
    made = session.upload("data/é %2F?#.txt", "text")
    assert isinstance(made, cordon.FileInfo) and (made.name, made.size, made.type, made.kind) == ("data/é %2F?#.txt", 4, "text/plain", "")
    assert made.modified.utcoffset().total_seconds() == 0 and made.modified.year > 2020
    assert session.upload(local).name == "local.csv" and session.upload(str(local)).size == 3
    assert session.upload("data/copy", local).size == 3 and session.upload("empty", b"").size == 0
    assert session.upload("bytes", ALL_BYTES).size == 256
    step = session.run("import os; result = [sorted(os.listdir()), os.listdir('data'), open('bytes', 'rb').read() == bytes(range(256))]")
    assert step.value[0] == ["bytes", "data", "empty", "local.csv"] and sorted(step.value[1]) == ["copy", "é %2F?#.txt"] and step.value[2]
    session.run("open('made', 'w').write('by the step'); os.symlink('made', 'link')")
    assert session.download("made") == b"by the step" and session.download("data/é %2F?#.txt") == b"text" and session.download("empty") == b""
    files = session.files()
    assert [file.name for file in files] == ["bytes", "data/copy", "data/é %2F?#.txt", "empty", "link", "local.csv", "made"]
    assert [file.kind for file in files if file.name == "link"] == ["link"] and made in files
    session.remove("data")
    session.remove("link")
    assert [file.name for file in session.files()] == ["bytes", "empty", "local.csv", "made"]


def test_tasks_of_a_session_have_files(either, local):
    async def work():
        async with either.session() as session:
            assert (await session.aupload("a", "1")).size == 1 and (await session.aupload(local)).name == "local.csv"
            await asyncio.gather(*(session.aupload(f"n{n}", b"x" * n) for n in range(20)))
            assert [len(data) for data in await asyncio.gather(*(session.adownload(f"n{n}") for n in range(20)))] == list(range(20))
            await session.aremove("a")
            assert len(await session.afiles()) == 21
            with pytest.raises(cordon.Unknown):
                await session.adownload("a")
            assert session.alive

    asyncio.run(work())


def test_files_while_a_step_runs(session):
    """The step waits for a file, and leaves another one."""
    session.upload("question", "6 * 7")
    with ThreadPoolExecutor(1) as pool:
        step = pool.submit(session.run, """
import os, time
open('started', 'w').write('yes')
while not os.path.exists('answer'):
    time.sleep(0.01)
open('answer').read()
""", timeout=20, cpu_time=20)
        while ("started", 3) not in [(file.name, file.size) for file in session.files()]:
            assert not step.done()
        assert session.download("started") == b"yes"
        session.upload("answer", "42")
        assert step.result().shown == "'42'"


def test_wrong_names_leave_the_session_alive(session):
    session.upload("d/a", "x")
    for use in (session.download, session.remove, lambda name: session.upload(name, b"")):
        for name in ("../a", "/etc/passwd", "", ".", "d/..", "d//a"):
            with pytest.raises(cordon.InvalidRequest, match="a name is a path below /work"):
                use(name)
        with pytest.raises(TypeError, match="give the path below /work as text"):
            use(7)
    for use in (session.download, session.remove):
        with pytest.raises(cordon.Unknown, match="there is no such file in /work"):
            use("none")
    with pytest.raises(cordon.InvalidRequest, match="it is a directory"):
        session.download("d")
    with pytest.raises(cordon.InvalidRequest):
        session.upload("d/a/b", b"")
    with pytest.raises(FileNotFoundError):
        session.upload("/no/such/file")
    with pytest.raises(IsADirectoryError):
        session.upload(os.path.dirname(__file__))
    with pytest.raises(TypeError, match="data is 7"):
        session.upload("a", 7)
    assert session.alive and session.run("1").shown == "1"


def test_files_that_a_session_cannot_hold(either):
    with either.session(limits={"scratch": "1MiB"}) as session:
        session.upload("a", b"kept")
        with pytest.raises(cordon.InvalidRequest, match="no room left"):
            session.upload("a", bytes(2 << 20))
        assert session.download("a") == b"kept" and [file.name for file in session.files()] == ["a"]


def test_times_of_guests(session):
    session.run("import os; open('far', 'w').close(); os.utime('far', (1e12, 1e12)); open('old', 'w').close(); os.utime('old', (-1e12, -1e12))")
    assert [(file.name, file.modified.year) for file in session.files()] == [("far", 1), ("old", 1)]


def test_files_of_a_session_under_the_language_rules(either):
    with either.session(restricted=True) as session:
        with pytest.raises(cordon.InvalidRequest, match="has no files"):
            session.upload("a", "x")
        assert session.run("result = 1").value == 1


def test_files_of_an_ended_session(session):
    session.upload("a", "x")
    session.run("import os; os._exit(0)")
    for use in (session.files, lambda: session.download("a"), lambda: session.upload("a", "x"), lambda: session.remove("a")):
        with pytest.raises(cordon.Gone, match="ended it"):
            use()


def test_files_end_a_session_that_is_gone(session):
    """Another user of the session, of this process or not, may know already that it has ended."""
    session.run("import os; os._exit(0)")
    session._over = None
    with pytest.raises(cordon.Gone):
        session.files()
    assert not session.alive


def test_files_of_a_closed_session(either):
    session = either.session()
    session.upload("a", "x")  # which opens it
    session.close()
    with pytest.raises(cordon.Closed, match="the session is closed"):
        session.download("a")


def test_files_of_a_dead_child(own):
    with own.session() as session:
        session.upload("a", "x")
        kill(child_of(own).pid)
        with pytest.raises((cordon.ConnectionLost, cordon.Gone)):
            session.download("a")
        with pytest.raises(cordon.Gone):
            session.files()
        assert not session.alive


@pytest.mark.load
def test_large_files(either, tmp_path):
    """What is uploaded from a path is read while it is sent."""
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.write(b"begin")
        file.truncate(12 << 20)
    with either.session(limits={"scratch": "60MiB"}) as session:
        assert session.upload(path).size == 12 << 20
        assert session.run("import os; result = [os.path.getsize('large'), open('large', 'rb').read(5).decode()]").value == [12 << 20, "begin"]
        assert session.download("large") == path.read_bytes()
        with pytest.raises(cordon.CordonError, match="longer than|above the maximum"):
            session.upload("x", bytes(65 << 20))
        assert [file.name for file in session.files()] == ["large"]


@pytest.mark.load
def test_files_larger_than_a_line(tmp_path):
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(72 << 20)
    with cordon.Sandbox(policy={"maxima": {"scratch": "100MiB"}}) as sandbox, sandbox.session(limits={"scratch": "100MiB"}) as session:
        assert session.upload(path).size == 72 << 20
        with pytest.raises(cordon.InvalidRequest, match="the most in an answer is 64MiB"):
            session.download("large")
        session.run("import os; os.truncate('large', 64 << 20)")
        assert session.download("large") == bytes(64 << 20)


@pytest.mark.parametrize("lost", [answer(kind="text/plain", body=b"part", length=100), answer("502 Bad Gateway", "text/html", b"<html>")])
def test_download_that_is_cut_off_is_no_file(lost):
    service = Answering([answer(body=b'{"session": "x"}'), lost], [answer("204 No Content", body=b"")])
    with cordon.Sandbox(url=service.url) as sandbox:
        session = sandbox.session()
        with pytest.raises(cordon.ConnectionLost):
            session.download("a")
        assert service.requests == 2


def test_content_is_not_sent_as_json(unix, monkeypatch):  # noqa: F811
    sent = []
    original = http.client.HTTPConnection.request

    def request(self, method, path, body=None, headers={}, **more):
        sent.append((method, headers["Content-Type"]))
        return original(self, method, path, body, headers, **more)

    monkeypatch.setattr(http.client.HTTPConnection, "request", request)
    with cordon.Sandbox(url=unix) as sandbox, sandbox.session() as session:
        session.upload("a", "text")
    assert sent == [("POST", "application/json"), ("PUT", "application/octet-stream"), ("DELETE", "application/json")]


def test_many_threads_share_the_files_of_a_session(session):
    answers, barrier = {}, threading.Barrier(8)

    def work(n):
        barrier.wait()
        for i in range(10):
            session.upload(f"{n}/{i}", bytes([n, i]) * 5000)
        answers[n] = [session.download(f"{n}/{i}") for i in range(10)]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {n: [bytes([n, i]) * 5000 for i in range(10)] for n in range(8)}
    assert len(session.files()) == 80
