"""JSON to cordon and back."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, Union

from ._errors import CordonError, InvalidRequest, Unreadable

# ASCII, so that bytes are characters; and no NaN, for which JSON has no word. To remember
# what a value is in, so as to know when it comes again, takes a fifth of the time.
_careful = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_quick = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode

_decode = json.JSONDecoder().raw_decode


def write(value: Any) -> str:
    try:
        return _quick(value)
    except RecursionError:
        pass
    try:
        return _careful(value)  # which says so of what contains itself
    except RecursionError:
        raise InvalidRequest("the request is nested too deep to be written as JSON: give less deep data") from None


def read(answer: bytes) -> Dict[str, Any]:
    """Reads an answer. Parts of it are a guest's: what this Python refuses to read must
    not look like a mistake of the caller's."""
    try:
        text = answer.decode("utf-8")
        value, end = _decode(text)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(f"the answer cannot be read by this Python: {problem}", _loosely(answer)) from None
    if not isinstance(value, dict) or text[end:].strip():
        raise CordonError("the answer is not a JSON object")
    return value


def _loosely(answer: bytes) -> Optional[Dict[str, Any]]:
    try:
        value = json.loads(answer.decode("utf-8"), parse_int=_number)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _number(digits: str) -> Union[int, str]:
    try:
        return int(digits)
    except ValueError:
        return digits
