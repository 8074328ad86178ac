package compat_test

import (
	"github.com/cordon-sandbox/cordon/policy"
)

var _ = table("files",
	script{name: "cwd is /tmp and writable", result: `["/tmp", "text", "/tmp"]`, source: `
import os
with open("note", "w") as f: f.write("text")
result = [os.getcwd(), open("/tmp/note").read(), os.path.expanduser("~")]
`},
	script{name: "tempfile", result: `["/tmp", "data", "data", true, false, false]`, source: `
import os, tempfile
with tempfile.TemporaryFile("w+") as f:
    f.write("data"); f.seek(0); first = f.read()
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as f:
    f.write("data"); f.flush()
    second, name = open(f.name).read(), f.name
with tempfile.TemporaryDirectory() as d:
    there = os.path.isdir(d)
result = [tempfile.gettempdir(), first, second, there, os.path.exists(d), os.path.exists(name)]
`},
	script{name: "mkstemp, mkdtemp, SpooledTemporaryFile", result: `[true, true, "spooled"]`, source: `
import os, tempfile
fd, path = tempfile.mkstemp(); os.close(fd)
with tempfile.SpooledTemporaryFile(4, "w+") as f:
    f.write("spooled"); f.seek(0)
    result = [os.path.isfile(path), os.path.isdir(tempfile.mkdtemp()), f.read()]
`},
	script{name: "pathlib", result: `["b.txt", ["a/b.txt", "a/c.txt"], "hi", 2, false]`, source: `
from pathlib import Path
d = Path("a"); d.mkdir()
(d / "b.txt").write_text("hi")
(d / "c.txt").write_bytes(b"hi")
(d / "c.txt").chmod(0o600)
(d / "link").symlink_to("b.txt")
listing = sorted(str(p) for p in Path(".").rglob("*.txt"))
out = [(d / "link").resolve().name, listing, (d / "link").read_text(), (d / "b.txt").stat().st_size]
(d / "b.txt").rename(d / "d.txt")
for p in d.iterdir(): p.unlink()
d.rmdir()
result = out + [d.exists()]
`},
	script{name: "pathlib copy and move", since: 14, result: `["hi", "hi", false]`, source: `
from pathlib import Path
Path("a").write_text("hi")
Path("a").copy("b", preserve_metadata=True)
Path("d").mkdir()
Path("a").move_into("d")
result = [Path("b").read_text(), Path("d/a").read_text(), Path("a").exists()]
`},
	script{name: "shutil", result: `["x", "x", ["x.txt"], true, true, false]`, source: `
import os, shutil
os.makedirs("src/sub")
open("src/x.txt", "w").write("x")
shutil.copy("src/x.txt", "one"); shutil.copy2("src/x.txt", "two")
shutil.copytree("src", "dst", ignore=shutil.ignore_patterns("sub"))
shutil.move("dst", "moved")
made = shutil.make_archive("all", "zip", "src")
shutil.unpack_archive(made, "back")
listing, free = os.listdir("moved"), shutil.disk_usage("/tmp").total > 0
shutil.rmtree("moved")
result = [open("one").read(), open("two").read(), listing, os.path.exists("back/x.txt"), free, os.path.exists("moved")]
`},
	script{name: "os calls", result: `["renamed", 3, [["walk"], ["renamed"]], true, "0o640", 1000000000, ["a", "b"]]`, source: `
import os
os.mkdir("walk")
with open("first", "wb") as f:
    f.write(b"abc"); f.flush(); os.fsync(f.fileno())
os.link("first", "second"); os.unlink("first"); os.replace("second", "renamed")
os.truncate("renamed", 3); os.chmod("renamed", 0o640); os.utime("renamed", (1e9, 1e9))
os.makedirs("walk/a/b"); _, dirs, files = next(os.walk("."))
st = os.stat("renamed")
result = [os.path.basename(os.path.realpath("renamed")), st.st_size, [dirs, files], os.access("renamed", os.R_OK),
          oct(st.st_mode & 0o777), int(st.st_mtime), sorted(os.path.relpath("walk/a/b", "walk").split(os.sep))]
`},
	script{name: "scandir, glob, fnmatch, filecmp, fileinput", result: `[["a.py", "b.py"], true, ["1", "2"]]`, source: `
import filecmp, fileinput, fnmatch, glob, os
open("a.py", "w").write("1\n"); open("b.py", "w").write("2\n"); open("c.txt", "w").write("1\n")
with os.scandir() as entries:
    names = sorted(e.name for e in entries if e.is_file() and fnmatch.fnmatch(e.name, "*.py"))
with fileinput.input(sorted(glob.glob("*.py"))) as lines:
    result = [names, filecmp.cmp("a.py", "c.txt", shallow=False), [l.strip() for l in lines]]
`},
	script{name: "locks on files", result: `"locked"`, source: `
import fcntl
with open("lock", "w") as f:
    fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB); fcntl.lockf(f, fcntl.LOCK_UN)
    result = "locked"
`},
	script{name: "devices", result: `[0, "", "\u0000\u0000", 8, 28]`, source: `
import os
with open("/dev/null", "w") as f: f.write("gone")
with open("/dev/urandom", "rb") as f: random = len(f.read(8))
try:
    with open("/dev/full", "w") as f: f.write("x")
except OSError as e: full = e.errno
result = [os.path.getsize("/dev/null"), open("/dev/null").read(), open("/dev/zero", "rb").read(2).decode(), random, full]
`},
	script{name: "redirect to os.devnull", stdout: "seen\n", source: `
import contextlib, os
with open(os.devnull, "w") as null, contextlib.redirect_stdout(null):
    print("unseen")
print("seen")
`},
	script{name: "mmap", result: `["hello", "HELLO", 4096]`, source: `
import mmap
with mmap.mmap(-1, 4096) as m:
    m[:5] = b"hello"; size = len(m)
    text = m[:5].decode()
open("f", "wb").write(b"hello")
with open("f", "r+b") as f, mmap.mmap(f.fileno(), 0) as m:
    m[:] = bytes(m).upper(); m.flush()
result = [text, open("f").read(), size]
`},
	script{name: "descriptors", result: `["through the pipe", "dup", true]`, source: `
import os
r, w = os.pipe()
os.write(w, b"through the pipe"); got = os.read(r, 100).decode()
fd = os.open("f", os.O_RDWR | os.O_CREAT, 0o600)
copy = os.dup(fd); os.write(copy, b"dup"); os.lseek(fd, 0, os.SEEK_SET)
text = os.read(fd, 10).decode()
os.set_inheritable(fd, True); os.set_blocking(r, False)
result = [got, text, os.get_inheritable(fd)]
`},
	script{name: "sendfile and copy_file_range", result: `["0123456789", "0123456789"]`, source: `
import os
open("a", "w").write("0123456789")
with open("a", "rb") as a, open("b", "wb") as b, open("c", "wb") as c:
    # Builds for old C libraries lack it.
    getattr(os, "copy_file_range", lambda a, b, n, at: os.write(b, os.pread(a, n, at)))(a.fileno(), b.fileno(), 10, 0)
    os.sendfile(c.fileno(), a.fileno(), 0, 10)
result = [open("b").read(), open("c").read()]
`},
	script{name: "scratch can be filled to its limit", limits: policy.Limits{Scratch: 64 * policy.MiB}, result: `50331648`, source: `
import os
with open("big", "wb") as f:
    for _ in range(48): f.write(bytes(1 << 20))
result = os.path.getsize("big")
os.unlink("big")
`},
	script{name: "import a module from /tmp", result: `[42, "mine.py"]`, source: `
import importlib, os, sys
open("mine.py", "w").write("answer = 42\n")
sys.path.insert(0, os.getcwd())
import mine
importlib.reload(mine)
result = [mine.answer, os.path.basename(mine.__file__)]
`},
	script{name: "runpy and zipimport", result: `["run", "zipped"]`, source: `
import runpy, sys, zipfile
open("script.py", "w").write("value = 'run'")
with zipfile.ZipFile("lib.zip", "w") as z: z.writestr("inside.py", "value = 'zipped'")
sys.path.insert(0, "lib.zip")
import inside
result = [runpy.run_path("script.py")["value"], inside.value]
`},
)

