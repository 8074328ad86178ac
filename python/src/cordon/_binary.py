"""Where the cordon binary is."""

from __future__ import annotations

import os
import shutil
from typing import Optional

from ._errors import NotFound

NAME = "cordon.exe" if os.name == "nt" else "cordon"


def find(named: Optional[str] = None) -> str:
    """The binary: the one that is named, or that CORDON_BIN names, or that this package
    carries, or that is on PATH."""
    for origin, path in (("binary", named), ("CORDON_BIN", os.environ.get("CORDON_BIN"))):
        if not path:
            continue
        found = shutil.which(path)
        if found is None:
            raise NotFound(f"{origin} is {path}, and there is no such program")
        return found
    carried = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", NAME)
    if os.access(carried, os.X_OK):
        return carried
    found = shutil.which(NAME)
    if found is None:
        raise NotFound(
            "there is no cordon binary: install the wheel for this platform, which carries one, put cordon on PATH, "
            "or name it in CORDON_BIN"
        )
    return found
