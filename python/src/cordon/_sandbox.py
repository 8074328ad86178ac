"""The main API: run, check, hook; for threads and for tasks."""

from __future__ import annotations

import os
import sys

from . import _binary, _units
from ._errors import InvalidRequest
from ._locks import new_reentrant_lock
from ._child import FILE
from ._transport import Local

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

    from typing_extensions import TypeIs, Unpack  # type checkers carry it

    from . import _files
    from ._hooks import HookSource
    from ._options import HookOptions, RunOptions, SessionOptions
    from ._result import Finding, Result
    from ._session import Session
    from ._transport import Request, Transport

    #: A policy: the name of a preset, a file, or the contents of a file.
    Policy = Union[str, os.PathLike[str], Mapping[str, Any]]
    #: Binary, policy, interpreter, and CORDON_POLICY, which the child reads when it starts.
    Key = Tuple[str, Optional[str], Optional[str], Optional[str]]

#: How many runs one child executes at once. The others wait.
AT_ONCE = 64

class Sandbox:
    """Runs code that you do not trust.

    Without arguments it uses a child of the cordon binary under the default policy, which all
    such sandboxes of a process share. With ``url`` it uses a running service.

    >>> with Sandbox() as sandbox:
    ...     sandbox.run("result = context['a'] + 1", context={"a": 41}).value
    42

    ``policy`` says what guests may do: the name of a preset, a file, or the contents of a file
    as a dict. Requests can only narrow it.

    >>> with Sandbox(policy={"preset": "strict", "limits": {"wall_time": "200ms"}}) as strict:
    ...     strict.run("while True: pass").error
    'timed out: wall time limit of 200ms reached'
    """

    def __init__(
        self,
        *,
        policy: Optional[Policy] = None,
        python: Optional[str] = None,
        binary: Optional[str] = None,
        url: Optional[str] = None,
        token: Optional[str] = None,
    ) -> None:
        if url is not None:
            if policy is not None or python is not None or binary is not None:
                raise InvalidRequest("policy, python and binary cannot be used with url: the service chooses them")
            from ._service import Service, parts_of

            self._about = "%s:%s" % parts_of(url)
            self._transport: Transport = Service(url, token)
            self._release = self._transport.close
            return
        if token is not None:
            raise InvalidRequest("token needs url: it is for a service")
        key = (_binary.find(binary), _policy_text(policy), python or _own_python(policy), os.environ.get("CORDON_POLICY"))
        self._about = "local"
        self._transport, self._release = _share(key)

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
        restricted: bool = False,
        timeout: Optional[_units.Seconds] = None,
        cpu_time: Optional[_units.Seconds] = None,
        memory: Optional[_units.Size] = None,
        output: Optional[_units.Size] = None,
        limits: Optional[Mapping[str, Any]] = None,
        name: Optional[str] = None,
        tier: Optional[str] = None,
        trust: Optional[str] = None,
        check: bool = False,
    ) -> Result:
        """Runs a Python script. The script reads ``context`` and sets ``result``, any JSON value,
        which becomes the value of the Result.

        A failed script is a Result, too; with ``check`` it raises SandboxError. ``timeout`` is
        the wall time in seconds, ``memory`` and ``output`` are bytes; text with a unit works,
        too. ``limits`` sets any limit by its key in a policy.

        ``files`` are put into /work, where the script starts: a dict of names and contents, which
        are bytes, text or a ``pathlib.Path``; or a list of paths. ``artifacts`` are patterns such
        as ``"*.png"`` or ``"**"``: the Result has the files of such names that the script has
        written there. ``args`` are its ``sys.argv[1:]``.

        >>> done = Sandbox().run("open('out.txt', 'w').write(open('in.txt').read() * 2)", files={"in.txt": "ha"}, artifacts="*.txt")
        >>> done.artifacts["out.txt"].text
        'haha'
        """
        request = script_request(
            script, context, stdin, variables, restricted, limits_of(timeout, cpu_time, memory, output, limits), name, tier, trust,
            files, artifacts, args,
        )
        return _result(self._transport.ask(request), check)

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
        restricted: bool = False,
        timeout: Optional[_units.Seconds] = None,
        cpu_time: Optional[_units.Seconds] = None,
        memory: Optional[_units.Size] = None,
        output: Optional[_units.Size] = None,
        limits: Optional[Mapping[str, Any]] = None,
        name: Optional[str] = None,
        tier: Optional[str] = None,
        trust: Optional[str] = None,
        check: bool = False,
    ) -> Result:
        """``run`` for a task. Cancelling the task ends the guest."""
        request = script_request(
            script, context, stdin, variables, restricted, limits_of(timeout, cpu_time, memory, output, limits), name, tier, trust,
            files, artifacts, args,
        )
        return _result(await self._transport.ask_async(request), check)

    def command(
        self,
        command: Sequence[str],
        *,
        workspace: Optional[str] = None,
        stdin: str = "",
        env: Optional[Mapping[str, str]] = None,
        limits: Optional[Mapping[str, Any]] = None,
        check: bool = False,
    ) -> Result:
        """Runs a program with its arguments, in a jail."""
        return _result(self._transport.ask(command_request(command, workspace, stdin, env, limits)), check)

    async def acommand(
        self,
        command: Sequence[str],
        *,
        workspace: Optional[str] = None,
        stdin: str = "",
        env: Optional[Mapping[str, str]] = None,
        limits: Optional[Mapping[str, Any]] = None,
        check: bool = False,
    ) -> Result:
        """``command`` for a task."""
        return _result(await self._transport.ask_async(command_request(command, workspace, stdin, env, limits)), check)

    def check(self, script: str, *, preset: str = "standard") -> List[Finding]:
        """Returns the findings of the language rules in a script, which does not run.

        >>> [f.reason for f in Sandbox().check("import os")]
        ["import of module 'os' is not allowed"]
        """
        answer = self._transport.ask({"check": {"script": script, "preset": preset}})
        return _findings(answer)

    async def acheck(self, script: str, *, preset: str = "standard") -> List[Finding]:
        """``check`` for a task."""
        answer = await self._transport.ask_async({"check": {"script": script, "preset": preset}})
        return _findings(answer)

    def hook(
        self,
        script: str,
        *,
        timeout: Optional[_units.Seconds] = None,
        memory: Optional[_units.Size] = None,
        limits: Optional[Mapping[str, Any]] = None,
        name: Optional[str] = None,
        trust: Optional[str] = None,
    ) -> Hook:
        """Returns a script that is checked once and called often. Each call has its own
        process, unless ``trust`` is ``"platform"``: then calls share one, and only the language
        rules separate a call from what earlier ones left behind. A service refuses that,
        unless its operator's policy allows it."""
        merged = limits_of(timeout, None, memory, None, limits)
        from ._hooks import HookSource

        return Hook(self._transport, HookSource(_units.source(script), name, trust, tuple(sorted(merged.items()))))

    def session(self, **options: Unpack[SessionOptions]) -> Session:
        """Returns a session in this sandbox; the options are those of :class:`Session`."""
        from ._session import Session

        return Session(sandbox=self, **options)

    def close(self) -> None:
        """Releases the child, which ends with the last sandbox that shares it."""
        release, self._release = self._release, _nothing
        release()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Sandbox:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Sandbox {self._about}>"


