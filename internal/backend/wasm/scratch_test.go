package wasm

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// scratchScripts use /tmp. The result of each is True.
var scratchScripts = map[string]string{
	"it is there and empty": `
import os
result = os.listdir("/tmp") == [] and os.path.isdir("/tmp") and os.getcwd() == "/tmp"
`,
	"links keep their text": `
import os
os.symlink("x" * 2000, "/tmp/link")
junk = [b"y" * n for n in range(1900, 2100) for _ in range(10)] # where the text was
result = os.readlink("/tmp/link") == "x" * 2000
`,
	"gettempdir": `
import tempfile
result = tempfile.gettempdir() == "/tmp"
`,
	"TemporaryFile": `
import tempfile, os
with tempfile.TemporaryFile() as f:
    f.write(b"hello" * 10000)
    f.seek(5)
    result = f.read(5) == b"hello" and os.listdir("/tmp") == []
`,
	"NamedTemporaryFile": `
import tempfile, os
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as f:
    f.write("hello"); f.flush()
    with open(f.name) as g:
        result = g.read() == "hello"
result = result and not os.path.exists(f.name)
`,
	"SpooledTemporaryFile": `
import tempfile
with tempfile.SpooledTemporaryFile(max_size=10) as f:
    f.write(b"x" * 100)
    f.seek(0)
    result = len(f.read()) == 100
`,
	"mkdtemp and mkstemp": `
import tempfile, os
d = tempfile.mkdtemp()
fd, name = tempfile.mkstemp(dir=d)
os.write(fd, b"x"); os.lseek(fd, 0, 0)
result = os.read(fd, 5) == b"x" and os.fstat(fd).st_size == 1
os.close(fd)
`,
	"TemporaryDirectory": `
import tempfile, os, pathlib
with tempfile.TemporaryDirectory() as d:
    p = pathlib.Path(d)
    (p / "a" / "b").mkdir(parents=True)
    (p / "a" / "b" / "c.txt").write_text("c")
    (p / "a" / "d.txt").write_text("d")
    found = sorted(str(x.relative_to(p)) for x in p.rglob("*"))
result = found == ["a", "a/b", "a/b/c.txt", "a/d.txt"] and os.listdir("/tmp") == []
`,
	"rmtree, walk, copytree and move": `
import os, shutil
os.makedirs("/tmp/t/one/two"); os.makedirs("/tmp/t/three")
for name in ("t/x", "t/one/y", "t/one/two/z"):
    with open("/tmp/" + name, "w") as f: f.write(name)
shutil.copytree("/tmp/t", "/tmp/u")
shutil.move("/tmp/u/one", "/tmp/u/moved")
shutil.copyfile("/tmp/t/x", "/tmp/u/x2")
walked = sorted(os.path.join(d, n) for d, _, names in os.walk("/tmp/u") for n in names)
bottom = [d for d, _, _ in os.walk("/tmp/t", topdown=False)]
shutil.rmtree("/tmp/t")
result = (walked == ["/tmp/u/moved/two/z", "/tmp/u/moved/y", "/tmp/u/x", "/tmp/u/x2"] or sorted(walked) ==
    sorted(["/tmp/u/moved/two/z", "/tmp/u/moved/y", "/tmp/u/x", "/tmp/u/x2"])) and bottom[-1] == "/tmp/t" and os.listdir("/tmp") == ["u"]
`,
	"pathlib": `
from pathlib import Path
p = Path("/tmp/p"); p.mkdir(); p.mkdir(exist_ok=True)
f = p / "f.bin"
f.write_bytes(b"abc"); f.touch()
g = f.rename(p / "g.bin")
result = (g.read_bytes() == b"abc" and not f.exists() and g.stat().st_size == 3 and g.is_file() and p.is_dir()
    and [x.name for x in p.iterdir()] == ["g.bin"] and list(p.glob("*.bin")) == [g])
g.unlink(); g.unlink(missing_ok=True); p.rmdir()
result = result and not p.exists()
`,
	"zipfile": `
import zipfile, os
with zipfile.ZipFile("/tmp/z.zip", "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("a.txt", "a" * 100000); z.writestr("d/b.txt", "b")
with zipfile.ZipFile("/tmp/z.zip", "a") as z: z.writestr("c.txt", "c")
with zipfile.ZipFile("/tmp/z.zip") as z:
    z.extractall("/tmp/out")
    result = z.testzip() is None and z.namelist() == ["a.txt", "d/b.txt", "c.txt"]
with open("/tmp/out/d/b.txt") as f: result = result and f.read() == "b" and os.path.getsize("/tmp/out/a.txt") == 100000
`,
	"tarfile": `
import tarfile, os
os.mkdir("/tmp/in")
with open("/tmp/in/f", "w") as f: f.write("words")
with tarfile.open("/tmp/t.tar.gz", "w:gz") as t: t.add("/tmp/in", arcname="in")
with tarfile.open("/tmp/t.tar.gz") as t: t.extractall("/tmp/out")
with open("/tmp/out/in/f") as f: result = f.read() == "words"
`,
	"gzip": `
import gzip
with gzip.open("/tmp/g.gz", "wt") as f: f.write("words\n" * 1000)
with gzip.open("/tmp/g.gz", "rt") as f: result = sum(1 for _ in f) == 1000
`,
	"csv": `
import csv
with open("/tmp/t.csv", "w", newline="") as f:
    w = csv.DictWriter(f, ["a", "b"]); w.writeheader(); w.writerows({"a": i, "b": i * i} for i in range(100))
with open("/tmp/t.csv", newline="") as f: result = sum(int(r["b"]) for r in csv.DictReader(f)) == 328350
`,
	"json and pickle": `
import json, pickle
value = {"a": [1, 2, {"b": None}]}
with open("/tmp/j", "w") as f: json.dump(value, f)
with open("/tmp/p", "wb") as f: pickle.dump(value, f)
with open("/tmp/j") as f, open("/tmp/p", "rb") as g: result = json.load(f) == pickle.load(g) == value
`,
	"shelve": `
import shelve
with shelve.open("/tmp/shelf") as s: s["a"] = [1, 2]; s["b"] = "x"
with shelve.open("/tmp/shelf") as s:
    s["a"] = s["a"] + [3]; del s["b"]
with shelve.open("/tmp/shelf", "r") as s: result = dict(s) == {"a": [1, 2, 3]}
`,
	"dbm.dumb": `
import dbm.dumb
with dbm.dumb.open("/tmp/d", "c") as d: d[b"k"] = b"v" * 2000
with dbm.dumb.open("/tmp/d", "w") as d: d[b"k"] = b"w" * 10; d[b"l"] = b"x"
with dbm.dumb.open("/tmp/d", "r") as d: result = d[b"k"] == b"w" * 10 and sorted(d.keys()) == [b"k", b"l"]
`,
	"logging": `
import logging, logging.handlers, os
log = logging.getLogger("x"); log.setLevel("INFO")
h = logging.handlers.RotatingFileHandler("/tmp/log", maxBytes=200, backupCount=2)
log.addHandler(h)
for i in range(60): log.info("line number %d", i)
h.close()
result = sorted(os.listdir("/tmp")) == ["log", "log.1", "log.2"]
`,
	"modes of open": `
with open("/tmp/f", "x") as f: f.write("one\n")
try:
    open("/tmp/f", "x"); result = False
except FileExistsError: result = True
with open("/tmp/f", "a") as f: f.write("two\n"); result = result and f.tell() == 8
with open("/tmp/f", "r+") as f:
    result = result and f.readline() == "one\n"
    f.seek(0); f.write("ONE")
with open("/tmp/f", "a+") as f: f.seek(0); result = result and f.read() == "ONE\ntwo\n"
with open("/tmp/f", "w+") as f: f.write("three"); f.seek(0); result = result and f.read() == "three"
with open("/tmp/f", "rb+", buffering=0) as f: f.truncate(2); f.seek(4); f.write(b"x")
with open("/tmp/f", "rb") as f: result = result and f.read() == b"th\0\0x"
`,
	"replace, rename, link, symlink": `
import os
for n in "abc":
    with open("/tmp/" + n, "w") as f: f.write(n)
os.replace("/tmp/a", "/tmp/b"); os.rename("/tmp/b", "/tmp/d")
os.symlink("d", "/tmp/s"); os.symlink("/tmp/c", "/tmp/abs"); os.link("/tmp/c", "/tmp/hard")
with open("/tmp/s") as f, open("/tmp/abs") as g: result = f.read() == "a" and g.read() == "c"
result = (result and os.readlink("/tmp/abs") == "/tmp/c" and os.path.realpath("/tmp/abs") == "/tmp/c" and os.path.islink("/tmp/s")
    and os.path.samefile("/tmp/c", "/tmp/hard") and os.stat("/tmp/c").st_nlink == 2 and sorted(os.listdir("/tmp")) == ["abs", "c", "d", "hard", "s"])
`,
	"stat and utime": `
import os, time
before = time.time()
with open("/tmp/f", "w") as f: f.write("12345")
s = os.stat("/tmp/f")
result = s.st_size == 5 and before - 2 < s.st_mtime < time.time() + 2 and s.st_ino > 0
os.utime("/tmp/f", (1000, 2000.5)); os.utime("/tmp", (5, 6))
s = os.stat("/tmp/f")
result = result and s.st_atime == 1000 and s.st_mtime == 2000.5 and os.stat("/tmp").st_mtime == 6
os.truncate("/tmp/f", 2)
result = result and os.path.getsize("/tmp/f") == 2
`,
	"scandir and glob": `
import os, glob
os.makedirs("/tmp/d/e")
for i in range(500):
    open("/tmp/d/%03d.txt" % i, "w").close()
with os.scandir("/tmp/d") as it: seen = {e.name: e.is_dir() for e in it}
result = (len(seen) == 501 and seen["e"] and not seen["007.txt"] and len(glob.glob("/tmp/d/*.txt")) == 500
    and glob.glob("/tmp/**/12?.txt", recursive=True) != [] and len(os.listdir("/tmp/d")) == 501)
for name in os.listdir("/tmp/d"):
    if name.endswith(".txt"): os.unlink("/tmp/d/" + name)
result = result and os.listdir("/tmp/d") == ["e"]
`,
	"errors have their names": `
import os
os.mkdir("/tmp/d"); open("/tmp/d/f", "w").close()
result = True
for act, error in ((lambda: os.rmdir("/tmp/d"), OSError), (lambda: open("/tmp/d", "w"), IsADirectoryError), (lambda: os.mkdir("/tmp/d"), FileExistsError),
        (lambda: open("/tmp/none"), FileNotFoundError), (lambda: os.listdir("/tmp/d/f"), NotADirectoryError), (lambda: os.rename("/tmp/d", "/tmp/d/x"), OSError),
        (lambda: os.unlink("/tmp/none"), FileNotFoundError), (lambda: open("/tmp/../lib/x"), OSError)):
    try:
        act(); result = False
    except error: pass
`,
	"a file that is open has no need of a name": `
import os
f = open("/tmp/f", "w+"); os.unlink("/tmp/f")
f.write("still"); f.seek(0)
result = f.read() == "still" and not os.path.exists("/tmp/f")
`,
	"holes": `
import os
with open("/tmp/f", "wb") as f:
    f.seek(1 << 40); f.write(b"x")
with open("/tmp/f", "rb") as f:
    f.seek((1 << 40) - 3)
    result = f.read() == b"\0\0\0x" and os.path.getsize("/tmp/f") == (1 << 40) + 1
os.truncate("/tmp/f", 1 << 62)
result = result and os.path.getsize("/tmp/f") == 1 << 62
`,
}

