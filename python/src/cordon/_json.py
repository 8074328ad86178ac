"""JSON to cordon and back."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, Union

from ._errors import CordonError, Unreadable

# ASCII, so that bytes are characters; and no NaN, for which JSON has no word.
write = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode

_decode = json.JSONDecoder().raw_decode


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