class Hook:
    """A hook: ``hook(state, config)`` returns its output, or raises SandboxError.

    It is compiled at its first call, and reused for the same source.

    >>> double = hook("result['output'] = game_state['gold'] * 2")
    >>> double({"gold": 21})
    42
    >>> hook("def add(a, b): return a + b").call_function("add", 40, 2).value
    42
    """

    def __init__(self, transport: Transport, source: HookSource) -> None:
        self._transport, self._source = transport, source

    def __call__(self, game_state: Any = None, mod_config: Any = None) -> Any:
        return self.call(game_state, mod_config).unwrap()

    def call(self, game_state: Any = None, mod_config: Any = None) -> Result:
        """Calls the hook and returns the whole Result."""
        return _result(self._transport.call(self._source, call_of(game_state, mod_config)))

    async def acall(self, game_state: Any = None, mod_config: Any = None) -> Result:
        """``call`` for a task."""
        return _result(await self._transport.call_async(self._source, call_of(game_state, mod_config)))

    def call_function(self, function: str, *args: Any) -> Result:
        """Calls a function that the script defines."""
        return _result(self._transport.call(self._source, {"function": function, "args": args}))

    async def acall_function(self, function: str, *args: Any) -> Result:
        """``call_function`` for a task."""
        return _result(await self._transport.call_async(self._source, {"function": function, "args": args}))

    def __repr__(self) -> str:
        first = self._source.script.strip().partition("\n")[0]
        return f"<Hook {self._source.name or first[:60]!r}>"


