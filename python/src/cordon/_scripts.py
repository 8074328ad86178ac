"""create_sandbox() and run_mod_hook(): scripts of agents, and hooks of mods."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from . import _units
from ._errors import InvalidRequest, Refused, Unreadable
from ._hooks import HookSource
from ._sandbox import Own, Sandbox, another_operator, call_of, connected, default

#: The maxima of the default policy: 60 s of wall and CPU time, 1 GiB.
_MAXIMA = {"wall_time": 60, "cpu_time": 60, "memory": 1 << 30}
_STDERR = 1000


class SubprocessSandbox:
    """Runs scripts: ``context`` in, ``result`` out."""

    DEFAULT_TIMEOUT = 30
    DEFAULT_MEMORY_LIMIT = 256 * 1024 * 1024
    DEFAULT_CPU_LIMIT = 10

    def __init__(
        self,
        timeout: _units.Seconds = DEFAULT_TIMEOUT,
        memory_limit: _units.Size = DEFAULT_MEMORY_LIMIT,
        cpu_limit: _units.Seconds = DEFAULT_CPU_LIMIT,
    ) -> None:
        self.timeout, self.memory_limit, self.cpu_limit = timeout, memory_limit, cpu_limit
        self._asked: Optional[Tuple[_units.Seconds, _units.Size, _units.Seconds]] = None
        self._prepare()

    def _prepare(self) -> None:
        """Computes the limits again if they were changed since the last call."""
        asked = (self.timeout, self.memory_limit, self.cpu_limit)
        if asked != self._asked:
            numbers = {
                "wall_time": _units.in_seconds(self.timeout, "timeout"),
                "cpu_time": _units.in_seconds(self.cpu_limit, "cpu_limit"),
                "memory": _units.in_bytes(self.memory_limit, "memory_limit"),
            }
            limits = {
                "wall_time": _units.duration_text(self.timeout, "timeout"),
                "memory": _units.size_text(self.memory_limit, "memory_limit"),
                "cpu_time": _units.duration_text(self.cpu_limit, "cpu_limit"),
            }
            above = {name: limits[name] for name, value in numbers.items() if value > _MAXIMA[name]}
            # The caller that makes a sandbox is its operator, and may raise the maxima. If there
            # is another operator, its policy decides.
            self._own = Sandbox(policy={"maxima": above}) if above and not another_operator() else None
            usual = (self.DEFAULT_TIMEOUT, self.DEFAULT_MEMORY_LIMIT, self.DEFAULT_CPU_LIMIT)
            self._limits = {} if asked == usual else limits
            self._asked = asked

    def run_script(self, script: str, context: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """Runs a script and returns ``{"status": "ok", "result": …}`` or
        ``{"status": "error", "error": …}``.

        >>> create_sandbox().run_script("result = context['a'] + 1", {"a": 41})
        {'status': 'ok', 'result': 42}
        >>> create_sandbox(timeout=0.2).run_script("while True: pass")
        {'status': 'error', 'error': 'timeout'}
        """
        self._prepare()
        try:
            return _as_status((self._own or default())._transport.ask(self._request(script, context), brief=True))
        except (InvalidRequest, Unreadable) as problem:
            return _no_answer(problem)

    async def arun_script(self, script: str, context: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """:meth:`run_script` for a task."""
        self._prepare()
        try:
            return _as_status(await (self._own or default())._transport.ask_async(self._request(script, context), brief=True))
        except (InvalidRequest, Unreadable) as problem:
            return _no_answer(problem)

    def _request(self, script: str, context: Optional[Dict[str, Any]]) -> Dict[str, Any]:
        script = _units.source(script)
        request = {"script": script if script.strip() else "pass", "context": {} if context is None else context, "name": "<agent_script>"}
        if self._limits:
            request["limits"] = self._limits
        return request

    def __repr__(self) -> str:
        return f"<SubprocessSandbox timeout={self.timeout} memory_limit={self.memory_limit} cpu_limit={self.cpu_limit}>"


def create_sandbox(
    timeout: _units.Seconds = SubprocessSandbox.DEFAULT_TIMEOUT,
    memory_limit: _units.Size = SubprocessSandbox.DEFAULT_MEMORY_LIMIT,
    cpu_limit: _units.Seconds = SubprocessSandbox.DEFAULT_CPU_LIMIT,
) -> SubprocessSandbox:
    """Returns a sandbox for scripts. The limits are seconds, bytes and seconds of CPU time, or
    text like "500ms" and "64MiB". Where no script can run, this raises the reason."""
    sandbox = SubprocessSandbox(timeout, memory_limit, cpu_limit)
    (sandbox._own or default())._transport.try_out()
    return sandbox


def _no_answer(problem: Exception) -> Dict[str, Any]:
    """Returns the status for a script that cannot run, or a result that cannot be read."""
    return {"status": "error", "error": "invalid output" if isinstance(problem, Unreadable) else str(problem)}


def _as_status(answer: Dict[str, Any]) -> Dict[str, Any]:
    outcome, exception = answer["outcome"], answer["exception"]
    if outcome == "succeeded":
        return {"status": "ok", "result": answer["result"]}
    if outcome == "timed_out":
        return {"status": "error", "error": "timeout"}
    if outcome in ("invalid_output", "out_of_result"):
        return {"status": "error", "error": "invalid output"}
    if outcome in ("raised", "malformed") and exception:
        return {"status": "error", "error": exception["message"], "error_type": exception["type"]}
    words = answer["stderr"][:_STDERR] if outcome == "exited" else ""
    return {"status": "error", "error": words or answer["error"], "exit_code": answer["exit_code"]}


def run_mod_hook(
    script: Optional[str] = None,
    game_state: Optional[Dict[str, Any]] = None,
    mod_config: Optional[Dict[str, Any]] = None,
    timeout_seconds: float = 5.0,
    *,
    script_source: Optional[str] = None,
    trust: Optional[str] = None,
) -> Any:
    """Runs a hook of a mod and returns what it sets in ``result["output"]``.
    ``script_source`` is another name for ``script``.

    The script is checked and compiled at its first call, and kept: later calls take
    microseconds. A script that does not compile, or that the language rules refuse, raises
    ValueError; one that takes too long raises TimeoutError; for one that raises, the result is
    ``{"status": "error", "error": …}``.

    Calls of one script share a process, where only the language rules separate them, unless
    ``trust`` is ``"user"``: then each call has its own process, and takes about a millisecond.
    That is also the default of a service that ``connect`` named; there, ``"platform"`` works
    only if the operator allows it.

    >>> run_mod_hook("result['output'] = game_state['gold'] * mod_config['factor']", {"gold": 21}, {"factor": 2})
    42
    >>> run_mod_hook("import os", {}, {})
    Traceback (most recent call last):
    ...
    ValueError: the mod script is refused: 1:...: import-not-allowed: import of module 'os' is not allowed...
    """
    hook = _hook(script_source if script is None else script, timeout_seconds, trust)
    try:
        answer = _sandbox_for(timeout_seconds)._transport.call(hook, call_of(game_state, mod_config), brief=True)
    except Refused as refused:
        raise _refusal(refused) from None
    except Unreadable as problem:
        return {"status": "error", "error": str(problem)}
    return _output(answer, timeout_seconds)


async def arun_mod_hook(
    script: Optional[str] = None,
    game_state: Optional[Dict[str, Any]] = None,
    mod_config: Optional[Dict[str, Any]] = None,
    timeout_seconds: float = 5.0,
    *,
    script_source: Optional[str] = None,
    trust: Optional[str] = None,
) -> Any:
    """:func:`run_mod_hook` for a task."""
    hook = _hook(script_source if script is None else script, timeout_seconds, trust)
    try:
        answer = await _sandbox_for(timeout_seconds)._transport.call_async(hook, call_of(game_state, mod_config), brief=True)
    except Refused as refused:
        raise _refusal(refused) from None
    except Unreadable as problem:
        return {"status": "error", "error": str(problem)}
    return _output(answer, timeout_seconds)


# For hooks with a timeout above the maximum of the default policy.
_long_running = Own({"maxima": {"wall_time": "8760h", "cpu_time": "8760h"}})


def _sandbox_for(timeout: float) -> Sandbox:
    return default() if timeout == 5.0 or _seconds(timeout) <= _MAXIMA["wall_time"] else _long_running.sandbox()


def _seconds(timeout: _units.Seconds) -> float:
    return _units.in_seconds(timeout, "timeout_seconds")


def _hook(script: Optional[str], timeout: float, trust: Optional[str] = None) -> HookSource:
    script = _units.source(script)
    script = script if script.strip() else "pass"
    # The child belongs to this program, whose author installs the mod and is the operator. A
    # service has another operator.
    if trust is None and not connected():
        trust = "platform"
    if timeout == 5.0:
        return HookSource(script, "<mod_hook>", trust)
    text = _units.duration_text(timeout, "timeout_seconds")
    if _seconds(timeout) < 5.0:
        return HookSource(script, "<mod_hook>", trust, (("wall_time", text),))
    # A hook may use its whole timeout as CPU time; the default is 5 s.
    return HookSource(script, "<mod_hook>", trust, (("wall_time", text), ("cpu_time", text)))


def _refusal(refused: Refused) -> ValueError:
    return ValueError("the mod script is refused: " + "\n".join(str(f) for f in refused.findings))


def _output(answer: Dict[str, Any], timeout: float) -> Any:
    outcome = answer["outcome"]
    if outcome == "succeeded":
        return answer["result"]
    if outcome in ("timed_out", "out_of_cpu"):
        raise TimeoutError(f"the mod script took longer than {timeout} s")
    exception = answer["exception"] if outcome != "out_of_memory" else None  # MemoryError has no message
    return {"status": "error", "error": exception["message"] if exception else answer["error"]}


__all__ = ["SubprocessSandbox", "arun_mod_hook", "create_sandbox", "run_mod_hook"]
