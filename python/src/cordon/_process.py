"""A child process with pipes.

subprocess would do, but importing it takes as long as cordon takes to start. What the package
imports after it has started cordon costs no time: cordon starts meanwhile.
"""

from __future__ import annotations

import os
import time

from ._locks import new_lock

TYPE_CHECKING = False  # typing, too, takes long to import
if TYPE_CHECKING:
    from typing import Any, List, Optional

# Python ignores these signals, and an ignored signal stays ignored in a child.
_IGNORED = (13, 25)  # SIGPIPE, SIGXFSZ: the same numbers on all systems with posix_spawn
_SIGKILL, _SIGTERM = 9, 15

#: Where a program finds the file that it was started with.
FILE = "/dev/fd/3"


class Process:
    """A program that was started with this standard error. ``stdin`` and ``stdout`` are our ends
    of its pipes, and the caller closes them. The program finds ``file`` at ``FILE``."""

    def __init__(self, command: List[str], stderr: int, file: Optional[int] = None) -> None:
        #: The exit code, or minus the signal that ended it; None while it runs.
        self.returncode: Optional[int] = None
        self._waiting = new_lock()
        stdin, self.stdin = map(_above_standard, os.pipe())
        self.stdout, stdout = map(_above_standard, os.pipe())
        theirs = [stdin, stdout, stderr] if file is None else [stdin, stdout, stderr, file]
        actions: List[Any] = [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inheritable()]
        actions += [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate(theirs)]
        try:
            # A process group of its own: Ctrl-C at the terminal is for Python, not for cordon,
            # which would end with the requests of other threads.
            self.pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setpgroup=0, setsigdef=_IGNORED)
        except BaseException:
            os.close(self.stdin)
            os.close(self.stdout)
            raise
        finally:
            os.close(stdin)
            os.close(stdout)

    def poll(self) -> Optional[int]:
        """Returns the exit code, or None while the program runs."""
        if self.returncode is None:
            with self._waiting:  # two threads must not reap it
                if self.returncode is None:
                    self._reap()
        return self.returncode

    def _reap(self) -> None:
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            self.returncode = 0  # somebody else has reaped it: its exit code is lost
            return
        if pid == self.pid:
            self.returncode = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def wait(self, timeout: float = 3600.0 * 24 * 365) -> int:
        """Returns the exit code, or raises TimeoutError."""
        end, pause = time.monotonic() + timeout, 0.00025
        while True:
            code = self.poll()
            if code is not None:
                return code
            if time.monotonic() > end:
                raise TimeoutError
            time.sleep(pause)
            pause = min(pause * 1.2, 0.05)

    def terminate(self) -> None:
        self._signal(_SIGTERM)

    def kill(self) -> None:
        self._signal(_SIGKILL)

    def _signal(self, number: int) -> None:
        with self._waiting:
            if self.returncode is None:  # otherwise the pid may be another process's
                try:
                    os.kill(self.pid, number)
                except ProcessLookupError:
                    pass


def nameless_file(text: str = "") -> int:
    """Returns a descriptor of a new file without a name: nobody has to remove it."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("cordon")
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    with open(fd, "w", encoding="utf-8", closefd=False) as writer:
        writer.write(text)
    os.lseek(fd, 0, os.SEEK_SET)
    return _above_standard(fd)


def _above_standard(fd: int) -> int:
    """Returns the descriptor with another number, if it has one that is given to programs. It
    would be overwritten there."""
    low = []
    while fd <= 3:
        low.append(fd)
        fd = os.dup(fd)
    for number in low:
        os.close(number)
    return fd


def _inheritable() -> List[int]:
    """Returns what a child would inherit besides the standard descriptors: sockets, for example,
    that this program means for another child."""
    found = []
    try:
        names = os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd")
    except OSError:
        return []
    for name in names:
        try:
            if int(name) > 2 and os.get_inheritable(int(name)):
                found.append(int(name))
        except OSError:
            pass  # closed meanwhile: the directory itself was among them
    return found
