"""create_sandbox() and run_mod_hook(): scripts of agents, and hooks of mods."""

from __future__ import annotations

import os
from typing import Any, Dict, Optional

from . import _units
from ._errors import Refused
from ._sandbox import Sandbox, call_of, default
from ._transport import HookSource

#: The maxima of the default policy: 60 s of wall and processor time, 1 GiB.
_MAXIMA = {"wall_time": 60, "cpu_time": 60, "memory": 1 << 30}
_STDERR = 1000


class SubprocessSandbox:
    """Runs scripts: ``context`` in, ``result`` out."""

    DEFAULT_TIMEOUT = 30
    DEFAULT_MEMORY_LIMIT = 256 * 1024 * 1024
    DEFAULT_CPU_LIMIT = 10

    def __init__(
        self,
        timeout: float = DEFAULT_TIMEOUT,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
        cpu_limit: float = DEFAULT_CPU_LIMIT,
    ) -> None:
        self.timeout, self.memory_limit, self.cpu_limit = timeout, memory_limit, cpu_limit
        self._limits = {
            "wall_time": _units.duration_text(timeout, "timeout"),
            "memory": _units.size_text(memory_limit, "memory_limit"),
            "cpu_time": _units.duration_text(cpu_limit, "cpu_limit"),
        }
        asked = {"wall_time": timeout, "cpu_time": cpu_limit, "memory": memory_limit}
        above = {name: self._limits[name] for name, value in asked.items() if value > _MAXIMA[name]}
        # Who makes a sandbox is its operator, and may set the bar higher; where there is
        # another one, its policy decides.
        self._own = Sandbox(policy={"maxima": above}) if above and not os.environ.get("CORDON_POLICY") else None
        if (timeout, memory_limit, cpu_limit) == (self.DEFAULT_TIMEOUT, self.DEFAULT_MEMORY_LIMIT, self.DEFAULT_CPU_LIMIT):
            self._limits = {}

    def run_script(self, script: str, context: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """Runs a script and gives ``{"status": "ok", "result": …}``, or
        ``{"status": "error", "error": …}`` whatever happens to it.

        >>> create_sandbox().run_script("result = context['a'] + 1", {"a": 41})
        {'status': 'ok', 'result': 42}
        >>> create_sandbox(timeout=0.2).run_script("while True: pass")
        {'status': 'error', 'error': 'timeout'}
        """
        return _as_status((self._own or default())._transport.ask(self._order(script, context), brief=True))

    async def arun_script(self, script: str, context: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        """:meth:`run_script` for a task."""
        return _as_status(await (self._own or default())._transport.ask_async(self._order(script, context), brief=True))

    def _order(self, script: str, context: Optional[Dict[str, Any]]) -> Dict[str, Any]:
        order = {"script": script if script.strip() else "pass", "context": context or {}, "name": "<agent_script>"}
        if self._limits:
            order["limits"] = self._limits
        return order

    def __repr__(self) -> str:
        return f"<SubprocessSandbox timeout={self.timeout} memory_limit={self.memory_limit} cpu_limit={self.cpu_limit}>"


def create_sandbox(
    timeout: float = SubprocessSandbox.DEFAULT_TIMEOUT,
    memory_limit: int = SubprocessSandbox.DEFAULT_MEMORY_LIMIT,
    cpu_limit: float = SubprocessSandbox.DEFAULT_CPU_LIMIT,
) -> SubprocessSandbox:
    """A sandbox for scripts: seconds, bytes, seconds of processor time."""
    return SubprocessSandbox(timeout, memory_limit, cpu_limit)


def _as_status(answer: Dict[str, Any]) -> Dict[str, Any]:
    outcome, exception = answer["outcome"], answer["exception"]
    if outcome == "succeeded":
        return {"status": "ok", "result": answer["result"]}
    if outcome == "timed_out":
        return {"status": "error", "error": "timeout"}
    if outcome == "invalid_output":
        return {"status": "error", "error": "invalid output"}
    if outcome in ("raised", "malformed") and exception:
        return {"status": "error", "error": exception["message"], "error_type": exception["type"]}
    words = answer["stderr"][:_STDERR] if outcome == "exited" else ""
    return {"status": "error", "error": words or answer["error"], "exit_code": answer["exit_code"]}


def run_mod_hook(
    script_source: str,
    game_state: Dict[str, Any],
    mod_config: Dict[str, Any],
    timeout_seconds: float = 5.0,
) -> Any:
    """Runs a hook of a mod and gives what it leaves in ``result["output"]``.

    The script is checked and compiled with its first call, and kept: a later one costs
    microseconds. One that does not compile, or that the language rules refuse, is
    ValueError; one that takes too long is TimeoutError; one that raises gives
    ``{"status": "error", "error": …}``.

    >>> run_mod_hook("result['output'] = game_state['gold'] * mod_config['factor']", {"gold": 21}, {"factor": 2})
    42
    >>> run_mod_hook("import os", {}, {})
    Traceback (most recent call last):
    ...
    ValueError: the mod script is refused: 1:8: import-not-allowed: import of module 'os' is not allowed...
    """
    try:
        answer = default()._transport.call(_hook(script_source, timeout_seconds), call_of(game_state, mod_config), brief=True)
    except Refused as refused:
        raise _refusal(refused) from None
    return _output(answer, timeout_seconds)


async def arun_mod_hook(
    script_source: str,
    game_state: Dict[str, Any],
    mod_config: Dict[str, Any],
    timeout_seconds: float = 5.0,
) -> Any:
    """:func:`run_mod_hook` for a task."""
    try:
        answer = await default()._transport.call_async(_hook(script_source, timeout_seconds), call_of(game_state, mod_config), brief=True)
    except Refused as refused:
        raise _refusal(refused) from None
    return _output(answer, timeout_seconds)


def _hook(script: str, timeout: float) -> HookSource:
    script = script if script.strip() else "pass"
    if timeout == 5.0:
        return HookSource(script, "<mod_hook>")
    text = _units.duration_text(timeout, "timeout_seconds")
    return HookSource(script, "<mod_hook>", None, (("wall_time", text),))


def _refusal(refused: Refused) -> ValueError:
    return ValueError("the mod script is refused: " + "\n".join(str(f) for f in refused.findings))


def _output(answer: Dict[str, Any], timeout: float) -> Any:
    outcome = answer["outcome"]
    if outcome == "succeeded":
        return answer["result"]
    if outcome in ("timed_out", "out_of_cpu"):
        raise TimeoutError(f"the mod script took longer than {timeout} s")
    exception = answer["exception"]
    return {"status": "error", "error": exception["message"] if exception else answer["error"]}


__all__ = ["SubprocessSandbox", "arun_mod_hook", "create_sandbox", "run_mod_hook"]
