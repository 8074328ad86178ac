"""JSON to cordon and back."""

from __future__ import annotations

import json
from typing import Any, Dict

from ._errors import CordonError

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
        raise CordonError(f"the answer cannot be read by this Python: {problem}") from None
    if not isinstance(value, dict) or text[end:].strip():
        raise CordonError("the answer is not a JSON object")
    return value
