"""The natural API: run, check, hook; for threads and for tasks."""

from __future__ import annotations

import atexit
import json
import os
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from . import _binary, _units
from ._errors import InvalidRequest
from ._result import Finding, Result
from ._transport import HookSource, Local, Order, Transport

if TYPE_CHECKING:
    from typing_extensions import Unpack  # type checkers carry it; nothing imports it at run time

#: How many runs one child executes at once. The others wait.
AT_ONCE = 64

#: A policy: the name of a preset, a file, or what would be in the file.
Policy = Union[str, "os.PathLike[str]", Mapping[str, Any]]


class ToolOptions(TypedDict, total=False):
    """The keywords of :meth:`Sandbox.run` that a tool for agents passes on."""

    stdin: str
    variables: Sequence[str]
    restricted: bool
    timeout: Optional[_units.Seconds]
    cpu_time: Optional[_units.Seconds]
    memory: Optional[_units.Size]
    output: Optional[_units.Size]
    limits: Optional[Mapping[str, Any]]
    tier: Optional[str]
    trust: Optional[str]
    check: bool


class RunOptions(ToolOptions, total=False):
    """All keywords of :meth:`Sandbox.run`."""

    context: Any
    name: Optional[str]


class HookOptions(TypedDict, total=False):
    """The keywords of :meth:`Sandbox.hook`."""

    timeout: Optional[_units.Seconds]
    memory: Optional[_units.Size]
    limits: Optional[Mapping[str, Any]]
    name: Optional[str]
    trust: Optional[str]


class Sandbox:
    """Runs code that you do not trust.

    Without arguments it is a child of the cordon binary under the default policy; all
    such sandboxes of a process share one. With ``url`` it is a running service.

    >>> with Sandbox() as sandbox:
    ...     sandbox.run("result = context['a'] + 1", context={"a": 41}).value
    42

    ``policy`` says what guests may do: a preset's name, a file, or a dict of what would
    be in one. Requests only narrow it.

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
                raise InvalidRequest("policy, python and binary are the service's to choose: leave them out beside url")
            from ._service import Service, parts_of

            self._about = "%s:%s" % parts_of(url)
            self._transport: Transport = Service(url, token)
            self._release = self._transport.close
            return
        if token is not None:
            raise InvalidRequest("token is for a service: name it with url")
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
        """Runs a Python script. It finds ``context``, and what it leaves in ``result``,
        any JSON value, is the Result's value.

        Whatever the script does is a Result; with ``check`` a failure is SandboxError.
        ``timeout`` is the wall time in seconds, ``memory`` and ``output`` are bytes; text
        with a unit works too. ``limits`` has all others by the names of cordon.
        """
        order = script_order(
            script, context, stdin, variables, restricted, limits_of(timeout, cpu_time, memory, output, limits), name, tier, trust
        )
        return _result(self._transport.ask(order), check)

    async def arun(
        self,
        script: str,
        *,
        context: Any = None,
        stdin: str = "",
        variables: Sequence[str] = (),
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
        order = script_order(
            script, context, stdin, variables, restricted, limits_of(timeout, cpu_time, memory, output, limits), name, tier, trust
        )
        return _result(await self._transport.ask_async(order), check)

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
        return _result(self._transport.ask(command_order(command, workspace, stdin, env, limits)), check)

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
        return _result(await self._transport.ask_async(command_order(command, workspace, stdin, env, limits)), check)

    def check(self, script: str, *, preset: str = "standard") -> List[Finding]:
        """Returns what the language rules find in a script, which does not run.

        >>> [f.reason for f in Sandbox().check("import os")]
        ["import of module 'os' is not allowed"]
        """
        answer = self._transport.ask({"check": {"script": script, "preset": preset}})
        return [Finding.of(f) for f in answer["findings"]]

    async def acheck(self, script: str, *, preset: str = "standard") -> List[Finding]:
        """``check`` for a task."""
        answer = await self._transport.ask_async({"check": {"script": script, "preset": preset}})
        return [Finding.of(f) for f in answer["findings"]]

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
        return Hook(self._transport, HookSource(_units.source(script), name, trust, tuple(sorted(merged.items()))))

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
    """A hook: ``hook(state, config)`` gives its output, or raises SandboxError.

    It is compiled with its first call, and found again by its source.

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
        """Calls it, and gives the whole Result."""
        return Result.of(self._transport.call(self._source, call_of(game_state, mod_config)))

    async def acall(self, game_state: Any = None, mod_config: Any = None) -> Result:
        """``call`` for a task."""
        return Result.of(await self._transport.call_async(self._source, call_of(game_state, mod_config)))

    def call_function(self, function: str, *args: Any) -> Result:
        """Calls a function that the script defines."""
        return Result.of(self._transport.call(self._source, {"function": function, "args": args}))

    async def acall_function(self, function: str, *args: Any) -> Result:
        """``call_function`` for a task."""
        return Result.of(await self._transport.call_async(self._source, {"function": function, "args": args}))

    def __repr__(self) -> str:
        first = self._source.script.strip().partition("\n")[0]
        return f"<Hook {self._source.name or first[:60]!r}>"


# Orders


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


