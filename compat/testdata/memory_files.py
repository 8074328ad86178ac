"""Files in memory, for tests that want a file of their own and nothing else of it: a
script on WebAssembly can write none. Runs before the tests are imported."""
import builtins
import errno
import io
import os
import tempfile

FILES = {}  # the bytes of each, by its name


def ours(file):
    """The name, if it is one that test.support makes up."""
    if not isinstance(file, (str, bytes, os.PathLike)):
        return None
    name = os.path.basename(os.fsdecode(file))
    return name if name.startswith("@test_") else None


class File(io.RawIOBase):
    """One that is open. All that are open of a name have the same bytes."""

    def __init__(self, name, data, mode):
        self.name, self.data, self.mode, self.at = name, data, mode, 0

    def readable(self):
        return "r" in self.mode or "+" in self.mode

    def writable(self):
        return self.mode.strip("btr") != ""

    def seekable(self):
        return True

    def seek(self, offset, whence=io.SEEK_SET):
        self.at = offset + (0, self.at, len(self.data))[whence]
        return self.at

    def truncate(self, size=None):
        size = self.at if size is None else size
        self.data[size:] = bytes(max(0, size - len(self.data)))
        return size

    def readinto(self, buffer):
        if not self.readable():
            raise io.UnsupportedOperation("not readable")
        part = self.data[self.at:self.at + len(buffer)]
        buffer[:len(part)] = part
        self.at += len(part)
        return len(part)

    def write(self, data):
        if not self.writable():
            raise io.UnsupportedOperation("not writable")
        if "a" in self.mode:
            self.at = len(self.data)
        data = bytes(data)
        self.truncate(max(self.at, len(self.data)))
        self.data[self.at:self.at + len(data)] = data
        self.at += len(data)
        return len(data)


def opened(name, mode, buffering=-1, encoding=None, errors=None, newline=None, shown=None):
    if "b" in mode and (encoding, errors, newline) != (None, None, None):
        raise ValueError("binary mode doesn't take an encoding")
    if "r" in mode and name not in FILES:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown)
    if "x" in mode and name in FILES:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), shown)
    data = bytearray() if name is None else FILES.setdefault(name, bytearray())
    if "w" in mode:
        data.clear()
    file = File(shown, data, mode)
    if "a" in mode:
        file.seek(0, io.SEEK_END)
    if "b" in mode and buffering == 0:
        return file
    kind = io.BufferedRandom if "+" in mode else io.BufferedReader if file.readable() else io.BufferedWriter
    return kind(file) if "b" in mode else io.TextIOWrapper(kind(file), encoding or "utf-8", errors, newline, buffering == 1)


def open_any(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    name = ours(file)
    if name is None:
        return real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    return opened(name, mode, buffering, encoding, errors, newline, file)


def unlink(path, **how):
    name = ours(path)
    if name is None:
        return real_unlink(path, **how)
    if FILES.pop(name, None) is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def temporary(mode="w+b", buffering=-1, encoding=None, newline=None, *args, errors=None, **more):
    return opened(None, mode, buffering, encoding, errors, newline)


real_open, real_unlink = open, os.unlink
builtins.open = io.open = open_any
os.unlink = os.remove = unlink
tempfile.TemporaryFile = temporary
