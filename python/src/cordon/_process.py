"""A child process with pipes. On Windows, _windows.py starts the process.

subprocess would do, but importing it takes as long as cordon takes to start. What the package
imports after it has started cordon costs no time: cordon starts meanwhile.
"""

from __future__ import annotations

import os
import select
import time
from _thread import allocate_lock, start_new_thread

from ._locks import new_lock, wait_for

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
    of its pipes, and the caller closes them. The program finds the text at ``FILE``."""

    #: Whether it can be asked to end. Otherwise it ends with its standard input.
    has_signals = True

    def __init__(self, command: List[str], stderr: int, text: Optional[str] = None) -> None:
        #: The exit code, or minus the signal that ended it; None while it runs.
        self.returncode: Optional[int] = None
        self._waiting = new_lock()
        file = [] if text is None else [nameless_file(text)]
        try:
            self._start(command, stderr, file)
        finally:
            for fd in file:
                os.close(fd)

    def _start(self, command: List[str], stderr: int, file: List[int]) -> None:
        stdin, self.stdin = map(_above_standard, os.pipe())
        self.stdout, stdout = map(_above_standard, os.pipe())
        actions: List[Any] = [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inheritable()]
        actions += [(os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate([stdin, stdout, stderr, *file])]
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

    def forget_file(self) -> None:
        """Removes the file, which the program has read. It has no name."""

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


def read_nameless(fd: int, most: int) -> bytes:
    """Returns the beginning of a file that a program has written, and that is not ours alone."""
    if hasattr(os, "pread"):
        found: bytes = os.pread(fd, most, 0)
        return found
    os.lseek(fd, 0, os.SEEK_SET)
    return os.read(fd, most)


_CHUNK = 1 << 16


class Pipes:
    """Our ends of a child's pipes, for a system with poll."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self._stdout = stdout
        self._answers = select.poll()
        self._answers.register(stdout, select.POLLIN)
        self._room = select.poll()
        self._room.register(stdin, select.POLLOUT)

    def wait(self) -> None:
        """Waits until there is something to read. An interrupt does no harm."""
        self._answers.poll()

    def read(self) -> bytes:
        """Returns what can be read, and nothing at the end."""
        return os.read(self._stdout, _CHUNK)

    def writable(self) -> bool:
        """Whether a short line can be written without waiting."""
        return bool(self._room.poll(0))

    def drop_rest(self) -> None:
        """Forgets what the child still writes, so that it never waits for us."""

    def close(self) -> None:
        """Closes the pipe of the answers."""
        os.close(self._stdout)

    def forget(self) -> None:
        """The same in a forked process."""
        os.close(self._stdout)


class ThreadedPipes(Pipes):
    """The same for a system without poll: a thread reads one chunk ahead, and closes the pipe at
    its end, because nobody may close it while the thread reads."""

    def __init__(self, stdin: int, stdout: int) -> None:
        self._stdout = stdout
        self._chunk: Optional[bytes] = None  # what was read; empty at the end
        self._dropping = False
        self._ready, self._taken = allocate_lock(), allocate_lock()
        self._ready.acquire()
        self._taken.acquire()
        start_new_thread(self._read_ahead, ())

    def _read_ahead(self) -> None:
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(self._stdout, _CHUNK)
            except OSError:
                chunk = b""  # the child is dead
            self._chunk = chunk
            _wake(self._ready)
            if chunk and not self._dropping:
                self._taken.acquire()
        os.close(self._stdout)

    def wait(self) -> None:
        while self._chunk is None:
            wait_for(self._ready)

    def read(self) -> bytes:
        chunk = self._chunk or b""
        if chunk:
            self._chunk = None
            _wake(self._taken)
        return chunk

    def writable(self) -> bool:
        return False

    def drop_rest(self) -> None:
        self._dropping = True
        _wake(self._taken)

    def close(self) -> None:
        self.drop_rest()


def _wake(lock: Any) -> None:
    try:
        lock.release()
    except RuntimeError:
        pass  # it was already released


#: What this system has.
new_pipes = Pipes if hasattr(select, "poll") else ThreadedPipes


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
