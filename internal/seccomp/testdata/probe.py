"""Ordinary Python behind the filter: probe.py PROGRAM SECCOMP_NR MODE.

Installs the program on itself, then works. In notify mode there is no listener,
so that what the host would be asked comes back as ENOSYS: threads are left out.
"""
import ctypes
import errno
import os
import sys

program, number, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
libc = ctypes.CDLL(None, use_errno=True)
code = open(program, "rb").read()


class Fprog(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


assert libc.prctl(38, 1, 0, 0, 0) == 0
fprog = Fprog(len(code) // 8, code)
assert libc.syscall(number, 1, 0, ctypes.byref(fprog)) == 0, os.strerror(ctypes.get_errno())

denied = errno.EPERM if mode == "errno" else errno.ENOSYS

# Imports come after the filter on purpose: loading modules is part of the work.
import asyncio, base64, bisect, bz2, calendar, collections, concurrent.futures, contextlib
import copy, csv, dataclasses, datetime, decimal, difflib, email, enum, faulthandler, fcntl
import fractions, functools, glob, gzip, hashlib, heapq, hmac, html, http.client, inspect
import io, itertools, json, locale, logging, lzma, math, mmap, operator, pathlib, pickle
import platform, pprint, queue, random, re, resource, secrets, select, selectors, shutil
import signal, socket, sqlite3, ssl, statistics, string, struct, subprocess, tarfile
import tempfile, textwrap, threading, time, traceback, typing, unittest, urllib.parse
import uuid, xml.etree.ElementTree, zipfile, zlib


def refused(what, *wanted):
    try:
        what()
    except OSError as e:
        assert e.errno in (wanted or (denied,)), (what, e)
    else:
        raise AssertionError("%s was allowed" % what)


with tempfile.TemporaryDirectory() as tmp:
    root = pathlib.Path(tmp)
    (root / "a").write_text("hello\n" * 1000)
    os.symlink("a", root / "link")
    os.link(root / "a", root / "hard")
    os.chmod(root / "a", 0o600)
    os.utime(root / "a", (1, 1))
    os.truncate(root / "hard", 100)
    shutil.copy2(root / "a", root / "b")
    (root / "d" / "e").mkdir(parents=True)
    shutil.copytree(root / "d", root / "f", symlinks=True)
    os.rename(root / "b", root / "d" / "b")
    assert sorted(os.listdir(root)) == ["a", "d", "f", "hard", "link"]
    assert [e.name for e in os.scandir(root / "d")]
    list(os.walk(root))
    shutil.disk_usage(root)
    if hasattr(root, "copy"):  # 3.14
        (root / "a").copy(root / "copied")
    with open(root / "m", "w+b") as f:
        f.write(bytes(8192))
        f.flush()
        os.fsync(f.fileno())
        os.posix_fallocate(f.fileno(), 0, 16384)
        fcntl.lockf(f, fcntl.LOCK_EX)
        fcntl.lockf(f, fcntl.LOCK_EX)
        with mmap.mmap(f.fileno(), 8192) as m:
            m[0:5] = b"hello"
            m.flush()
    with tarfile.open(root / "t.tgz", "w:gz") as t:
        t.add(root / "a", "a")
    with tarfile.open(root / "t.tgz") as t:
        t.extract("a", root / "out", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    with zipfile.ZipFile(root / "z.zip", "w", zipfile.ZIP_DEFLATED) as z:
        z.write(root / "a", "a")
    db = sqlite3.connect(str(root / "db"))
    db.execute("pragma journal_mode=wal")
    db.execute("create table t(x)")
    db.executemany("insert into t values(?)", [(i,) for i in range(100)])
    db.commit()
    assert db.execute("select sum(x) from t").fetchone() == (4950,)
    db.close()

# Time, signals, limits, facts.
hits = []
signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
os.kill(os.getpid(), signal.SIGALRM)
signal.raise_signal(signal.SIGALRM)
assert len(hits) == 3
time.sleep(0.001)
resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrusage(resource.RUSAGE_SELF)
os.times(), os.uname(), os.cpu_count(), os.sched_getaffinity(0), os.getloadavg
os.sysconf("SC_PHYS_PAGES"), os.getgroups(), os.getpriority(os.PRIO_PROCESS, 0)
platform.platform(), uuid.uuid4(), secrets.token_hex(), os.urandom(8), random.random()
sys.stdout.isatty(), os.getcwd(), locale.setlocale(locale.LC_ALL, "C")
shutil.get_terminal_size(), faulthandler.enable()

# Pipes, pairs, loops.
r, w = os.pipe()
os.set_blocking(r, False)
os.write(w, b"x")
assert select.select([r], [], [], 1)[0] == [r] and os.read(r, 1) == b"x"
os.dup2(r, w)
a, b = socket.socketpair()
a.settimeout(1)
b.sendall(b"ping")
assert a.recv(4) == b"ping" and a.getsockname() == "" and a.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE)
a.shutdown(socket.SHUT_RDWR)
socket.socket(fileno=b.detach()).close()


async def main():
    await asyncio.gather(*(asyncio.sleep(0.001) for _ in range(10)))
    if mode == "errno":
        assert await asyncio.get_running_loop().run_in_executor(None, lambda: 42) == 42


asyncio.run(main())
if mode == "errno":
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda x: x * x, range(100))) == 328350
else:
    try:
        threading.Thread(target=print).start()
    except RuntimeError:
        pass  # asked of the host, who is not there
    else:
        raise AssertionError("a thread started without the host's consent")

# What must not work, in Python's own words.
refused(lambda: socket.socket())
refused(lambda: socket.socket(socket.AF_UNIX))
refused(lambda: socket.create_connection(("127.0.0.1", 9)))
refused(os.fork)
refused(lambda: subprocess.run(["/bin/true"]))
refused(lambda: os.execv("/bin/true", ["true"]))
refused(lambda: os.kill(-1, 0))
refused(lambda: os.setpriority(os.PRIO_PROCESS, 0, 5))
refused(lambda: os.mkfifo("/tmp/cordon-probe-fifo"))
refused(lambda: os.memfd_create("x"))
refused(lambda: os.sched_setaffinity(0, {0}))
refused(lambda: resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE))
