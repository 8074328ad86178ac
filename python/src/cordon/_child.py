"""One child of the cordon binary, shared by all threads and event loops.

Requests go to its standard input, one line of JSON each; answers come from its standard output
as they are done. There is no reader thread: a thread that waits for an answer reads, unless
another does, and passes on the answers for others. When it has its own answer, it wakes another
waiting thread, which continues to read. So a program with one thread pays for no thread
switches. Only for event loops, which must not block, there are two extra threads.

An interrupt can come between any two steps. So each step is done before it is announced, and a
thread that is woken checks the state itself.
"""

from __future__ import annotations

import errno
import itertools
import os
import select
import sys
from _thread import allocate_lock

from . import _process
from ._errors import BY_KIND, Busy, Closed, ConnectionLost, CordonError, NotFound, NothingSent, Unsupported
from ._locks import new_lock, wait_for

if sys.platform == "win32":
    from ._windows import FILE as FILE, Process
else:
    from ._process import FILE as FILE, Process

TYPE_CHECKING = False  # typing, too, takes long to import
if TYPE_CHECKING:
    import asyncio
    import queue
    import threading
    from typing import Dict, List, Optional, Set

    from ._hooks import Hooks
    from ._session import ChildSession

# What each answer begins with: the version of its form, and its id.
_BEGINNING = b'{"v":1,"id":"'
_ID_AT = len(_BEGINNING)
# The number of bytes that a writable pipe takes without blocking, on every POSIX system.
_AT_ONCE = 512 if not hasattr(select, "PIPE_BUF") else select.PIPE_BUF
# How many hooks stay open; the least recently called ones are closed.
_HOOKS = 64
# The exit codes of cordon's own failures, by class.
_KINDS = {2: "invalid", 75: "busy", 125: "unsupported", 126: "not_found", 127: "not_found"}


class Slot:
    """One request and its answer."""

    __slots__ = ("key", "answer", "error", "wake")

    def __init__(self) -> None:
        self.key = b""
        self.answer: Optional[bytes] = None
        self.error: Optional[CordonError] = None
        self.wake = allocate_lock()  # released when there is something to do
        self.wake.acquire()

    @property
    def done(self) -> bool:
        return self.answer is not None or self.error is not None

    def wake_up(self) -> None:
        try:
            self.wake.release()
        except RuntimeError:
            pass  # it was already woken


