"""Builds the package: a PEP 517 backend that needs nothing but Python.

There is nothing to compile, and no build tool to download. If `make build` has put binaries
into the repository's bin/, the wheel contains them and is for this platform only; without them
it is for all platforms.
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
MACHINES = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
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


def binaries():
    """Returns the programs for the wheel; cordond is for the services of cordon."""
    found = {name: os.path.join(BINARIES, name) for name in ("cordon", "cordond")}
    return found if os.path.exists(found["cordon"]) and platform.system() == "Linux" else {}


def tag(carried):
    """Returns the wheel's tag: static programs run with every C library, old or new."""
    if not carried:
        return "py3-none-any"
    machine = MACHINES[platform.machine()]
    return f"py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"


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
