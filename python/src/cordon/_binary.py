"""Where the cordon binary is."""

from __future__ import annotations

import os
import stat

from ._errors import NotFound

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from typing import List, Optional

NAME = "cordon.exe" if os.name == "nt" else "cordon"

_MOST_LINKS = 40  # the kernel's own bound on the links in one path

# Directories of the system, which contain no workspace. internal/hostpath has the rule.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/nix", "/snap", "/System", "/Library")


def find(named: Optional[str] = None) -> str:
    """Returns the binary: the named one, or that of CORDON_BIN, of this package, or on PATH.

    A program on PATH is executed outside every sandbox, so it must not be a file that a
    guest could have written: one below the current directory, or behind a symlink there. To use
    such a file, name its path."""
    for origin, path in (("binary", named), ("CORDON_BIN", os.environ.get("CORDON_BIN"))):
        if not path:
            continue
        found = _search(path) if os.path.basename(path) == path else path
        if found is None or not _is_program(found):
            raise NotFound(f"{origin} is {path}, which is not a program")
        return found
    carried = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", NAME)
    if os.access(carried, os.X_OK):
        return carried
    found = _search(NAME)
    if found is None:
        raise NotFound(
            "there is no cordon binary: install the wheel for this platform, which contains one, put cordon on PATH "
            "(not below the current directory, where guests may write), or name it in CORDON_BIN"
        )
    return found


def _search(name: str) -> Optional[str]:
    """Returns the first program of that name on PATH that no guest could have written. Its path
    has no symlinks, which could be changed before it is started."""
    if os.name == "nt" and not name.lower().endswith(".exe"):
        name += ".exe"
    guests = _guest_writable()
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if not os.path.isabs(directory):
            continue
        path = _links_and_target(os.path.join(directory, name))
        if path and _is_program(path[-1]) and not _is_ours(path[-1]) and not any(_under(step, guest) for step in path for guest in guests):
            return path[-1]
    return None


def _guest_writable() -> List[str]:
    """Returns where guests may write: the current directory, unless it cannot be a workspace."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed: nothing is below it
        return []
    home = os.path.expanduser("~")
    if os.path.isabs(home) and _under(os.path.realpath(home), here) or any(_under(here, tree) for tree in _SYSTEM):
        return []
    return [here] if here != os.path.dirname(here) else []


def _links_and_target(path: str) -> List[str]:
    """Returns the real path of every symlink on the path of a file, and the file itself last;
    nothing if it cannot be reached."""
    if os.name == "nt":  # making a symlink needs a privilege there
        return [os.path.realpath(path)]
    links: List[str] = []
    real, todo = "/", path.split("/")
    while todo:
        part = todo.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            real = os.path.dirname(real)
            continue
        following = os.path.join(real, part)
        try:
            if not stat.S_ISLNK(os.lstat(following).st_mode):
                real = following
                continue
            target = os.readlink(following)
        except OSError:
            return []
        links.append(following)
        if len(links) > _MOST_LINKS:
            return []
        if target.startswith("/"):
            real = "/"
        todo = target.split("/") + todo
    return [*links, real]


def _under(path: str, directory: str) -> bool:
    path, directory = os.path.normcase(path), os.path.normcase(directory)
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def _is_ours(path: str) -> bool:
    """Whether this is the command that pip made for this package, which would search for the
    binary again, forever. On Windows the script is at the end of its executable."""
    try:
        with open(path, "rb") as file:
            start = file.read(2)
            file.seek(-min(os.path.getsize(path), 1 << 16), os.SEEK_END)
            return (start == b"#!" or os.name == "nt") and b"cordon._cli" in file.read()
    except OSError:
        return False


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
