"""The keywords of the API, for type checkers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from . import _files, _units


class ToolOptions(TypedDict, total=False):
    """The keywords of :meth:`Sandbox.run` that a tool for agents passes on."""

    stdin: str
    variables: Sequence[str]
    artifacts: Union[str, Sequence[str]]
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
    files: Optional[_files.Files]
    args: Sequence[str]
    name: Optional[str]


class SessionOptions(TypedDict, total=False):
    """The keywords of :meth:`Sandbox.session`."""

    restricted: bool
    timeout: Optional[_units.Seconds]
    cpu_time: Optional[_units.Seconds]
    memory: Optional[_units.Size]
    output: Optional[_units.Size]
    limits: Optional[Mapping[str, Any]]
    tier: Optional[str]
    trust: Optional[str]


class HookOptions(TypedDict, total=False):
    """The keywords of :meth:`Sandbox.hook`."""

    timeout: Optional[_units.Seconds]
    memory: Optional[_units.Size]
    limits: Optional[Mapping[str, Any]]
    name: Optional[str]
    trust: Optional[str]