func TestScriptsHaveTheirOwnScratch(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for name, script := range scratchScripts {
		t.Run(name, func(t *testing.T) {
			r := bench{t, b.Backend}.script(run.Request{Script: run.Script{Source: script}})
			if string(r.Value) != "true" || len(r.Violations) != 0 {
				trace := ""
				if r.Exception != nil {
					trace = r.Exception.Traceback
				}
				t.Errorf("%s: %s %s %v\n%s", r.Outcome, r.Value, r.Error, r.Violations, trace)
			}
		})
	}
}

// A script cannot see files of another one.
func TestScratchIsPrivate(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	const leave = `
import os
result = os.listdir("/tmp")
open("/tmp/left", "w").write("x")
os.mkdir("/tmp/directory")`
	for range 5 {
		if r := b.script(run.Request{Script: run.Script{Source: leave}}); string(r.Value) != "[]" {
			t.Errorf("%s %s", r.Value, r.Error)
		}
	}
	// A session keeps its /tmp, and has its files there.
	s, other := b.session(false), b.session(false)
	gives(t, s, leave, `["work"]`)
	gives(t, s, `result = sorted(os.listdir("/tmp"))`, `["directory","left","work"]`)
	gives(t, other, `import os; result = os.listdir("/tmp")`, `["work"]`)
}

