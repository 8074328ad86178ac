"""Packs a function and its arguments for a guest that sees nothing of this process.

A function of the standard library or of an installed package is sent by name. For a function of
the caller's own modules, the sources of these modules are sent too. A function without a name
there (a lambda, a closure) is sent by value, with cloudpickle. A plain function that was typed
into an interpreter is sent by its code, without cloudpickle.
"""

from __future__ import annotations

import ast
import base64
import dis
import functools
import io
import marshal
import os
import pickle
import sys
import sysconfig
import types
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

Sent = Dict[str, Any]


class CannotPack(Exception):
    """The function or its arguments cannot be sent."""


def pack(func: Callable[..., Any], arguments: Dict[str, Any]) -> Dict[str, Any]:
    """Returns the guest's context; see _guest.py."""
    names: Set[str] = set()
    by_code: List[Sent] = []
    try:
        if _found_by_name(func):
            payload = _pickled(pickle.Pickler, (func, arguments), names)
        elif _cloudpickle() is not None:
            payload = _pickled(_cloudpickle().CloudPickler, (func, arguments), names)
        else:
            _code(func, by_code, {}, names)
            payload = _pickled(pickle.Pickler, arguments, names)
    except CannotPack:
        raise
    except Exception as problem:  # also what the caller's own objects raise
        raise CannotPack(f"{_name(func)} or its arguments cannot be pickled: {problem}") from problem
    modules = _sources(names)
    return {
        "functions": by_code,
        "payload": _text(payload),
        "main": modules.pop("__main__", None),
        "modules": modules,
    }


def _name(func: Any) -> str:
    return str(getattr(func, "__qualname__", None) or repr(func))


def _found_by_name(func: Any) -> bool:
    """Whether the guest can import it by the same name."""
    if not isinstance(func, (types.FunctionType, types.BuiltinFunctionType, type)):
        return True  # a bound method, a partial: pickle handles its parts
    module = sys.modules.get(func.__module__ or "")
    if module is None or (module.__name__ == "__main__" and _source(module) is None):
        return False
    found: Any = module
    for part in func.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is func


def _cloudpickle() -> Any:
    try:
        import cloudpickle
    except ImportError:
        return None
    return cloudpickle


def _pickled(kind: Any, value: Any, names: Set[str]) -> bytes:
    """Pickles a value, and records the modules that the pickle names."""

    class Noting(kind):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, (type, types.FunctionType)):
                names.add(obj.__module__)
            elif isinstance(obj, types.ModuleType):
                names.add(obj.__name__)
            above = getattr(super(), "reducer_override", None)
            return above(obj) if above is not None else NotImplemented

    buffer = io.BytesIO()
    Noting(buffer, protocol=4).dump(value)
    return buffer.getvalue()


# By code

_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")


def _code(func: Any, functions: List[Sent], known: Dict[int, int], names: Set[str]) -> int:
    """Adds a function and those that it calls to the list; returns its index."""
    if not isinstance(func, types.FunctionType) or func.__closure__:
        raise CannotPack(f"{_name(func)} has no name that a guest could import: install cloudpickle to send it by value")
    if id(func) in known:
        return known[id(func)]
    index = known[id(func)] = len(functions)
    sent: Sent = {"name": func.__name__, "code": _text(marshal.dumps(func.__code__))}
    functions.append(sent)
    space: Dict[str, Any] = {}
    for name in _names_in(func.__code__):
        if name not in func.__globals__:
            continue  # a builtin, or an undefined name, which the guest will report
        value = func.__globals__[name]
        if isinstance(value, types.ModuleType):
            names.add(value.__name__)
            space[name] = ("module", value.__name__)
        elif isinstance(value, types.FunctionType) and not _found_by_name(value):
            space[name] = ("function", _code(value, functions, known, names))
        else:
            space[name] = ("data", _text(_pickled(pickle.Pickler, value, names)))
    sent["globals"] = space
    sent["defaults"] = _text(_pickled(pickle.Pickler, (func.__defaults__, func.__kwdefaults__), names))
    return index

def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _names_in(code: types.CodeType) -> List[str]:
    """Returns the globals that a function and its inner functions use."""
    names = [step.argval for step in dis.get_instructions(code) if step.opname in _GLOBALS]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += _names_in(constant)
    return names


# Sources


def _sources(names: Set[str]) -> Dict[str, Sent]:
    """Returns the sources of the caller's own modules among these, of their packages, and of
    the caller's own modules that they import."""
    sent: Dict[str, Sent] = {}
    left = sorted(names)
    while left:
        name = left.pop()
        module = sys.modules.get(name)
        if name in sent or module is None or not _is_own(module):
            continue  # already added, not loaded here, or installed
        source = _source(module)
        if source is None:
            continue
        is_package = hasattr(module, "__path__")
        # The main program may be part of a package: python -m.
        parent = getattr(module, "__package__", None) if name == "__main__" else name.rpartition(".")[0]
        sent[name] = {"source": source, "file": module.__file__, "package": is_package, "parent": parent}
        if parent:
            left.append(parent)
        left += _imports(source, name if is_package else parent or "")
    return sent


@functools.lru_cache(maxsize=256)
def _imports(source: str, package: str) -> Tuple[str, ...]:
    """Returns the modules that a source imports, also inside functions."""
    names: Set[str] = set()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return ()  # it was changed since it was loaded; the guest reports the error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return tuple(sorted(names))


def _installed() -> List[str]:
    """Returns the directories of the interpreter and of the installed packages."""
    paths = sysconfig.get_paths()
    return [os.path.realpath(paths[key]) + os.sep for key in ("stdlib", "platstdlib", "purelib", "platlib")]


_INSTALLED = _installed()


def _is_own(module: types.ModuleType) -> bool:
    """Whether the guest cannot see a module: it only sees installed ones."""
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and not os.path.realpath(file).startswith(tuple(_INSTALLED))


def _source(module: types.ModuleType) -> Optional[str]:
    file = getattr(module, "__file__", None)
    loader = getattr(module, "__loader__", None)
    try:
        if loader is not None and module.__name__ != "__main__" and hasattr(loader, "get_source"):
            source: Optional[str] = loader.get_source(module.__name__)
            return source
        if isinstance(file, str):
            with open(file, encoding="utf-8") as text:
                return text.read()
    except (OSError, ImportError, ValueError):
        pass
    return None
