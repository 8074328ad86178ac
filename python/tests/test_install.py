"""Installs the package into a fresh environment: from the source, and from the wheel."""

import glob
import os
import subprocess
import sys
import venv
import zipfile

import pytest

from cordon import _binary

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
THREE_LINES = "import cordon\nresult = cordon.run('result = 6 * 7')\nprint(result.value)"


def clean(**more):
    """Returns an environment without Go, without cordon, and without the variables of this test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CORDON", "PYTHON", "GO"))}
    return {**kept, "PATH": "/usr/bin:/bin", **more}


def run(*command, env=None, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=120, env=env or clean(), **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    directory = tmp_path_factory.mktemp("fresh")
    venv.create(directory, symlinks=True)
    return directory / "bin"


def pip(fresh, *arguments, **more):
    """Runs the pip of this test's Python for the fresh one: installing another takes long."""
    return run(sys.executable, "-m", "pip", "--python", fresh / "python", "--disable-pip-version-check", "-q", *arguments, **more)


def test_install_from_the_source(fresh):
    """Without binaries in bin/ the package uses the one in CORDON_BIN."""
    pip(fresh, "install", "--no-index", HERE, env=clean(CORDON_WHEEL_BIN="/nowhere"))
    assert run(fresh / "python", "-c", THREE_LINES, env=clean(CORDON_BIN=_binary.find())) == "42\n"
    assert run(fresh / "py-sandbox", "print(6 * 7)", env=clean(CORDON_BIN=_binary.find())) == "42\n"
    # The package's own command must not be taken for the binary.
    alone = clean(PATH=f"{fresh}:/usr/bin:/bin")
    for command in ([fresh / "cordon", "version"], [fresh / "python", "-m", "cordon", "version"]):
        assert run(*command, env=clean(CORDON_BIN=_binary.find())).startswith("cordon")
        refused = subprocess.run(command, capture_output=True, text=True, env=alone, timeout=60)
        assert refused.returncode == 127 and "there is no cordon binary" in refused.stderr
    refused = subprocess.run([fresh / "python", "-c", THREE_LINES], capture_output=True, text=True, env=clean())
    assert "there is no cordon binary" in refused.stderr


def test_install_from_the_wheel(fresh, tmp_path):
    """The wheel contains the binaries, so it needs no Go and no cordon on PATH."""
    binaries = os.path.dirname(_binary.find())
    pip(fresh, "wheel", "--no-deps", "--no-index", "-w", tmp_path, HERE, env=clean(CORDON_WHEEL_BIN=binaries))
    (wheel,) = glob.glob(str(tmp_path / "*.whl"))
    assert "-py3-none-manylinux_2_17_" in wheel
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "cordon/bin/cordon" in names and "cordon/bin/cordond" in names and "cordon/py.typed" in names
    assert "cordon/py-sandbox.yaml" in names
    assert not [name for name in names if "__pycache__" in name or "tests" in name]
    pip(fresh, "install", "--no-index", "--force-reinstall", wheel)
    assert run(fresh / "python", "-c", THREE_LINES, cwd=tmp_path) == "42\n"
    assert run(fresh / "python", "-c", "import cordon._binary as b; print(b.find())").startswith(str(fresh.parent))
    assert run(fresh / "py-sandbox", "-v", "x", "x = 42") == "x = 42\n"
    assert "run_python" in run(fresh / "py-sandbox-mcp", "--help")
    assert run(fresh / "cordon", "run", "-c", "print(6 * 7)") == run(fresh / "python", "-m", "cordon", "run", "-c", "print(6 * 7)") == "42\n"
    pip(fresh, "uninstall", "-y", "cordon")


@pytest.fixture
def backend(monkeypatch):
    """The build backend, without binaries for the wheel."""
    monkeypatch.syspath_prepend(os.path.join(HERE, "backend"))
    import cordon_build

    monkeypatch.setattr(cordon_build, "BINARIES", "/nowhere")
    return cordon_build


# What pip asks for on a platform, and the programs that it must get.
PLATFORMS = {
    "linux-amd64": ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"),
    "linux-arm64": ("manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"),
    "darwin-amd64": ("macosx_12_0_x86_64", "macosx_15_0_x86_64"),
    "darwin-arm64": ("macosx_12_0_arm64", "macosx_15_0_arm64"),
    "windows-amd64": ("win_amd64",),
    "windows-arm64": ("win_arm64",),
}


@pytest.fixture
def wheels(backend, tmp_path, monkeypatch):
    """A directory with a wheel for each platform, whose programs say where they are from."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for platform in PLATFORMS:
        programs = tmp_path / platform
        programs.mkdir()
        for name in ("cordon", "cordond"):
            (programs / (name + ".exe" * platform.startswith("windows"))).write_text(f"{name} {platform}")
        monkeypatch.setenv("CORDON_WHEEL_PLATFORM", platform)
        monkeypatch.setattr(backend, "BINARIES", str(programs))
        backend.build_wheel(str(wheels))
    return wheels


@pytest.mark.parametrize("platform", PLATFORMS)
def test_pip_chooses_the_wheel_of_the_platform(wheels, tmp_path, platform):
    ending = ".exe" if platform.startswith("windows") else ""
    for number, tag in enumerate(PLATFORMS[platform]):
        chosen = tmp_path / str(number)
        run(
            sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-index", "--no-deps",
            "--find-links", wheels, "--only-binary=:all:", "--platform", tag, "--python-version", "3.9", "-d", chosen, "cordon",
        )  # fmt: skip
        (wheel,) = chosen.iterdir()
        with zipfile.ZipFile(wheel) as archive:
            for name in ("cordon", "cordond"):
                item = archive.getinfo(f"cordon/bin/{name}{ending}")
                assert archive.read(item).decode() == f"{name} {platform}"
                assert item.external_attr >> 16 & 0o111 == 0o111
            assert len([name for name in archive.namelist() if name.startswith("cordon/bin/")]) == 2


def test_wheel_for_a_platform_needs_its_programs(backend, tmp_path, monkeypatch):
    monkeypatch.setenv("CORDON_WHEEL_PLATFORM", "windows-arm64")
    with pytest.raises(FileNotFoundError, match="cordon.exe is missing"):
        backend.build_wheel(str(tmp_path))
    monkeypatch.setenv("CORDON_WHEEL_PLATFORM", "plan9-amd64")
    with pytest.raises(ValueError, match="it must be one of linux-amd64"):
        backend.build_wheel(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_wheel_is_reproducible(backend, tmp_path):
    for directory in ("a", "b"):
        (tmp_path / directory).mkdir()
        backend.build_wheel(str(tmp_path / directory))
    (first,), (second,) = (list((tmp_path / directory).iterdir()) for directory in ("a", "b"))
    assert first.name.endswith("-py3-none-any.whl")
    assert first.name == second.name and first.read_bytes() == second.read_bytes()


def test_install_from_the_source_archive(fresh, backend, tmp_path):
    archive = tmp_path / backend.build_sdist(str(tmp_path))
    pip(fresh, "install", "--no-index", "--force-reinstall", archive)
    assert run(fresh / "python", "-c", THREE_LINES, env=clean(CORDON_BIN=_binary.find())) == "42\n"