def script_order(
    script: str,
    context: Any,
    stdin: str,
    variables: Sequence[str],
    restricted: bool,
    limits: Dict[str, Any],
    name: Optional[str],
    tier: Optional[str],
    trust: Optional[str],
) -> Order:
    order: Order = {"script": _units.source(script)}
    for key, value in (
        ("stdin", stdin),
        ("variables", [variables] if isinstance(variables, str) else list(variables)),
        ("restricted", restricted),
        ("limits", limits),
        ("name", name),
        ("tier", tier),
        ("trust", trust),
    ):
        if value:
            order[key] = value
    if context is not None:
        order["context"] = context
    return order


def command_order(
    command: Sequence[str],
    workspace: Optional[str],
    stdin: str,
    env: Optional[Mapping[str, str]],
    limits: Optional[Mapping[str, Any]],
) -> Order:
    if isinstance(command, str):
        raise TypeError("command is a list of the program and its arguments: no shell splits a text")
    order: Order = {"command": list(command)}
    for key, value in (
        ("workspace", os.path.abspath(workspace) if workspace else None),
        ("stdin", stdin),
        ("env", dict(env) if env else None),
        ("limits", dict(limits) if limits else None),
    ):
        if value:
            order[key] = value
    return order


def call_of(game_state: Any, mod_config: Any) -> Dict[str, Any]:
    return {"game_state": {} if game_state is None else game_state, "mod_config": {} if mod_config is None else mod_config}


def _result(answer: Dict[str, Any], check: bool) -> Result:
    result = Result.of(answer)
    if check:
        result.unwrap()
    return result


def _nothing() -> None:
    pass


# Children that are shared

#: Binary, policy, interpreter, and CORDON_POLICY, which the child reads when it starts.
Key = Tuple[str, Optional[str], Optional[str], Optional[str]]

_shared: Dict[Key, Tuple[Local, int]] = {}
_sharing = threading.RLock()


def _share(key: Key) -> Tuple[Local, Any]:
    """A child for this key, and what lets go of it."""
    with _sharing:
        transport, users = _shared.get(key) or (Local(_command(key)), 0)
        _shared[key] = (transport, users + 1)

    def release() -> None:
        with _sharing:
            transport, users = _shared.pop(key)
            if users > 1:
                _shared[key] = (transport, users - 1)
                return
        transport.close()

    return transport, release


def _command(key: Key) -> List[str]:
    binary, policy, python, _ = key
    command = [binary, "run", "--json-lines", "--concurrent", str(AT_ONCE)]
    if policy is not None:
        command += ["--policy", _policy_file(policy) if policy.startswith("{") else policy]
    if python is not None:
        command += ["--python", python]
    return command


def _own_python(policy: Optional[Policy]) -> Optional[str]:
    """The interpreter of this process, so that guests have the packages of its environment.

    An operator's choice comes first: CORDON_PYTHON, CORDON_POLICY, or a policy that may
    name an interpreter. A frozen program, and Python that is not CPython, cannot serve.
    """
    chosen = os.environ.get("CORDON_PYTHON") or os.environ.get("CORDON_POLICY")
    if chosen or not sys.executable or getattr(sys, "frozen", False) or sys.implementation.name != "cpython":
        return None
    if isinstance(policy, Mapping):
        return None if policy.get("python") else sys.executable
    return sys.executable if policy is None or not os.path.isfile(policy) else None


def _policy_text(policy: Optional[Policy]) -> Optional[str]:
    if policy is None:
        return None
    if isinstance(policy, Mapping):
        return json.dumps(policy, sort_keys=True)
    return os.fspath(policy)


def _policy_file(text: str) -> str:
    """A file for a policy that was given as a dict; JSON is YAML. It stays until Python
    ends: a child that dies is started with it again."""
    handle, path = tempfile.mkstemp(prefix="cordon-policy-", suffix=".yaml")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    atexit.register(_remove, path, os.getpid())
    return path


def _remove(path: str, owner: int) -> None:
    """By the process that made it: a forked one ends, too, and the other goes on."""
    if os.getpid() == owner and os.path.exists(path):
        os.unlink(path)


def _after_fork() -> None:
    global _sharing
    _sharing = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# What most programs need: one sandbox for all

_default: Optional[Sandbox] = None


def default() -> Sandbox:
    """The sandbox of the functions in this package: local, or what ``connect`` named."""
    global _default
    sandbox = _default
    if sandbox is None:
        with _sharing:
            if _default is None:
                _default = Sandbox()
            sandbox = _default
    return sandbox


def connect(url: str, token: Optional[str] = None) -> Sandbox:
    """Has the functions of this package use a running service from now on.

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
    """Whether somebody else has chosen the policy: a service, or who set CORDON_POLICY."""
    return connected() or bool(os.environ.get("CORDON_POLICY"))


def connected() -> bool:
    """Whether the functions of this package use a service."""
    return _default is not None and not isinstance(_default._transport, Local)


class Own:
    """A sandbox under a policy of this package's own, made when it is first wanted; the
    default one where there is another operator, whose policy decides."""

    def __init__(self, policy: Mapping[str, Any]) -> None:
        self._policy = policy
        self._sandbox: Optional[Sandbox] = None

    def place(self) -> Sandbox:
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
    """What the language rules find in a script; nothing of it runs."""
    return default().check(script, preset=preset)


async def acheck(script: str, *, preset: str = "standard") -> List[Finding]:
    """:func:`check` for a task."""
    return await default().acheck(script, preset=preset)


def hook(script: str, **options: Unpack[HookOptions]) -> Hook:
    """A script that is compiled once and called often; see :class:`Hook`."""
    return default().hook(script, **options)