var _ = table("databases",
	script{name: "sqlite3 in memory", result: `[[1, "a"], [2, "b"]]`, source: `
import sqlite3
with sqlite3.connect(":memory:") as db:
    db.execute("create table t (n integer primary key, s text)")
    db.executemany("insert into t (s) values (?)", [("a",), ("b",)])
    result = db.execute("select n, s from t order by n").fetchall()
`},
	script{name: "sqlite3 file in WAL mode", result: `["wal", 1000, "ok", [["f.db"], []]]`, source: `
import os, sqlite3
db = sqlite3.connect("f.db")
mode = db.execute("pragma journal_mode=wal").fetchone()[0]
db.execute("create table t (n integer)")
with db: db.executemany("insert into t values (?)", ((n,) for n in range(1000)))
other = sqlite3.connect("f.db")
count = other.execute("select count(*) from t").fetchone()[0]
check = db.execute("pragma integrity_check").fetchone()[0]
other.close(); db.close()
files = sorted(os.listdir("."))
result = [mode, count, check, [[f for f in files if f == "f.db"], [f for f in files if f != "f.db"]]]
`},
	script{name: "sqlite3 file with a rollback journal", result: `[0, "delete"]`, source: `
import sqlite3
db = sqlite3.connect("f.db", isolation_level=None)
db.execute("create table t (n integer)")
db.execute("begin immediate"); db.execute("insert into t values (1)"); db.execute("rollback")
db.execute("vacuum")
result = [db.execute("select count(*) from t").fetchone()[0], db.execute("pragma journal_mode").fetchone()[0]]
`},
	script{name: "sqlite3 functions, backup, full text", result: `[4, 1, "ab"]`, source: `
import sqlite3
a, b = sqlite3.connect(":memory:"), sqlite3.connect(":memory:")
a.create_function("double", 1, lambda n: 2 * n)
a.executescript("create table t (s); insert into t values ('ab');")
a.backup(b)
result = [a.execute("select double(2)").fetchone()[0], b.execute("select count(*) from t").fetchone()[0],
          b.execute("select s from t where s like 'a%'").fetchone()[0]]
`},
	script{name: "shelve and dbm.dumb", result: `{"a": [1, 2]}`, source: `
import dbm.dumb, shelve
with shelve.Shelf(dbm.dumb.open("s", "c")) as s: s["a"] = [1, 2]
with shelve.Shelf(dbm.dumb.open("s", "r")) as s: result = dict(s)
`},
)

