"""Tests the search for the binary: it must not be one that a guest could have written."""

import os
import subprocess
import sys

import pytest

from cordon import CordonError, _binary


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A workspace, which is the current directory, and an installed cordon beside it."""
    root = tmp_path.resolve()
    work, installed = root / "work", root / "installed"
    for directory in (work / "bin", installed, root / "home"):
        directory.mkdir(parents=True)
    for program in (work / "bin" / _binary.NAME, work / _binary.NAME, installed / _binary.NAME):
        program.write_text("#!/bin/sh\n: > %s/canary\n" % root)
        program.chmod(0o755)
    monkeypatch.chdir(work)
    monkeypatch.delenv("CORDON_BIN", raising=False)
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.setattr(_binary, "__file__", str(root / "package" / "_binary.py"))  # a package without a binary
    return root


def test_search_skips_files_that_guests_could_write(host, monkeypatch):
    work, installed = host / "work", host / "installed"
    (host / "linked").symlink_to(work / "bin")  # a directory on PATH that leads into the workspace
    (host / "bin").mkdir()
    (host / "bin" / _binary.NAME).symlink_to(work / "bin" / _binary.NAME)  # a link to a program there
    (work / "links").mkdir()
    (work / "links" / _binary.NAME).symlink_to(installed / _binary.NAME)  # a guest's link to a real one
    (work / "dir").symlink_to(installed)
    (host / "long").mkdir()
    (host / "long" / _binary.NAME).symlink_to(work / "dir" / _binary.NAME)  # a path through a guest's link
    (work / "loop").symlink_to("loop")
    directories = ["", ".", "bin", "../work/bin", work, work / "bin", work / "links", work / "dir", work / "loop"]
    directories += [host / "linked", host / "bin", host / "long"]
    for directory in directories:
        monkeypatch.setenv("PATH", str(directory))
        for named in (None, _binary.NAME):
            with pytest.raises(CordonError):
                _binary.find(named)
        monkeypatch.setenv("PATH", os.pathsep.join([str(directory), str(installed)]))
        assert _binary.find() == str(installed / _binary.NAME)
        monkeypatch.setenv("CORDON_BIN", _binary.NAME)  # a name is searched for, too
        assert _binary.find() == str(installed / _binary.NAME)
        monkeypatch.delenv("CORDON_BIN")


def test_named_binary_is_used(host, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    for path in ("bin/" + _binary.NAME, "./" + _binary.NAME, str(host / "work" / _binary.NAME)):
        assert _binary.find(path) == path
        monkeypatch.setenv("CORDON_BIN", path)
        assert _binary.find() == path
        monkeypatch.delenv("CORDON_BIN")
    with pytest.raises(CordonError):
        _binary.find("./gone")


def test_home_directory_is_not_a_workspace(host, monkeypatch):
    monkeypatch.setenv("PATH", str(host / "work" / "bin"))
    monkeypatch.setenv("HOME", str(host / "work"))
    assert _binary.find() == str(host / "work" / "bin" / _binary.NAME)


def test_planted_binary_is_not_executed(host):
    """Runs a user's program that imports the whole package."""
    source = "import cordon\ntry:\n    cordon.run('pass')\nexcept cordon.CordonError as problem:\n    print(problem)"
    path = os.pathsep.join(["bin", "", str(host / "work" / "bin")])
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "src")
    env = {"PATH": path, "PYTHONPATH": package, "HOME": str(host / "home")}
    done = subprocess.run([sys.executable, "-B", "-c", source], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not (host / "canary").exists()
