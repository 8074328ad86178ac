"""Stands for CPython on WebAssembly: runs the program, and forks for each guest as
if it copied the memory.

    embedding.py SOURCE DIRECTORY [bare]

reads frames on descriptor 3 and writes them on 4: the number of calls, the calls,
and between them the answers to questions. With the word bare it takes away what
CPython on WASI does not have. What a guest prints goes to files in DIRECTORY.
"""
import os
import sys
import types

ABSENT = (
    "_ctypes _multiprocessing _posixshmem _socket _ssl _curses fcntl grp mmap pwd readline resource select spwd syslog "
    "termios"
).split()
if sys.version_info >= (3, 11):  # whose subprocess knows of WASI
    ABSENT.append("_posixsubprocess")

GONE = 3  # how a guest ends that will have no calls


def write(kind, payload):
    data = kind + len(payload).to_bytes(4, "little") + payload
    while data:
        data = data[os.write(4, data):]


def read_exactly(size):
    data = b""
    while len(data) < size:
        more = os.read(3, size - len(data))
        if not more:
            os._exit(GONE)
        data += more
    return data


def read():
    head = read_exactly(5)
    return read_exactly(int.from_bytes(head[1:], "little"))


def ask(question):
    write(b"Q", bytes(question))
    return read()


served = []


def guest(directory):
    """One copy of the memory."""
    calls = int(read())  # by then, what the last one printed has been looked at
    for number, name in (1, "stdout"), (2, "stderr"):
        os.dup2(os.open(os.path.join(directory, name), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
    for _ in range(calls):
        try:
            kind, answer = b"D", served[0](read())
        except BaseException as error:
            kind, answer = b"X", ("%s: %s" % (type(error).__name__, error)).encode()
        write(kind, answer)
    os._exit(0)


def main(source, directory, bare):
    cordon = sys.modules["_cordon"] = types.ModuleType("_cordon")
    cordon.ask, cordon.serve = ask, served.append
    if bare:
        sys.platform = "wasi"
        for name in ABSENT:
            sys.modules[name] = None
    with open(source, encoding="utf-8") as file:
        program = compile(file.read(), "<cordon>", "exec")
    try:
        exec(program, {"__name__": "cordon"})
    except Exception as error:
        write(b"X", ("%s: %s" % (type(error).__name__, error)).encode())
        os._exit(1)
    write(b"R", b"")
    while True:
        pid = os.fork()
        if pid == 0:
            guest(directory)
        if os.waitpid(pid, 0)[1] == GONE << 8:
            os._exit(0)


main(sys.argv[1], sys.argv[2], "bare" in sys.argv[3:])