var _ = table("archives",
	script{name: "in memory", result: `[true, true, true, true, true]`, source: `
import base64, binascii, bz2, gzip, lzma, zlib
data = b"cordon " * 10000
result = [m.decompress(m.compress(data)) == data for m in (zlib, gzip, bz2, lzma)]
result.append(base64.b64decode(base64.b64encode(data)) == binascii.unhexlify(binascii.hexlify(data)))
`},
	script{name: "zstd", since: 14, result: `true`, source: `
from compression import zstd
result = zstd.decompress(zstd.compress(b"cordon" * 1000)) == b"cordon" * 1000
`},
	script{name: "zip and tar", result: `["text", ["a.txt"], "text", ["a.txt"]]`, source: `
import io, tarfile, zipfile
buf = io.BytesIO()
with zipfile.ZipFile(buf, "w", zipfile.ZIP_DEFLATED) as z: z.writestr("a.txt", "text")
with zipfile.ZipFile(buf) as z: out = [z.read("a.txt").decode(), z.namelist()]
buf = io.BytesIO()
with tarfile.open(fileobj=buf, mode="w:xz") as t:
    info = tarfile.TarInfo("a.txt"); info.size = 4
    t.addfile(info, io.BytesIO(b"text"))
buf.seek(0)
with tarfile.open(fileobj=buf) as t: out += [t.extractfile("a.txt").read().decode(), t.getnames()]
result = out
`},
	// tarfile looks up users and groups, and glibc asks a name service for them.
	script{name: "tar on disk", result: `["guest", "text", true]`, source: `
import os, tarfile
open("a.txt", "w").write("text"); os.mkdir("out")
with tarfile.open("t.tar.gz", "w:gz") as t: t.add("a.txt")
with tarfile.open("t.tar.gz") as t:
    who = t.getmember("a.txt").uname
    t.extractall("out", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
result = [who, open("out/a.txt").read(), tarfile.is_tarfile("t.tar.gz")]
`},
)