func TestScratchIsLimited(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	const small = 256 * policy.KiB
	for name, test := range map[string]struct {
		script  string
		scratch policy.Bytes
		outcome run.Outcome
		words   string
	}{
		"the default":          {`open("/tmp/f", "wb").write(bytes(17 << 20))`, 0, run.OutOfDisk, "scratch limit of 16MiB reached (line 1)"},
		"a large file":         {"f = open('/tmp/f', 'wb', 0)\nwhile True: f.write(bytes(1000))", small, run.OutOfDisk, "scratch limit of 256KiB reached (line 2)"},
		"many files":           {"for i in range(1000000): open(f'/tmp/{i}', 'x').close()", small, run.OutOfDisk, "scratch limit of 256KiB reached"},
		"many directories":     {"import os\nfor i in range(1000000): os.mkdir(f'/tmp/{i}')", small, run.OutOfDisk, "scratch limit"},
		"holes":                {"f = open('/tmp/f', 'wb', 0)\nfor i in range(1000000): f.seek(i << 30); f.write(b'x')", small, run.OutOfDisk, "scratch limit"},
		"within":               {`print(open("/tmp/f", "wb").write(bytes(15 << 20)))`, 0, run.Succeeded, "15728640"},
		"again and again":      {"for i in range(20): open('/tmp/f', 'wb').write(bytes(10 << 20))\nprint('done')", 0, run.Succeeded, "done"},
		"whoever catches it":   {"try: open('/tmp/f', 'wb').write(bytes(1 << 20))\nexcept OSError as e: print(e.errno)", small, run.Succeeded, "51"},
		"another error":        {"try: open('/tmp/f', 'wb').write(bytes(1 << 20))\nexcept OSError: pass\n1 / 0", small, run.Raised, "ZeroDivisionError"},
		"leaving without it":   {"import os\ntry: open('/tmp/f', 'wb').write(bytes(1 << 20))\nexcept OSError: os._exit(1)", small, run.OutOfDisk, "scratch limit"},
		"too many open files":  {"l = [open(f'/tmp/{i}', 'w') for i in range(1000)]", 0, run.Raised, "OSError"},
		"something is missing": {"open('/tmp/none')", 0, run.Raised, "FileNotFoundError"},
	} {
		t.Run(name, func(t *testing.T) {
			r := bench{t, b.Backend}.script(run.Request{Script: run.Script{Source: test.script}, Limits: policy.Limits{Scratch: test.scratch}})
			expect(t, r, test.outcome, test.words)
			if len(r.Violations) != 0 {
				t.Errorf("violations %v", r.Violations)
			}
		})
	}
	// A session gets the error each time, and can continue after it has removed files.
	s := b.session(false)
	job := backend.Job{Request: run.Request{Script: run.Script{Source: `open("/tmp/f", "wb").write(bytes(1 << 20))`}}, Limits: policy.Limits{Scratch: small}.Or(policy.DefaultLimits())}
	for range 2 {
		r, err := s.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, r, run.OutOfDisk, "scratch limit of 256KiB")
	}
	gives(t, s, `result = open("/tmp/f", "wb").write(bytes(1 << 20))`, "1048576")
}