class LoopSlot(Slot):
    """The same for a task of an event loop."""

    __slots__ = ("loop", "future")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop = loop
        self.future: asyncio.Future[None] = loop.create_future()

    def wake_up(self) -> None:
        try:
            self.loop.call_soon_threadsafe(self._finish)
        except RuntimeError:
            pass  # the loop is closed

    def _finish(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


class Child:
    """A running cordon. When it has ended, its owner starts another."""

    def __init__(self, command: List[str], policy: Optional[str] = None) -> None:
        """Starts the command. It finds the text of the policy in ``FILE``."""
        if sys.platform != "win32" and not hasattr(os, "posix_spawn"):
            raise Unsupported("starting cordon as a child process needs a POSIX system or Windows: connect to a running service by its url")
        notes = -1
        try:
            notes = _process.nameless_file()
            self._process = Process(command, notes, policy)
        except OSError as problem:
            if notes >= 0:
                os.close(notes)
            raise _cannot_start(command[0], problem) from problem
        self._notes = notes
        self._in = self._process.stdin
        self._pipes = _process.new_pipes(self._in, self._process.stdout)
        self._rest: List[bytes] = []  # the beginning of an incomplete line
        self._writing = new_lock()

        self._mutex = new_lock()  # guards all that follows
        self._numbers = itertools.count(1)
        self._pending: Dict[bytes, Slot] = {}
        self._waiting: Dict[bytes, Slot] = {}  # threads that could read
        self._for_loops: Set[bytes] = set()  # the keys of waiting tasks
        self._reader: Optional[Slot] = None  # the reader
        self._end: Optional[CordonError] = None
        self._dropped = False
        self._useful = False  # it has answered

        self._hooks: Optional[Hooks] = None
        #: Sessions that nobody uses any more, to be closed.
        self.dropped: List[ChildSession] = []

        self._loops = Slot()  # the thread that reads for loops
        self._outbox: queue.SimpleQueue[Optional[bytes]]  # once there are threads
        self._unsent = 0
        self._threads: List[threading.Thread] = []

    @property
    def hooks(self) -> Hooks:
        """Open hooks of this child, by what they were opened with."""
        if self._hooks is None:
            from ._hooks import Hooks

            with self._mutex:
                if self._hooks is None:
                    self._hooks = Hooks(_HOOKS)
        return self._hooks

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._end is None

    @property
    def end(self) -> Optional[CordonError]:
        """Why it has ended, if it has."""
        return self._end

    def raise_if_useless(self) -> None:
        """Raises the error that ended this child, if it never answered: another would fail in
        the same way."""
        if self._end is not None and not self._useful:
            raise _copy_of(self._end)

    # Asking

    def ask(self, body: str) -> bytes:
        """Sends a request and waits for its answer. The body is a JSON object without
        its opening brace and its id."""
        slot = Slot()
        try:
            self._enter(slot)
            self._send(self._line(slot, body))
            self._wait(slot)
        except BaseException as problem:
            self._abandon(slot, sent=not isinstance(problem, NothingSent))
            raise
        if slot.error is not None:
            raise slot.error
        assert slot.answer is not None
        return slot.answer

    async def ask_async(self, body: str) -> bytes:
        """The same for a task."""
        import asyncio

        slot = LoopSlot(asyncio.get_running_loop())
        try:
            self._enter(slot)
            self._send_soon(self._line(slot, body))
            await slot.future
        except BaseException as problem:
            self._abandon(slot, sent=not isinstance(problem, NothingSent))
            raise
        if slot.error is not None:
            raise slot.error
        assert slot.answer is not None
        return slot.answer

    def send(self, line: bytes) -> None:
        """Sends a short line that has no answer. A dead child gets none."""
        try:
            self._send(line)
        except (NothingSent, CordonError):
            pass

    @staticmethod
    def _line(slot: Slot, body: str) -> bytes:
        return b'{"id":"' + slot.key + b'",' + body.encode("ascii") + b"\n"

    def _enter(self, slot: Slot) -> None:
        with self._mutex:
            if self._end is not None:
                raise NothingSent from self._end
            slot.key = b"%d" % next(self._numbers)
            if isinstance(slot, LoopSlot):
                if not self._threads:
                    self._start_threads()
                self._for_loops.add(slot.key)
                if self._reader is None:
                    self._loops.wake_up()
            self._pending[slot.key] = slot

    def _abandon(self, slot: Slot, sent: bool) -> None:
        """Gives up waiting for this answer."""
        with self._mutex:
            known = self._forget(slot)
            self._waiting.pop(slot.key, None)
        self._pass_on(slot)
        if known and sent and self._end is None:
            self._cancel(slot)
        self._tidy()

    def _cancel(self, slot: Slot) -> None:
        line = b'{"cancel":"' + slot.key + b'"}\n'
        try:
            if isinstance(slot, LoopSlot):
                self._send_soon(line)
            else:
                self._send(line)
        except (NothingSent, CordonError):
            pass  # cordon is dead, and with it the guest

    def _forget(self, slot: Slot) -> bool:
        """With the mutex held."""
        self._for_loops.discard(slot.key)
        return self._pending.pop(slot.key, None) is not None

    # Writing

    def _send(self, line: bytes) -> None:
        with self._writing:
            self._write(line)

    def _write(self, line: bytes) -> None:
        """Writes with the lock held. Half a line would spoil the next one, so an interrupt here
        ends the child."""
        if self._dropped:
            raise NothingSent
        # The pipe does not show this: processes of a dead cordon may hold it open for a moment.
        if self._process.poll() is not None:
            raise NothingSent from self._lost()
        written = 0
        try:
            while written < len(line):
                written += os.write(self._in, line[written:] if written else line)
        except OSError as problem:
            end = self._lost()
            if written == 0:
                raise NothingSent from problem
            raise end from problem
        except BaseException:
            if len(line) > _AT_ONCE:
                self._break("a request was interrupted while it was sent")
            raise

    def _send_soon(self, line: bytes) -> None:
        """Sends without blocking: directly if possible, otherwise by a thread."""
        with self._mutex:
            direct = self._unsent == 0 and len(line) <= _AT_ONCE
            if not direct:
                self._unsent += 1
        if direct and self._writing.acquire(blocking=False):
            try:
                if self._dropped or self._pipes.writable():
                    self._write(line)
                    return
            finally:
                self._writing.release()
        if direct:
            with self._mutex:
                self._unsent += 1
        self._outbox.put(line)

    def _write_for_loops(self) -> None:
        while True:
            line = self._outbox.get()
            if line is None:
                return
            try:
                self._send(line)
            except (NothingSent, CordonError):
                self._tidy()  # all waiting callers have been informed
            with self._mutex:
                self._unsent -= 1

    # Reading

    def _wait(self, slot: Slot) -> None:
        while not slot.done:
            if self._takes_reading(slot):
                while not slot.done and self._end is None:
                    self._read_some()
                self._pass_on(slot)
            else:
                wait_for(slot.wake)

    def _takes_reading(self, slot: Slot) -> bool:
        with self._mutex:
            if slot.done:
                return False  # it was woken for this
            if self._reader is not None:
                self._waiting[slot.key] = slot
                return False
            self._reader = slot
            self._waiting.pop(slot.key, None)
            return True

    def _read_some(self) -> None:
        # An interrupt while waiting does no harm. An interrupt after reading ends the child,
        # because the data cannot be read again; all other callers get the error.
        self._pipes.wait()
        try:
            chunk = self._pipes.read()
            if not chunk:
                self._lost()
                return
            whole, newline, rest = chunk.rpartition(b"\n")
            if newline:
                if self._rest:
                    whole = b"".join([*self._rest, whole])
                    self._rest.clear()
                for line in whole.split(b"\n"):
                    self._hand_out(line)
            if rest:
                self._rest.append(rest)
        except BaseException:
            self._break("an interrupt came while answers were read")
            raise

    def _hand_out(self, line: bytes) -> None:
        # Each answer begins with its version and its id; the caller parses the rest.
        key = line[_ID_AT : line.find(b'"', _ID_AT)]
        with self._mutex:
            slot = self._pending.get(key)
            if slot is not None:
                if not self._useful:
                    self._process.forget_file()
                    self._useful = True
                slot.answer = line
                if slot is not self._reader:
                    slot.wake_up()
                self._forget(slot)
                self._waiting.pop(key, None)
                return
        if not line.startswith(_BEGINNING):
            self._break("cordon sent an answer to no request: " + line[:200].decode("utf-8", "replace"))

    def _pass_on(self, slot: Slot) -> None:
        """Stops reading with this slot, and wakes another reader if there is none."""
        with self._mutex:
            if self._reader is None or self._reader is slot:
                self._wake_a_reader()
                self._reader = None
        self._tidy()

    def _wake_a_reader(self) -> None:
        """With the mutex held."""
        for slot in self._waiting.values():
            slot.wake_up()
            return
        if self._for_loops:
            self._loops.wake_up()

    def _read_for_loops(self) -> None:
        while self._end is None:
            self._loops.wake.acquire()
            with self._mutex:
                if self._reader is not None or not self._for_loops:
                    continue  # already done, or closed
                self._reader = self._loops
            while self._for_loops and self._end is None:
                self._read_some()
            self._pass_on(self._loops)

    def _start_threads(self) -> None:
        import queue
        import threading

        self._outbox = queue.SimpleQueue()
        for work in (self._read_for_loops, self._write_for_loops):
            thread = threading.Thread(target=work, name="cordon", daemon=True)
            thread.start()
            self._threads.append(thread)

    # Ending

    def _break(self, why: str) -> None:
        """Ends the child, whose stream is broken."""
        self._process.kill()
        self._finish(ConnectionLost(f"{why}: this cordon was ended with its running requests, which may have run"))
        self._process.wait()

    def _lost(self) -> CordonError:
        """Handles the end of the child: all waiting callers get an error."""
        try:
            code = self._process.wait(timeout=10)
        except TimeoutError:
            self._process.kill()
            code = self._process.wait()
        notes = "" if self._dropped else _process.read_nameless(self._notes, 1 << 16).decode("utf-8", "replace").strip()
        ended = f"with {_signal(-code)}" if code < 0 else f"with exit code {code}"
        if code in _KINDS and notes:
            return self._finish(BY_KIND[_KINDS[code]](notes.replace("cordon: ", "", 1)))
        return self._finish(
            ConnectionLost(f"cordon ended {ended} before it answered; running requests may have run. {notes}".rstrip())
        )

    def _finish(self, end: CordonError) -> CordonError:
        """Wakes all waiting callers with an error. A second call completes what an interrupt left undone."""
        with self._mutex:
            if self._end is None:
                self._end = end
            for slot in self._pending.values():
                if not slot.done:
                    slot.error = _copy_of(self._end)
                slot.wake_up()
            self._pending.clear()
            self._waiting.clear()
            self._for_loops.clear()
            if self._threads:
                self._outbox.put(None)
                self._loops.wake_up()
            return self._end

    def close(self) -> None:
        """Ends the child and all its guests, and returns when nothing is left."""
        with self._mutex:
            running = list(self._pending)
        self._finish(Closed("the sandbox was closed while this request was running"))
        if self._process.poll() is None:
            self._ask_to_end(running)
        try:
            self._process.wait(timeout=10)
        except TimeoutError:
            self._process.kill()
            self._process.wait()
        self._tidy()

    def _ask_to_end(self, running: List[bytes]) -> None:
        """Asks cordon to end with its guests. Without signals, it ends with its input, when the
        running requests have been canceled."""
        if self._process.has_signals:
            self._process.terminate()
            return
        self._pipes.drop_rest()
        if not self._writing.acquire(timeout=1):
            self._process.kill()  # it reads nothing any more
            return
        try:
            if not self._dropped:
                for key in running:
                    os.write(self._in, b'{"cancel":"' + key + b'"}\n')
                self._close_input()
        except OSError:
            pass  # it is dead
        finally:
            self._writing.release()

    def _close_input(self) -> None:
        fd, self._in = self._in, -1
        if fd >= 0:
            os.close(fd)

    def _tidy(self) -> None:
        """Closes the descriptors of a dead child, unless a thread still uses them."""
        with self._mutex:
            left = self._end is not None and self._reader is None and not self._dropped
        if left:
            self._drop()

    def forget(self) -> None:
        """Drops what a forked process has of its parent's child."""
        self._end = Closed("this cordon belongs to the parent process")
        self._process.returncode = 0  # it is not ours to wait for
        if not self._dropped:  # threads that hold the locks do not exist in this process
            self._dropped = True
            self._close_input()
            self._pipes.forget()
            os.close(self._notes)

    def _drop(self) -> None:
        """Closes our ends once, when no thread reads or writes: closed descriptor numbers are
        reused for other files."""
        with self._writing:
            if not self._dropped:
                self._close_ends()

    def _close_ends(self) -> None:
        self._dropped = True
        self._close_input()
        self._pipes.close()
        os.close(self._notes)
        self._process.forget_file()


def _copy_of(error: CordonError) -> CordonError:
    """Copies an exception: each waiting caller raises its own, because a traceback is attached to it."""
    return type(error)(*error.args)


def _cannot_start(program: str, problem: OSError) -> CordonError:
    if isinstance(problem, (FileNotFoundError, PermissionError)) or problem.errno == errno.ENOEXEC:
        return NotFound(f"{program} cannot be started: {problem.strerror}")
    return Busy(f"{program} cannot be started now: {problem.strerror}")  # no memory, no more processes or files


def _signal(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"  # real-time signals have no names
