"""JSON to cordon and back."""

from __future__ import annotations

import json

from ._errors import CordonError, InvalidRequest, NotJSON, Unreadable

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple, Union

# ASCII, so that bytes are characters; and no NaN, which JSON cannot express. The check for
# circular references takes a fifth of the time.
_careful = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
_quick = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode

_decode = json.JSONDecoder().raw_decode


def write(value: Any) -> str:
    try:
        return _quick(value)
    except RecursionError:
        pass
    except (TypeError, ValueError) as problem:
        raise NotJSON(_unwritable(value) or str(problem)) from None
    try:
        return _careful(value)  # reports circular references
    except RecursionError:
        raise InvalidRequest("the request is nested too deeply for JSON: pass flatter data") from None


# What to pass instead of common other types.
_INSTEAD = {
    "date": "give value.isoformat()",
    "datetime": "give value.isoformat()",
    "time": "give value.isoformat()",
    "set": "give sorted(value) or list(value)",
    "frozenset": "give sorted(value) or list(value)",
    "bytes": "give value.decode(), or base64",
    "Decimal": "give str(value) or float(value)",
    "ndarray": "give value.tolist()",
    "DataFrame": "give value.to_dict('records')",
}


def _unwritable(request: Any) -> Optional[str]:
    """Returns which part of a request is not JSON: where it is, what it is, and what to pass instead."""
    waiting: List[Tuple[str, Any]] = [("", request)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, (str, int, float, bool, type(None))):
                    return f"{where or 'the request'} has a key that is {_a(key)}: JSON keys are text"
            waiting += [(f"{where}[{key!r}]" if where else str(key), part) for key, part in reversed(list(value.items()))]
        elif isinstance(value, (list, tuple)):
            waiting += [(f"{where}[{i}]", part) for i, part in reversed(list(enumerate(value)))]
        elif isinstance(value, float) and value - value != 0:
            return f"{where} is {value!r}, which JSON cannot express: give None or text"
        elif not isinstance(value, (str, int, float, type(None))):
            instead = _INSTEAD.get(type(value).__name__, "convert it to str, int, float, bool, None, list or dict")
            return f"{where or 'the request'} is {_a(value)}, which is not JSON: {instead}"
    return None


def _a(value: Any) -> str:
    name = type(value).__name__
    return ("an " if name[:1].lower() in "aeiou" else "a ") + name


def read(answer: bytes) -> Dict[str, Any]:
    """Reads an answer. Parts of it come from the guest, so what this Python refuses to read
    must not look like a mistake of the caller."""
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
