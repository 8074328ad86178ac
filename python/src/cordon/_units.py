"""Converts times and sizes between text with units and numbers."""

from __future__ import annotations

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Optional, Union

    #: A time: seconds, or text with a unit ("500ms", "2s").
    Seconds = Union[int, float, str]
    #: A size: bytes, or text with a unit ("64KiB", "256MiB").
    Size = Union[int, str]

_SECONDS = {"ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def seconds(text: str) -> float:
    """Returns the seconds of a duration.

    >>> seconds("1m1.5s"), seconds("49µs")
    (61.5, 4.9e-05)
    """
    import re

    return sum(float(number) * _SECONDS[unit] for number, unit in re.findall(r"([0-9.]+)([a-zµ]+)", text))


def size(text: str) -> int:
    """Returns the bytes of a size.

    >>> size("11MiB"), size("0B")
    (11534336, 0)
    """
    import re

    match = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", text)
    if match is None or match.group(2) not in _BYTES:
        return 0
    return int(float(match.group(1)) * _BYTES[match.group(2)])


def duration_text(value: Optional[Seconds], name: str) -> Optional[str]:
    """Returns a time as text for cordon.

    >>> duration_text(2.5, "timeout"), duration_text("500ms", "timeout")
    ('2500000us', '500ms')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}: give seconds, or text like '500ms'")
    # cordon's clocks count microseconds, and "0" would mean the default.
    if not 1e-6 <= value < 1e9:
        raise ValueError(f"{name} is {value!r}: give a positive number of seconds")
    return f"{round(value * 1e6)}us"


def in_seconds(value: Seconds, name: str) -> float:
    """Returns a time, given as a number or text, in seconds.

    >>> in_seconds(2, "timeout"), in_seconds("1m30s", "timeout")
    (2.0, 90.0)
    """
    if not isinstance(value, str):
        if value is None:
            raise TypeError(f"{name} is None: give seconds, or text like '500ms'")
        duration_text(value, name)
        return float(value)
    import re

    if not re.fullmatch(r"(?:[0-9.]+(?:ns|µs|us|ms|s|m|h))+", value):
        raise ValueError(f"{name} is {value!r}: give seconds, or text like '500ms'")
    return seconds(value)


def in_bytes(value: Size, name: str) -> int:
    """Returns a size, given as a number or text, in bytes.

    >>> in_bytes(2, "memory"), in_bytes("1KiB", "memory")
    (2, 1024)
    """
    if not isinstance(value, str):
        if value is None:
            raise TypeError(f"{name} is None: give bytes, or text like '64MiB'")
        size_text(value, name)
        return value
    if not size(value):
        raise ValueError(f"{name} is {value!r}: give bytes, or text like '64MiB'")
    return size(value)


def source(script: object, name: str = "script") -> str:
    """Returns the script, or raises TypeError if it is not text."""
    if not isinstance(script, str):
        raise TypeError(f"{name} is {'None' if script is None else type(script).__name__}: give the source as text")
    return script


def size_text(value: Optional[Size], name: str) -> Optional[str]:
    """Returns a size as text for cordon.

    >>> size_text(1024, "memory"), size_text("64MiB", "memory")
    ('1024B', '64MiB')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} is {value!r}: give bytes, or text like '64MiB'")
    if value < 1:
        raise ValueError(f"{name} is {value!r}: give a positive number of bytes")
    return f"{value}B"