# Requests

def limits_of(
    timeout: Optional[_units.Seconds],
    cpu_time: Optional[_units.Seconds],
    memory: Optional[_units.Size],
    output: Optional[_units.Size],
    more: Optional[Mapping[str, Any]],
) -> Dict[str, Any]:
    limits = dict(more) if more else {}
    for key, value in (
        ("wall_time", _units.duration_text(timeout, "timeout")),
        ("cpu_time", _units.duration_text(cpu_time, "cpu_time")),
        ("memory", _units.size_text(memory, "memory")),
        ("output", _units.size_text(output, "output")),
    ):
        if value is not None:
            limits[key] = value
    return limits


def script_request(
    script: str,
    context: Any,
    stdin: str,
    variables: Sequence[str],
    restricted: bool,
    limits: Dict[str, Any],
    name: Optional[str],
    tier: Optional[str],
    trust: Optional[str],
    files: Optional[_files.Files] = None,
    artifacts: Union[str, Sequence[str]] = (),
    args: Sequence[str] = (),
) -> Request:
    if isinstance(args, str):
        raise TypeError("args is text: give a list of arguments, since no shell splits it")
    request: Request = {"script": _units.source(script)}
    for key, value in (
        ("stdin", stdin),
        ("variables", [variables] if isinstance(variables, str) else list(variables)),
        ("files", _given(files) if files else None),
        ("artifacts", [artifacts] if isinstance(artifacts, str) else list(artifacts)),
        ("args", list(args)),
        ("restricted", restricted),
        ("limits", limits),
        ("name", name),
        ("tier", tier),
        ("trust", trust),
    ):
        if value:
            request[key] = value
    if context is not None:
        request["context"] = context
    return request


def _given(files: _files.Files) -> List[Dict[str, str]]:
    from ._files import given

    return given(files)


def command_request(
    command: Sequence[str],
    workspace: Optional[str],
    stdin: str,
    env: Optional[Mapping[str, str]],
    limits: Optional[Mapping[str, Any]],
) -> Request:
    if isinstance(command, str):
        raise TypeError("command is text: give a list of the program and its arguments, since no shell splits it")
    request: Request = {"command": list(command)}
    for key, value in (
        ("workspace", os.path.abspath(workspace) if workspace else None),
        ("stdin", stdin),
        ("env", dict(env) if env else None),
        ("limits", dict(limits) if limits else None),
    ):
        if value:
            request[key] = value
    return request


def call_of(game_state: Any, mod_config: Any) -> Dict[str, Any]:
    return {"game_state": {} if game_state is None else game_state, "mod_config": {} if mod_config is None else mod_config}


# Result.of, imported with the first Result.
_make_result: Any = None


def _result(answer: Dict[str, Any], check: bool = False) -> Result:
    global _make_result
    if _make_result is None:
        from ._result import Result

        _make_result = Result.of
    result: Result = _make_result(answer)
    if check:
        result.unwrap()
    return result


def _findings(answer: Dict[str, Any]) -> List[Finding]:
    from ._result import Finding

    return [Finding.of(f) for f in answer["findings"]]


def _nothing() -> None:
    pass


# Shared children

_shared: Dict[Key, Tuple[Local, int]] = {}
_sharing = new_reentrant_lock()


def _share(key: Key) -> Tuple[Local, Any]:
    """Returns a child for this key, and a function that releases it."""
    with _sharing:
        transport, users = _shared.get(key) or (_start(key), 0)
        _shared[key] = (transport, users + 1)

    def release() -> None:
        with _sharing:
            transport, users = _shared.pop(key)
            if users > 1:
                _shared[key] = (transport, users - 1)
                return
        transport.close()

    return transport, release


def _start(key: Key) -> Local:
    binary, policy, python, _ = key
    command = [binary, "run", "--json-lines", "--concurrent", str(AT_ONCE)]
    text = policy if policy is not None and policy.startswith("{") else None
    if policy is not None:
        command += ["--policy", policy if text is None else FILE]
    if python is not None:
        command += ["--python", python]
    return Local(command, text)


