"""Sessions: a Python that keeps its state from one step to the next."""

from __future__ import annotations

import os
from base64 import b64decode
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

from . import _files, _transport, _units
from ._errors import Closed, ConnectionLost, CordonError, Gone, NothingSent, Unknown
from ._files import FileInfo
from ._hooks import Hooks
from ._result import Variable
from ._sandbox import _result, default, limits_of, script_request

if TYPE_CHECKING:
    from ._child import Child
    from ._files import Source
    from ._result import Result
    from ._sandbox import Sandbox
    from ._transport import Answer, Request


class Handle:
    """An open session of a transport."""

    def step(self, request: Request) -> Answer:
        raise NotImplementedError

    async def step_async(self, request: Request) -> Answer:
        raise NotImplementedError

    def file(self, what: str, name: str, source: Source) -> Any:
        """Carries out an order for the files of the session: ``"list"``, ``"read"``, ``"write"``
        or ``"remove"``. It does not wait for a running step."""
        raise NotImplementedError

    async def file_async(self, what: str, name: str, source: Source) -> Any:
        raise NotImplementedError

    def variables(self) -> Answer:
        """Lists the variables of the session, after its running step."""
        raise NotImplementedError

    async def variables_async(self) -> Answer:
        raise NotImplementedError

    def interrupt(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Closes the session. One that has ended, or whose cordon has, is closed already."""
        raise NotImplementedError

    async def close_async(self) -> None:
        raise NotImplementedError

    def forget(self) -> None:
        """Notes that the session has ended by itself."""

    def drop(self) -> None:
        """Notes that nobody uses the session any more. It is closed before another one is
        opened: the garbage collector calls this, and must not wait."""
        raise NotImplementedError

    def end(self) -> Optional[CordonError]:
        """Returns why there can be no other step, if what keeps the session has ended."""
        raise NotImplementedError


class ChildSession(Handle):
    """A session of a child, which ends with it."""

    def __init__(self, child: Child, number: str) -> None:
        self._child, self._number = child, number

    def step(self, request: Request) -> Answer:
        return _transport.checked(_transport._read(self._child.ask(self._body(request))))

    async def step_async(self, request: Request) -> Answer:
        return _transport.checked(_transport._read(await self._child.ask_async(self._body(request))))

    def _body(self, request: Request) -> str:
        return f'"step":{{"session":"{self._number}",{_transport._body(request)}}}'

    def file(self, what: str, name: str, source: Source) -> Any:
        return self._done(what, self._child.ask(self._order(what, name, source)))

    async def file_async(self, what: str, name: str, source: Source) -> Any:
        return self._done(what, await self._child.ask_async(self._order(what, name, source)))

    def _order(self, what: str, name: str, source: Source) -> str:
        order: Any = self._number
        if what != "list":
            order = {"session": self._number, "name": name}
        if what == "write":
            order.update(self._content(source))
        return _transport._body({"now": True, "file_" + what: order})

    @staticmethod
    def _content(source: Source) -> Dict[str, str]:
        if not isinstance(source, str):
            return _files.in_base64(source)
        with open(source, "rb"):  # a missing file is the same error as with a service
            return {"path": os.path.abspath(source)}

    @staticmethod
    def _done(what: str, text: bytes) -> Any:
        answer = _transport.checked(_transport._read(text))
        if what == "read":
            return b64decode(answer["file"]["base64"])
        return answer.get("files" if what == "list" else "file")

    def variables(self) -> Answer:
        return _transport.checked(_transport._read(self._child.ask(self._listing())))

    async def variables_async(self) -> Answer:
        return _transport.checked(_transport._read(await self._child.ask_async(self._listing())))

    def _listing(self) -> str:
        return f'"variable_list":"{self._number}"}}'

    def interrupt(self) -> None:
        self._child.send(f'{{"interrupt":"{self._number}"}}\n'.encode("ascii"))

    def close(self) -> None:
        _transport.checked(_transport._read(self._child.ask(self._closing())))

    async def close_async(self) -> None:
        _transport.checked(_transport._read(await self._child.ask_async(self._closing())))

    def _closing(self) -> str:
        return f'"close":"{self._number}"}}'

    def drop(self) -> None:
        self._child.dropped.append(self)

    def end(self) -> Optional[CordonError]:
        end = self._child.end
        if end is None:
            return None
        if isinstance(end, Closed):
            return Closed("the sandbox of this session is closed")
        return Gone(f"the session is gone, and its state is lost: {end}")


class Session:
    """A Python that keeps its variables from one step to the next.

    >>> with Session() as session:
    ...     step = session.run("x = [1, 2]")
    ...     session.run("x.append(39); sum(x)").shown
    '42'

    A step that fails, is interrupted, or reaches its timeout leaves the session alive. One that
    ends the interpreter, such as by using too much memory, ends the session: later steps raise
    :class:`Gone`, and ``alive`` is false.

    The limits of the session are those of its steps, where a step sets no other; memory is for
    the whole session. ``sandbox`` is where it runs; without one, it is what the functions of this
    package use. The session is opened by its first step, or by a ``with`` statement. Threads and
    tasks may share it: their steps run one at a time.
    """

    _handle: Optional[Handle] = None  # once it is open
    _over: Optional[CordonError] = None  # why there can be no other step

    def __init__(
        self,
        *,
        sandbox: Optional[Sandbox] = None,
        restricted: bool = False,
        timeout: Optional[_units.Seconds] = None,
        cpu_time: Optional[_units.Seconds] = None,
        memory: Optional[_units.Size] = None,
        output: Optional[_units.Size] = None,
        limits: Optional[Mapping[str, Any]] = None,
        tier: Optional[str] = None,
        trust: Optional[str] = None,
    ) -> None:
        options = {"restricted": restricted, "limits": limits_of(timeout, cpu_time, memory, output, limits), "tier": tier, "trust": trust}
        self._options: Dict[str, Any] = {key: value for key, value in options.items() if value}
        self._transport = (sandbox or default())._transport
        self._process = os.getpid()
        self._opening = Hooks(1)  # for one caller at a time

    # Steps

    def run(
        self,
        script: str,
        *,
        context: Any = None,
        stdin: str = "",
        variables: Sequence[str] = (),
        files: Optional[_files.Files] = None,
        artifacts: Union[str, Sequence[str]] = (),
        args: Sequence[str] = (),
        timeout: Optional[_units.Seconds] = None,
        cpu_time: Optional[_units.Seconds] = None,
        output: Optional[_units.Size] = None,
        limits: Optional[Mapping[str, Any]] = None,
        name: Optional[str] = None,
        check: bool = False,
    ) -> Result:
        """Runs a step. The options are those of :meth:`Sandbox.run`, without those that belong to
        the whole session.

        The Result has ``display``, what the step displayed; ``shown``, its last expression as
        text; and ``png``, its first picture.
        """
        request = script_request(
            script, context, stdin, variables, False, limits_of(timeout, cpu_time, None, output, limits), name, None, None, files, artifacts, args
        )
        handle = self._open()
        with self._asking(handle, Gone, Unknown):
            answer = handle.step(request)
        self._note(answer)
        return _result(answer, check)

    async def arun(
        self,
        script: str,
        *,
        context: Any = None,
        stdin: str = "",
        variables: Sequence[str] = (),
        files: Optional[_files.Files] = None,
        artifacts: Union[str, Sequence[str]] = (),
        args: Sequence[str] = (),
        timeout: Optional[_units.Seconds] = None,
        cpu_time: Optional[_units.Seconds] = None,
        output: Optional[_units.Size] = None,
        limits: Optional[Mapping[str, Any]] = None,
        name: Optional[str] = None,
        check: bool = False,
    ) -> Result:
        """``run`` for a task. Cancelling the task interrupts the step."""
        request = script_request(
            script, context, stdin, variables, False, limits_of(timeout, cpu_time, None, output, limits), name, None, None, files, artifacts, args
        )
        handle = await self._open_async()
        with self._asking(handle, Gone, Unknown):
            answer = await handle.step_async(request)
        self._note(answer)
        return _result(answer, check)

    # Variables

    def variables(self) -> List[Variable]:
        """Lists the global variables by name, at most 1,000, without those that begin with an
        underscore. It waits for a running step.

        >>> with Session() as session:
        ...     step = session.run("x = [1, 2]")
        ...     session.variables()[0].text, step.added
        ('[1, 2]', ['x'])
        """
        handle = self._open()
        with self._asking(handle, Gone, Unknown):
            answer = handle.variables()
        return [Variable._of(variable) for variable in answer["variables"]]

    async def avariables(self) -> List[Variable]:
        """``variables`` for a task."""
        handle = await self._open_async()
        with self._asking(handle, Gone, Unknown):
            answer = await handle.variables_async()
        return [Variable._of(variable) for variable in answer["variables"]]

    # Files

    def upload(self, name: _files.Path, data: Optional[_files.Content] = None) -> FileInfo:
        """Stores a file in /work, where steps start, and replaces one of the same name. ``data``
        is bytes, text or a ``pathlib.Path``. Without it, ``name`` is the path of a file on this
        machine, whose base name is used.

        This and the following methods do not wait for a running step.

        >>> with Session() as session:
        ...     session.upload("data/sales.csv", "1,2,39").size
        ...     session.run("open('data/sales.csv').read()").shown
        6
        "'1,2,39'"
        """
        return FileInfo._of(self._file("write", *_files.upload(name, data)))

    async def aupload(self, name: _files.Path, data: Optional[_files.Content] = None) -> FileInfo:
        """``upload`` for a task."""
        return FileInfo._of(await self._file_async("write", *_files.upload(name, data)))

    def download(self, name: str) -> bytes:
        """Returns the content of a file in /work: the guest's word, as it is now."""
        data: bytes = self._file("read", name)
        return data

    async def adownload(self, name: str) -> bytes:
        """``download`` for a task."""
        data: bytes = await self._file_async("read", name)
        return data

    def files(self) -> List[FileInfo]:
        """Lists all that is in /work, apart from directories, by name."""
        return [FileInfo._of(file) for file in self._file("list")]

    async def afiles(self) -> List[FileInfo]:
        """``files`` for a task."""
        return [FileInfo._of(file) for file in await self._file_async("list")]

    def remove(self, name: str) -> None:
        """Removes a file, or a directory with all that is in it, from /work."""
        self._file("remove", name)

    async def aremove(self, name: str) -> None:
        """``remove`` for a task."""
        await self._file_async("remove", name)

    def _file(self, what: str, name: str = "", source: Source = b"") -> Any:
        if what != "list":
            _files.parts_of(name)
        handle = self._open()
        with self._asking(handle, Gone):
            return handle.file(what, name, source)

    async def _file_async(self, what: str, name: str = "", source: Source = b"") -> Any:
        if what != "list":
            _files.parts_of(name)
        handle = await self._open_async()
        with self._asking(handle, Gone):
            return await handle.file_async(what, name, source)

    def _note(self, answer: Answer) -> None:
        """Remembers the end of the session, if this step ended it."""
        step = answer.get("step")
        if isinstance(step, dict) and step.get("survived") is False:
            self._finish(Gone(f"the session is gone: step {step.get('number')} ended it: {answer.get('error')}"))

    def _finish(self, why: CordonError) -> None:
        """Refuses further steps of a session that has ended."""
        if self._over is None:
            self._over = why
            if self._handle is not None:
                self._handle.forget()

    @contextmanager
    def _asking(self, handle: Handle, *ends: Type[CordonError]) -> Iterator[None]:
        """Words the errors of a request. ``ends`` are those which say that the session has ended."""
        try:
            yield
        except (CordonError, NothingSent) as problem:
            raise self._failed(handle, problem, ends) from None

    def _failed(self, handle: Handle, problem: Exception, ends: Tuple[Type[CordonError], ...]) -> Exception:
        """Returns the error for a request that has no answer."""
        if isinstance(self._over, Closed):
            return Closed("the session was closed before this was done")
        end = handle.end()
        if end is not None:
            self._finish(end)
            if isinstance(problem, ConnectionLost):  # the step may have run
                return ConnectionLost(f"{problem} The state of the session is lost.")
            return _again(end) if isinstance(problem, NothingSent) else problem
        if isinstance(problem, ends):
            self._finish(_again(problem))
        return problem

    def interrupt(self) -> None:
        """Interrupts the running step, which ends as canceled. Another thread calls this.

        A step that has not begun raises :class:`Closed`. Without a step, nothing happens.
        """
        self._refuse_forked()
        if self._handle is not None and self._over is None:
            self._handle.interrupt()

    # Opening and closing

    @property
    def alive(self) -> bool:
        """Whether the session can run another step, as far as this process knows."""
        if self._over is not None or self._process != os.getpid():
            return False
        return self._handle is None or self._handle.end() is None

    def _open(self) -> Handle:
        while self._handle is None:
            self._refuse()
            try:
                self._opening.opened(None, self._open_now)
            except NothingSent:
                pass  # the caller that was opening it gave up
        self._refuse()
        return self._handle

    def _open_now(self) -> str:
        handle = self._handle = self._transport.open_session(self._options)
        if self._over is not None:
            _quietly_close(handle)  # close came first
        return "open"

    async def _open_async(self) -> Handle:
        while self._handle is None:
            self._refuse()
            try:
                await self._opening.opened_async(None, self._open_now_async)
            except NothingSent:
                pass
        self._refuse()
        return self._handle

    async def _open_now_async(self) -> str:
        handle = self._handle = await self._transport.open_session_async(self._options)
        if self._over is not None:
            await _quietly_close_async(handle)
        return "open"

    def _refuse(self) -> None:
        """Raises the reason if there can be no other step."""
        self._refuse_forked()
        if self._over is not None:
            raise _again(self._over)

    def _refuse_forked(self) -> None:
        if self._process != os.getpid():
            raise Gone("the session belongs to the process that this one was forked from: open another")

    def close(self) -> None:
        """Ends the session, and its running step."""
        handle = self._end()
        if handle is not None:
            _quietly_close(handle)

    async def aclose(self) -> None:
        """``close`` for a task."""
        handle = self._end()
        if handle is not None:
            await _quietly_close_async(handle)

    def _end(self) -> Optional[Handle]:
        """Refuses further steps, and returns what has to be closed."""
        if self._over is not None or self._process != os.getpid():
            return None
        self._over = Closed("the session is closed")
        return self._handle

    def __enter__(self) -> Session:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Session:
        await self._open_async()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __del__(self) -> None:
        handle = self._handle
        if handle is not None and self._over is None and self._process == os.getpid():
            handle.drop()

    def __repr__(self) -> str:
        return f"<Session {'alive' if self.alive else 'ended'}>"


def _quietly_close(handle: Handle) -> None:
    try:
        handle.close()
    except (CordonError, NothingSent):
        pass  # it has ended before


async def _quietly_close_async(handle: Handle) -> None:
    try:
        await handle.close_async()
    except (CordonError, NothingSent):
        pass


def _again(error: CordonError) -> CordonError:
    """Copies an exception: a traceback is attached to the one that is raised."""
    return type(error)(*error.args)
