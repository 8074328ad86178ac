"""The commands cordon, py-sandbox and py-sandbox-mcp."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from typing import List, Optional

from . import _binary
from ._errors import CordonError
from ._execute import (
    DEFAULT_MEMORY,
    DEFAULT_OUTPUT,
    DEFAULT_TIMEOUT,
    MAX_MEMORY,
    MAX_OUTPUT,
    MAX_TIMEOUT,
    execute,
)


def py_sandbox(arguments: Optional[List[str]] = None) -> int:
    """Runs code, shows its output, and returns its exit code."""
    parser = argparse.ArgumentParser(prog="py-sandbox", description="Run Python code that you do not trust.")
    parser.add_argument("code", nargs="?", help="the code; - is standard input")
    parser.add_argument("-f", "--file", help="read the code from a file")
    parser.add_argument(
        "-t", "--timeout", type=float, default=DEFAULT_TIMEOUT, help=f"seconds ({DEFAULT_TIMEOUT}, at most {MAX_TIMEOUT})"
    )
    parser.add_argument("-m", "--memory", type=int, default=DEFAULT_MEMORY, help=f"MiB ({DEFAULT_MEMORY}, at most {MAX_MEMORY})")
    parser.add_argument(
        "-o", "--output-limit", type=int, default=DEFAULT_OUTPUT, help=f"bytes ({DEFAULT_OUTPUT}, at most {MAX_OUTPUT})"
    )
    parser.add_argument(
        "-v", "--variables", action="append", default=[], metavar="NAME", help="show a variable after the run (repeatable)"
    )
    options = parser.parse_args(arguments)
    if (options.code is None) == (options.file is None):
        parser.error("give the code, or a file with -f")
    try:
        code = _read(options.code, options.file)
        result = execute(code, options.timeout, options.memory, options.output_limit, options.variables)
    except (CordonError, ValueError, OSError) as problem:
        print(f"py-sandbox: {problem}", file=sys.stderr)
        return 2
    shown = "".join(f"{name} = {value!r}\n" for name, value in result["variables"].items())
    between = "\n" if shown and result["stdout"] and not result["stdout"].endswith("\n") else ""
    _write(result["stdout"] + between + shown)
    sys.stderr.write(result["stderr"])
    for name in ("stdout", "stderr"):
        if result[f"{name}_truncated"]:  # type: ignore[literal-required]
            print(f"py-sandbox: {name} was cut at {options.output_limit} bytes; -o allows more, up to {MAX_OUTPUT}", file=sys.stderr)
    for name in result["missing_variables"]:
        print(f"py-sandbox: the code has not set {name}", file=sys.stderr)
    if result["error"] and not result["stderr"].rstrip().endswith(result["error"]):
        print(f"py-sandbox: {result['error']}", file=sys.stderr)
    return result["return_code"] if result["return_code"] >= 0 else 1


def _write(text: str) -> None:
    """Replaces characters that the terminal cannot show: the guest chose them, and they must
    not fail the command."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _read(code: Optional[str], file: Optional[str]) -> str:
    if code == "-":
        return sys.stdin.read()
    if code is not None:
        return code
    assert file is not None
    with open(file, encoding="utf-8-sig") as source:  # as Python reads source files
        return source.read()


def py_sandbox_mcp(arguments: Optional[List[str]] = None) -> int:
    """Becomes ``cordon mcp``, under the rules of ``execute``; "sse" is its transport for HTTP."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in ("stdio", "sse", "http"):
        arguments = ["--transport", *arguments]
    named = os.environ.get("CORDON_POLICY") or any(a.split("=")[0] == "--policy" for a in arguments)
    if not named and (not arguments or arguments[0].startswith("-")):  # not a subcommand of mcp
        arguments = ["--policy", os.path.join(os.path.dirname(os.path.abspath(__file__)), "py-sandbox.yaml"), *arguments]
    return _become("py-sandbox-mcp", ["mcp", *arguments])


def _become(name: str, arguments: List[str]) -> int:
    """Replaces this process with the cordon binary; ``name`` is what the user typed."""
    try:
        command = [_binary.find(), *arguments]
    except CordonError as problem:
        print(f"{name}: {problem}", file=sys.stderr)
        return 127
    if os.name == "nt":
        return subprocess.call(command)
    os.execv(command[0], command)


def main_cordon() -> None:
    sys.exit(_become("cordon", sys.argv[1:]))


def main_py_sandbox() -> None:
    sys.exit(py_sandbox())


def main_py_sandbox_mcp() -> None:
    sys.exit(py_sandbox_mcp())