def _own_python(policy: Optional[Policy]) -> Optional[str]:
    """Returns the interpreter of this process, so that guests have the packages of its
    environment.

    An operator's choice comes first: CORDON_PYTHON, CORDON_POLICY, or a policy that may name an
    interpreter. A frozen program and a Python that is not CPython cannot run guests.
    """
    chosen = os.environ.get("CORDON_PYTHON") or os.environ.get("CORDON_POLICY")
    if chosen or not sys.executable or getattr(sys, "frozen", False) or sys.implementation.name != "cpython":
        return None
    if policy is None:
        return sys.executable
    if _has_keys(policy):
        return None if policy.get("python") else sys.executable
    return sys.executable if not os.path.isfile(policy) else None


def _policy_text(policy: Optional[Policy]) -> Optional[str]:
    if policy is None:
        return None
    if _has_keys(policy):
        import json

        return json.dumps(policy, sort_keys=True)
    return os.fspath(policy)


def _has_keys(policy: Policy) -> TypeIs[Mapping[str, Any]]:
    """Whether a policy is the contents of a file."""
    from collections.abc import Mapping

    return isinstance(policy, Mapping)


def _after_fork() -> None:
    global _sharing
    _sharing = new_reentrant_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# The default sandbox, which the functions of this package use

_default: Optional[Sandbox] = None


def default() -> Sandbox:
    """Returns the sandbox that the functions of this package use: a local one, or the service
    that ``connect`` named."""
    global _default
    sandbox = _default
    if sandbox is None:
        with _sharing:
            if _default is None:
                _default = Sandbox()
            sandbox = _default
    return sandbox


def connect(url: str, token: Optional[str] = None) -> Sandbox:
    """Makes the functions of this package use a running service.

    ``url`` is ``http://HOST:PORT``, ``https://HOST`` or ``unix:/PATH/TO/SOCKET``.
    """
    global _default
    sandbox = Sandbox(url=url, token=token)
    with _sharing:
        before, _default = _default, sandbox
    if before is not None:
        before.close()
    return sandbox


def another_operator() -> bool:
    """Whether the policy is not this program's own: that of a service, or of CORDON_POLICY."""
    return connected() or bool(os.environ.get("CORDON_POLICY"))


def connected() -> bool:
    """Whether the functions of this package use a service."""
    return _default is not None and not isinstance(_default._transport, Local)


class Own:
    """A sandbox under this package's own policy, created on first use. If there is another
    operator, its policy decides, and this is the default sandbox."""

    def __init__(self, policy: Mapping[str, Any]) -> None:
        self._policy = policy
        self._sandbox: Optional[Sandbox] = None

    def sandbox(self) -> Sandbox:
        if another_operator():
            return default()
        if self._sandbox is None:
            with _sharing:
                self._sandbox = self._sandbox or Sandbox(policy=self._policy)
        return self._sandbox


def run(script: str, **options: Unpack[RunOptions]) -> Result:
    """Runs a Python script; the options are those of :meth:`Sandbox.run`.

    >>> run("result = 6 * 7").value
    42
    >>> run("import socket; socket.socket()").violations[0].op
    'socket'
    >>> run("1 / 0", check=True)
    Traceback (most recent call last):
    ...
    cordon.SandboxError: ZeroDivisionError: division by zero (line 1)
    """
    return default().run(script, **options)


async def arun(script: str, **options: Unpack[RunOptions]) -> Result:
    """:func:`run` for a task.

    >>> import asyncio
    >>> asyncio.run(arun("result = 6 * 7")).value
    42
    """
    return await default().arun(script, **options)


def check(script: str, *, preset: str = "standard") -> List[Finding]:
    """Returns the findings of the language rules in a script, which does not run."""
    return default().check(script, preset=preset)


async def acheck(script: str, *, preset: str = "standard") -> List[Finding]:
    """:func:`check` for a task."""
    return await default().acheck(script, preset=preset)


def hook(script: str, **options: Unpack[HookOptions]) -> Hook:
    """Returns a script that is compiled once and called often; see :class:`Hook`."""
    return default().hook(script, **options)
