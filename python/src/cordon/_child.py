"""One child of the cordon binary, shared by all threads and event loops.

Requests go to its standard input, one line of JSON each; answers come from its standard
output in the order in which they are done. There is no thread that reads: whoever waits
for an answer reads, if nobody else does, and hands out what is for others. When it has
its own it passes the reading on. So a program with one thread pays for no switch between
threads. Only for event loops, which must not wait, there are two threads of our own.
"""

from __future__ import annotations

import asyncio
import os
import queue
import select
import signal
import subprocess
import tempfile
import threading
from concurrent.futures import Future
from typing import Any, Dict, List, Optional

from ._errors import BY_KIND, Closed, ConnectionLost, CordonError, NothingSent, Unsupported

_CHUNK = 1 << 16
# What a pipe that can be written to takes without blocking, on every POSIX system.
_AT_ONCE = 512 if not hasattr(select, "PIPE_BUF") else select.PIPE_BUF
# The exit codes of cordon's own failures, by class.
_KINDS = {2: "invalid", 75: "busy", 125: "unsupported", 126: "not_found", 127: "not_found"}


class Slot:
    """One request, and the place for its answer."""

    __slots__ = ("key", "answer", "error", "wake", "leads")

    def __init__(self) -> None:
        self.key = b""
        self.answer: Optional[bytes] = None
        self.error: Optional[CordonError] = None
        self.wake = threading.Lock()  # released when there is something to look at
        self.wake.acquire()
        self.leads = False  # it is this one's turn to read

    @property
    def done(self) -> bool:
        return self.answer is not None or self.error is not None

    def settle(self) -> None:
        self.wake.release()