// Outside /tmp nothing can be written, and the message names what can.
func TestScriptsCanWriteOnlyToScratch(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	for _, path := range []string{"/x", "/var/tmp/x", "/etc/passwd", "/tmpx"} {
		r := b.script(run.Request{Script: run.Script{Source: "open(" + quote(path) + ", 'w')"}})
		if r.Outcome != run.Raised || len(r.Violations) != 1 || !strings.Contains(r.Violations[0].Hint, "its own /tmp") {
			t.Errorf("%s: %s %s %v", path, r.Outcome, r.Error, r.Violations)
		}
	}
}

func quote(text string) string { return "'" + text + "'" }

// A deterministic guest's clock also sets the times of files.
func TestScratchHasTheGuestsTimes(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Deterministic: true}})
	const script = `
import os, tempfile
fd, name = tempfile.mkstemp()
os.write(fd, b"x")
s = os.fstat(fd)
result = [s.st_mtime_ns, s.st_ino, os.stat("/tmp").st_mtime_ns]`
	first := b.script(run.Request{Script: run.Script{Source: script}})
	if len(first.Value) == 0 || !strings.HasPrefix(string(first.Value), "[9466") {
		t.Errorf("%s %s: the clock begins in the year 2000", first.Value, first.Error)
	}
	for range 3 {
		if again := b.script(run.Request{Script: run.Script{Source: script}}); string(again.Value) != string(first.Value) {
			t.Errorf("%s, and then %s", first.Value, again.Value)
		}
	}
}

// A module has no files that are not granted.
func TestModulesHaveNoScratch(t *testing.T) {
	b := newBench(t, Options{Cache: testCache})
	m := b.open(goGuest(t))
	if r := b.run(m, run.Request{Module: run.ModuleRun{Args: []string{"write", "/tmp/x", "words"}}}); strings.Contains(r.Stdout, "<nil>") {
		t.Errorf("%s", r.Stdout)
	}
}

// The memory of a /tmp is released with its guest.
func TestScratchIsGivenBack(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	fill := run.Request{Script: run.Script{Source: "f = open('/tmp/f', 'wb')\nf.write(bytes(15 << 20))"}}
	expect(t, b.script(fill), run.Succeeded, "")
	before := heap()
	for range 10 {
		expect(t, b.script(fill), run.Succeeded, "")
	}
	if grown := heap() - before; grown > 20<<20 {
		t.Errorf("%d MiB are left", grown>>20)
	}
}
