"""A child process with pipes, on Windows.

There are no signals: cordon ends with its standard input. There are no files without a name that
a child finds by a descriptor: a policy has a file in the user's directory for temporary files,
until cordon has read it.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import msvcrt
import os
import subprocess
import tempfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional

#: Stands for the path of the file that a program was started with.
FILE = "<policy>"


class Process:
    """A program that was started with this standard error. ``stdin`` and ``stdout`` are our ends
    of its pipes, and the caller closes them. An argument that is ``FILE`` becomes the path of a
    file with the text."""

    has_signals = False

    def __init__(self, command: List[str], stderr: int, text: Optional[str] = None) -> None:
        self.returncode: Optional[int] = None
        self._file = ""
        stdin, self.stdin = os.pipe()
        self.stdout, stdout = os.pipe()
        try:
            for fd in (self.stdin, self.stdout):
                msvcrt.setmode(fd, os.O_BINARY)
            if text is not None:
                self._file = _file_with(text)
                command = [self._file if part == FILE else part for part in command]
            # A console that nobody sees: Ctrl-C is for Python, and a program without a console
            # gets no window.
            flags = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
            self._child = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, creationflags=flags)
        except BaseException:
            os.close(self.stdin)
            os.close(self.stdout)
            self.forget_file()
            raise
        finally:
            os.close(stdin)
            os.close(stdout)
        self.pid = self._child.pid

    def forget_file(self) -> None:
        """Removes the file, which the program has read."""
        path, self._file = self._file, ""
        if path:
            try:
                os.remove(path)
            except OSError:
                pass  # somebody has removed it, or looks at it

    def poll(self) -> Optional[int]:
        """Returns the exit code, or None while the program runs."""
        self.returncode = self._child.poll()
        return self.returncode

    def wait(self, timeout: float = 3600.0 * 24) -> int:
        """Returns the exit code, or raises TimeoutError."""
        try:
            self.returncode = self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        return self.returncode

    def terminate(self) -> None:
        self.kill()

    def kill(self) -> None:
        self._child.kill()


def _file_with(text: str) -> str:
    fd, path = tempfile.mkstemp(prefix="cordon-", suffix=".json")
    with open(fd, "w", encoding="utf-8") as file:
        file.write(text)
    return path
