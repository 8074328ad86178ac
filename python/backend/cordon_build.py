"""Builds the package: a PEP 517 backend that needs nothing but Python.

There is nothing to compile, and no build tool to download. If `make build` has put binaries
into the repository's bin/, the wheel contains them and is for this platform only; without them
it is for all platforms. scripts/release builds a wheel for each platform: CORDON_WHEEL_BIN is
the directory of its binaries, and CORDON_WHEEL_PLATFORM its name, such as windows-amd64.
"""

import base64
import hashlib
import io
import os
import platform
import re
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "src", "cordon")
BINARIES = os.environ.get("CORDON_WHEEL_BIN", os.path.join(os.path.dirname(ROOT), "bin"))

SUMMARY = "Run code that you do not trust, behind real walls"
EXTRAS = {
    "cloudpickle": ["cloudpickle"],
    "langchain": ["langchain-core"],
    "pydantic-ai": ["pydantic-ai-slim"],
    "smolagents": ["smolagents"],
}
COMMANDS = {
    "cordon": "cordon._cli:main_cordon",
    "py-sandbox": "cordon._cli:main_py_sandbox",
    "py-sandbox-mcp": "cordon._cli:main_py_sandbox_mcp",
}
# Go's names of processors.
MACHINES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64", "ARM64": "arm64"}
# The tags of wheels with binaries. Static programs run with every C library, old or new. Go 1.26
# makes programs for macOS 12 and newer.
PLATFORMS = {
    "linux-amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin-amd64": "macosx_12_0_x86_64",
    "darwin-arm64": "macosx_12_0_arm64",
    "windows-amd64": "win_amd64",
    "windows-arm64": "win_arm64",
}
# The same source gives the same bytes.
TIME = (2026, 1, 1, 0, 0, 0)


def version():
    with open(os.path.join(SOURCE, "__init__.py"), encoding="utf-8") as file:
        return re.search(r'^__version__ = "([^"]+)"', file.read(), re.M).group(1)


def metadata():
    lines = [
        "Metadata-Version: 2.1", "Name: cordon", f"Version: {version()}", f"Summary: {SUMMARY}",
        "License: Apache-2.0", "Requires-Python: >=3.9", "Classifier: Typing :: Typed",
    ]
    for extra, packages in EXTRAS.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {package}; extra == "{extra}"' for package in packages]
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return "\n".join([*lines, "Description-Content-Type: text/markdown", "", file.read()])


def target():
    """Returns the platform that the binaries are for."""
    named = os.environ.get("CORDON_WHEEL_PLATFORM")
    if named and named not in PLATFORMS:
        raise ValueError(f"CORDON_WHEEL_PLATFORM is {named}: it must be one of {', '.join(PLATFORMS)}")
    return named or f"{platform.system().lower()}-{MACHINES.get(platform.machine())}"


def binaries():
    """Returns the programs for the wheel; cordond is for the services of cordon."""
    ending = ".exe" if target().startswith("windows-") else ""
    found = {name + ending: os.path.join(BINARIES, name + ending) for name in ("cordon", "cordond")}
    missing = [path for path in found.values() if not os.path.exists(path)]
    if missing and os.environ.get("CORDON_WHEEL_PLATFORM"):
        raise FileNotFoundError(f"{missing[0]} is missing, which the wheel for {target()} has to contain")
    return found if target() in PLATFORMS and os.path.exists(found["cordon" + ending]) else {}


def tag(carried):
    return "py3-none-" + (PLATFORMS[target()] if carried else "any")


def sources():
    for directory, directories, files in os.walk(SOURCE):
        directories[:] = sorted(f for f in directories if f not in ("__pycache__", "bin"))
        for name in sorted(files):
            path = os.path.join(directory, name)
            if not name.endswith(".pyc"):
                yield "cordon/" + os.path.relpath(path, SOURCE).replace(os.sep, "/"), path


class Wheel:
    def __init__(self, directory, files_tag):
        self.name = f"cordon-{version()}-{files_tag}.whl"
        self.info = f"cordon-{version()}.dist-info"
        self.archive = zipfile.ZipFile(os.path.join(directory, self.name), "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, data, mode=0o644):
        item = zipfile.ZipInfo(name, TIME)
        item.compress_type, item.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
        self.archive.writestr(item, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, files_tag):
        self.add(f"{self.info}/METADATA", metadata().encode())
        lines = ["Wheel-Version: 1.0", "Generator: cordon_build", f"Root-Is-Purelib: {'true' if files_tag.endswith('-any') else 'false'}"]
        first, _, platforms = files_tag.rpartition("-")
        lines += [f"Tag: {first}-{one}" for one in platforms.split(".")]
        self.add(f"{self.info}/WHEEL", "\n".join([*lines, ""]).encode())
        commands = "".join(f"{name} = {target}\n" for name, target in COMMANDS.items())
        self.add(f"{self.info}/entry_points.txt", f"[console_scripts]\n{commands}".encode())
        self.record.append(f"{self.info}/RECORD,,\n")
        self.archive.writestr(zipfile.ZipInfo(f"{self.info}/RECORD", TIME), "\n".join(self.record))
        self.archive.close()
        return self.name


def read(path):
    with open(path, "rb") as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    carried = binaries()
    wheel = Wheel(wheel_directory, tag(carried))
    for name, path in sources():
        wheel.add(name, read(path))
    for name, path in carried.items():
        if os.path.exists(path):
            wheel.add("cordon/bin/" + name, read(path), 0o755)
    return wheel.close(tag(carried))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    wheel = Wheel(wheel_directory, "py3-none-any")
    wheel.add("cordon.pth", (os.path.join(ROOT, "src") + "\n").encode())
    return wheel.close("py3-none-any")


def build_sdist(sdist_directory, config_settings=None):
    base = f"cordon-{version()}"
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in ("pyproject.toml", "README.md", "backend/cordon_build.py"):
            archive.add(os.path.join(ROOT, name), f"{base}/{name}")
        for name, path in sources():
            archive.add(path, f"{base}/src/{name}")
        item = tarfile.TarInfo(f"{base}/PKG-INFO")
        data = metadata().encode()
        item.size = len(data)
        archive.addfile(item, io.BytesIO(data))
    return base + ".tar.gz"
