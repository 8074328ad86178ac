"""Files that go into /work, the current directory of scripts and sessions, and come out of it."""

from __future__ import annotations

import os
import stat
from base64 import b64decode, b64encode
from contextlib import suppress

from ._errors import CordonError, InvalidRequest
from ._record import Record

TYPE_CHECKING = False  # typing takes long to import
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

    #: The path of a file on this machine.
    Path = Union[str, os.PathLike[str]]
    #: The content of a file: bytes, text (as UTF-8), or the path of a file on this machine.
    Content = Union[bytes, bytearray, memoryview, str, os.PathLike[str]]
    #: Contents by name, or paths whose base names are used.
    Files = Union[Mapping[str, Content], Sequence[Path]]
    #: What is uploaded: a content, or a path as text.
    Source = Union[bytes, str]

_SPLIT_BY_SYSTEM = ("\\", ":") if os.name == "nt" else ()
_JUNCTION = 0xA0000003  # what Windows calls a link to a directory that is none
#: Whether the system has names relative to an open directory.
_HAS_DIR_FD = {os.open, os.mkdir, os.unlink} <= os.supports_dir_fd


class FileInfo(Record):
    """A file of a session. It is the guest's word."""

    #: The path below /work, with slashes.
    name: str
    size: int
    #: The MIME type that the name stands for.
    type: str
    modified: datetime
    #: Empty for a file, which can be downloaded; ``"link"`` or ``"special"`` for other names.
    kind: str = ""

    @classmethod
    def _of(cls, raw: Mapping[str, Any]) -> FileInfo:
        return cls(raw["name"], raw["bytes"], raw["type"], _time(raw["modified"]), raw.get("kind", ""))


class Artifact(Record):
    """A file that a script or a step has written. What it contains is the guest's word."""

    #: The path below /work, with slashes.
    name: str
    size: int
    #: The MIME type that the name stands for.
    type: str
    #: The hash of the data in hexadecimal digits; empty if the data is missing.
    sha256: str = ""
    #: Why the data is missing, such as for a file that is too large; empty if it is there.
    error: str = ""
    _data: bytes = b""

    _hidden = ("_data",)

    @property
    def data(self) -> bytes:
        """The content. It raises :class:`CordonError` if that is missing."""
        if self.error:
            raise CordonError(self.error)
        return self._data

    @property
    def text(self) -> str:
        """The content as text. It raises UnicodeDecodeError if that is not UTF-8."""
        return self.data.decode("utf-8")

    def save(self, to: Path) -> str:
        """Writes the file and returns its path. ``to`` is an existing directory, below which the
        file gets its name, or the path of the file.

        The file appears when it is complete, and replaces another one. Its name leads out of the
        directory neither by itself nor by a link that is there.
        """
        data, target = self.data, os.fsdecode(to)
        if os.path.isdir(target):
            return _store(target, parts_of(self.name), data)
        directory, name = os.path.split(target)
        return _store(directory or os.curdir, [name], data)

    @classmethod
    def _of(cls, raw: Mapping[str, Any]) -> Artifact:
        data = b64decode(raw.get("base64", ""), validate=True)
        return cls(raw["name"], raw["bytes"], raw["type"], raw.get("sha256", ""), raw.get("error", ""), data)


def parts_of(name: str) -> List[str]:
    """Returns the parts of a name below a directory.

    >>> parts_of("data/sales.csv")
    ['data', 'sales.csv']
    >>> parts_of("../sales.csv")
    Traceback (most recent call last):
    ...
    cordon.InvalidRequest: '../sales.csv': a name is a path below /work, without empty parts, '.' and '..'
    """
    if not isinstance(name, str):
        raise TypeError(f"a name is {name!r}: give the path below /work as text")
    parts = name.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise InvalidRequest(f"{name!r}: a name is a path below /work, without empty parts, '.' and '..'")
    return parts


def _store(directory: str, parts: List[str], data: bytes) -> str:
    """Writes a file below a directory, and follows no links there."""
    if any(mark in part for part in parts for mark in _SPLIT_BY_SYSTEM):
        raise CordonError(f"{'/'.join(parts)!r} is not a name for files of this system: save it under another path")
    prefix, at = _enter(directory, parts[:-1])
    temporary = f"{prefix}.cordon-{os.urandom(8).hex()}"
    try:
        with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, 0o666, dir_fd=at)) as file:
            file.write(data)
        os.replace(temporary, prefix + parts[-1], src_dir_fd=at, dst_dir_fd=at)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=at)
        raise
    finally:
        if at is not None:
            os.close(at)
    return os.path.join(directory, *parts)


def _enter(directory: str, parts: List[str]) -> Tuple[str, Optional[int]]:
    """Makes directories below another one. Returns what the names in the last one begin with,
    and its descriptor, if there is one."""
    if not _HAS_DIR_FD:
        for part in parts:
            directory = os.path.join(directory, part)
            with suppress(FileExistsError):
                os.mkdir(directory)
            status = os.lstat(directory)
            if stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION:
                raise NotADirectoryError(f"{directory} is a link")
        return os.path.join(directory, ""), None
    at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    for part in parts:
        try:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=at)
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
        finally:
            os.close(at)
        at = inner
    return "", at


def given(files: Files) -> List[Dict[str, str]]:
    """Returns the files of a request in their JSON form.

    >>> given({"a.txt": "hi", "b": bytes([0, 255])})
    [{'name': 'a.txt', 'base64': 'aGk='}, {'name': 'b', 'base64': 'AP8='}]
    """
    from collections.abc import Mapping

    if isinstance(files, (str, bytes, os.PathLike)):
        raise TypeError(f"files is {files!r}: give a list of paths, or a dict of names and contents")
    if isinstance(files, Mapping):
        contents = [(name, _bytes_of(content, f"files[{name!r}]")) for name, content in files.items()]
    else:
        contents = [(os.path.basename(os.fsdecode(path)), _read(path)) for path in files]
    return [{"name": name, **in_base64(content)} for name, content in contents]


def upload(name: Path, content: Optional[Content]) -> Tuple[str, Source]:
    """Returns the name and the source of an upload.

    >>> upload("data/a.txt", "hi"), upload("data/a.txt", None)
    (('data/a.txt', b'hi'), ('a.txt', 'data/a.txt'))
    """
    if content is None:
        path = os.fsdecode(name)
        return os.path.basename(path), path
    parts_of(name)  # type: ignore[arg-type]  # it refuses a path
    if isinstance(content, os.PathLike):
        return str(name), os.fsdecode(content)
    return str(name), _bytes_of(content, "data")


def _bytes_of(content: Content, what: str) -> bytes:
    if isinstance(content, str):
        return content.encode("utf-8")
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    if isinstance(content, os.PathLike):
        return _read(content)
    raise TypeError(f"{what} is {content!r}: give bytes, text, or a path as a pathlib.Path")


def _read(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def in_base64(data: bytes) -> Dict[str, str]:
    return {"base64": b64encode(data).decode("ascii")}


def _time(text: str) -> datetime:
    """Returns a time in the form of RFC 3339.

    >>> _time("2026-02-03T04:05:06.123456789Z").isoformat(), _time("2026-02-03T04:05:06Z").isoformat()
    ('2026-02-03T04:05:06.123456+00:00', '2026-02-03T04:05:06+00:00')
    """
    from datetime import datetime, timezone

    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(whole).replace(microsecond=int(fraction[:6].ljust(6, "0")), tzinfo=timezone.utc)