class LoopSlot(Slot):
    """The same for a task of an event loop."""

    __slots__ = ("loop", "future")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self.loop = loop
        self.future: asyncio.Future[None] = loop.create_future()

    def settle(self) -> None:
        try:
            self.loop.call_soon_threadsafe(self._finish)
        except RuntimeError:
            pass  # the loop is closed, and nobody waits

    def _finish(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


class Child:
    """A running cordon. After its end it stays dead; its owner starts another."""

    def __init__(self, command: List[str]) -> None:
        if not hasattr(select, "poll"):
            raise Unsupported("a child of this process needs a POSIX system: on Windows, connect to a running service by its url")
        #: Open hooks of this child, by what they were opened with.
        self.hooks: Dict[Any, Future[str]] = {}
        self._notes = tempfile.TemporaryFile()
        # A session of its own: what is typed at a terminal to interrupt Python is not
        # for cordon, which would end with all that others have under way.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._notes,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._answers = select.poll()
        self._answers.register(self._out, select.POLLIN)
        self._room = select.poll()
        self._room.register(self._in, select.POLLOUT)
        self._rest = b""  # the beginning of a line whose end has not come
        self._writing = threading.Lock()

        self._mutex = threading.Lock()  # around all that follows
        self._count = 0
        self._under: Dict[bytes, Slot] = {}
        self._waiting: Dict[bytes, Slot] = {}  # threads that could read
        self._for_loops = 0
        self._reading = False  # somebody reads, or was told to
        self._end: Optional[CordonError] = None
        self._dropped = False

        self._reader_turn = threading.Semaphore(0)
        self._loops_lead = False  # it is the turn of the thread that reads for loops
        self._outbox: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()
        self._unsent = 0
        self._threads: List[threading.Thread] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._end is None

    # Asking

    def ask(self, body: str) -> bytes:
        """Sends a request and waits for its answer. The body is a JSON object without
        its opening brace and its id."""
        slot = Slot()
        self._enter(slot)
        try:
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
        slot = LoopSlot(asyncio.get_running_loop())
        self._enter(slot)
        try:
            self._send_soon(self._line(slot, body))
            await slot.future
        except BaseException as problem:
            self._abandon(slot, sent=not isinstance(problem, NothingSent))
            raise
        if slot.error is not None:
            raise slot.error
        assert slot.answer is not None
        return slot.answer

    @staticmethod
    def _line(slot: Slot, body: str) -> bytes:
        return b'{"id":"' + slot.key + b'",' + body.encode("ascii") + b"\n"

    def _enter(self, slot: Slot) -> None:
        with self._mutex:
            if self._end is not None:
                raise NothingSent from self._end
            self._count += 1
            slot.key = b"%d" % self._count
            self._under[slot.key] = slot
            if not isinstance(slot, LoopSlot):
                return
            self._for_loops += 1
            if not self._threads:
                self._start_threads()
            if not self._reading:
                self._reading = self._loops_lead = True
                self._reader_turn.release()

    def _abandon(self, slot: Slot, sent: bool) -> None:
        """Nobody waits for this answer any more."""
        with self._mutex:
            known = self._forget(slot)
            self._waiting.pop(slot.key, None)
            led, slot.leads = slot.leads, False
        if led:
            self._pass_on()
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
            pass  # it is dead, and with it the guest

    def _forget(self, slot: Slot) -> bool:
        """With the mutex held."""
        if self._under.pop(slot.key, None) is None:
            return False
        if isinstance(slot, LoopSlot):
            self._for_loops -= 1
        return True

    # Writing

    def _send(self, line: bytes) -> None:
        with self._writing:
            self._write(line)

    def _write(self, line: bytes) -> None:
        """With the lock held. Half a line would spoil the next one, so that whatever
        interrupts us there ends the child."""
        if self._dropped:
            raise NothingSent
        # The pipe does not tell: what a dead cordon had started may hold it for a moment.
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
        """Sends without waiting: at once if that cannot block, else by a thread."""
        with self._mutex:
            direct = self._unsent == 0 and len(line) <= _AT_ONCE
            if not direct:
                self._unsent += 1
        if direct and self._writing.acquire(blocking=False):
            try:
                if self._dropped or self._room.poll(0):
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
                self._tidy()  # whoever waits has been told
            with self._mutex:
                self._unsent -= 1

    # Reading

    def _wait(self, slot: Slot) -> None:
        with self._mutex:
            if slot.done:
                return
            if self._reading:
                self._waiting[slot.key] = slot
            else:
                self._reading = slot.leads = True
        while not slot.done and not slot.leads:
            slot.wake.acquire()
        if slot.leads:  # also when the end has come since: the reading is passed on
            self._read_until(slot)

    def _read_until(self, slot: Slot) -> None:
        while not slot.done and self._end is None:
            self._read_some()
        with self._mutex:
            slot.leads = False
        self._pass_on()

    def _read_some(self) -> None:
        # Waiting can be interrupted without harm. What was read cannot be read again, so
        # that an interrupt behind that ends the child, which all others are told.
        self._answers.poll()
        try:
            chunk = os.read(self._out, _CHUNK)
            if not chunk:
                self._lost()
                return
            lines = (self._rest + chunk).split(b"\n") if self._rest else chunk.split(b"\n")
            self._rest = lines.pop()
            for line in lines:
                self._hand_out(line)
        except BaseException:
            self._break("an interrupt came while answers were read")
            raise

    def _hand_out(self, line: bytes) -> None:
        # Each answer begins with {"id":"…"; the rest is for whoever asked to read.
        key = line[7 : line.find(b'"', 7)]
        with self._mutex:
            slot = self._under.get(key)
            if slot is None:
                if line.startswith(b'{"id":"'):
                    return  # nobody waits for it any more
            else:
                self._forget(slot)
                self._waiting.pop(key, None)
                slot.answer = line
        if slot is None:
            self._break("cordon gave an answer that is for nobody: " + line[:200].decode("utf-8", "replace"))
        elif not slot.leads:
            slot.settle()

    def _pass_on(self) -> None:
        """Gives the reading to somebody else."""
        with self._mutex:
            self._reading = False
            over = self._end is not None
            for slot in () if over else self._waiting.values():
                self._reading = slot.leads = True
                del self._waiting[slot.key]
                slot.wake.release()
                return
            if self._for_loops and not over:
                self._reading = self._loops_lead = True
                self._reader_turn.release()
        if over:
            self._drop()

    def _read_for_loops(self) -> None:
        while self._end is None:
            self._reader_turn.acquire()
            if not self._loops_lead:
                continue  # woken by the end, while somebody else may still read
            while self._for_loops and self._end is None:
                self._read_some()
            self._loops_lead = False
            self._pass_on()

    def _start_threads(self) -> None:
        for work in (self._read_for_loops, self._write_for_loops):
            thread = threading.Thread(target=work, name="cordon", daemon=True)
            thread.start()
            self._threads.append(thread)

    # Ending

    def _break(self, why: str) -> None:
        """Ends the child: it can no longer be understood."""
        self._finish(ConnectionLost(f"{why}: this cordon was ended, and whatever it had under way. It may have run"))
        self._process.kill()

    def _lost(self) -> CordonError:
        """The child is gone. Whoever waits is told."""
        try:
            code: Optional[int] = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        notes = "" if self._notes.closed else os.pread(self._notes.fileno(), 1 << 16, 0).decode("utf-8", "replace").strip()
        ended = f"with {signal.Signals(-code).name}" if code and code < 0 else f"with exit code {code}"
        if code in _KINDS and notes:
            return self._finish(BY_KIND[_KINDS[code]](notes.replace("cordon: ", "", 1)))
        return self._finish(
            ConnectionLost(f"cordon ended {ended} before it answered; what it had under way may have run. {notes}".rstrip())
        )

    def _finish(self, end: CordonError) -> CordonError:
        with self._mutex:
            if self._end is not None:
                return self._end
            self._end = end
            slots = list(self._under.values())
            self._under.clear()
            self._waiting.clear()
            self._for_loops = 0
            for slot in slots:
                slot.error = _again(end)
        for slot in slots:
            if not slot.leads:
                slot.settle()
        if self._threads:
            self._outbox.put(None)
            self._reader_turn.release()
        return end

    def close(self) -> None:
        """Ends the child and all its guests, and returns when nothing is left."""
        self._finish(Closed("the sandbox was closed while this request was under way"))
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._tidy()

    def _tidy(self) -> None:
        """Lets go of what a dead child has left, unless somebody is about to find it."""
        with self._mutex:
            left = self._end is not None and not self._reading
        if left:
            self._drop()

    def forget(self) -> None:
        """Drops what a forked process has of its parent's child."""
        self._end = Closed("this cordon belongs to the parent process")
        self._process.returncode = 0  # or else Popen would look for a child that is not ours
        if not self._dropped:  # locks are for threads that this process has not
            self._close_ends()

    def _drop(self) -> None:
        """Closes our ends, once, when nobody reads, and when nobody writes: the numbers
        of what is closed are given to other files."""
        with self._writing:
            if not self._dropped:
                self._close_ends()

    def _close_ends(self) -> None:
        self._dropped = True
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._notes.close()


def _again(error: CordonError) -> CordonError:
    """Each who waits gets an exception of his own: tracebacks grow on them."""
    return type(error)(*error.args)
