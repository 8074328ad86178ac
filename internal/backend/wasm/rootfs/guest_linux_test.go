package rootfs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// guests runs the program in testdata/guest as WASI guests.
type guests struct {
	runtime wazero.Runtime
	program wazero.CompiledModule
}

func newGuests(t *testing.T) *guests {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./testdata/guest")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	code, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() {
		if err := runtime.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := guestfs.InstantiateWASI(ctx, runtime); err != nil {
		t.Fatal(err)
	}
	program, err := runtime.CompileModule(ctx, code)
	if err != nil {
		t.Fatal(err)
	}
	return &guests{runtime, program}
}

// run returns the result of each act.
func (g *guests) run(t *testing.T, set *Set, acts ...string) map[string]string {
	t.Helper()
	mounts := wazero.NewFSConfig()
	var errors guestfs.Errors
	ctx := guestfs.WithErrors(t.Context(), &errors)
	for _, m := range set.Mounts() {
		mounts = mounts.(sysfs.FSConfig).WithSysFSMount(errors.Watch(m.FS), m.Guest)
	}
	var stdout, stderr bytes.Buffer
	config := wazero.NewModuleConfig().WithName("").WithFSConfig(mounts).WithArgs(append([]string{"guest"}, acts...)...).
		WithStdout(&stdout).WithStderr(&stderr).WithSysWalltime().WithSysNanotime()
	module, err := g.runtime.InstantiateModule(ctx, g.program, config)
	if err != nil && !strings.Contains(err.Error(), "exit_code(0)") {
		t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
	}
	if module != nil {
		if err := module.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	said := map[string]string{}
	for line := range strings.Lines(stdout.String()) {
		act, result, _ := strings.Cut(strings.TrimSpace(line), ":")
		said[act] = strings.TrimSpace(result)
	}
	if len(said) != len(acts) {
		t.Fatalf("%d answers of %d:\n%s%s", len(said), len(acts), &stdout, &stderr)
	}
	return said
}

// expect runs acts in order. Each act is followed by its expected result.
func (g *guests) expect(t *testing.T, set *Set, pairs ...string) {
	t.Helper()
	var acts []string
	for pair := range slices.Chunk(pairs, 2) {
		acts = append(acts, pair[0])
	}
	said := g.run(t, set, acts...)
	for pair := range slices.Chunk(pairs, 2) {
		if said[pair[0]] != pair[1] {
			t.Errorf("%s: %q; want %q", pair[0], said[pair[0]], pair[1])
		}
	}
}

const (
	notPermitted = "! Operation not permitted"
	readOnly     = "! Read-only file system"
	notThere     = "! No such file or directory"
	noRoom       = "! No space left on device"
	tooMany      = "! Too many open files"
)

// The attacks through wazero, by a real guest.
func TestGuest(t *testing.T) {
	hosttest.NotUnderRace(t, "it has one thread and much to do")
	g := newGuests(t)
	t.Run("works inside", func(t *testing.T) {
		w := newWorld(t, true, generous)
		w.links()
		g.expect(t, w.set,
			"read|/data/in.txt", "inside",
			"read|/data/in-chain", "inside",
			"read|/data/directory-in/deep.txt", "deep",
			"stat|/data/sub", "a directory",
			"mkdir|/data/made", "",
			"write|/data/made/file|text", "",
			"mv|/data/made/file|/data/made/moved", "",
			"ln|/data/made/moved|/data/made/linked", "",
			"symlink|moved|/data/made/soft", "",
			"readlink|/data/made/soft", "moved",
			"read|/data/made/soft", "text",
			"touch|/data/made/moved", "",
			"truncate|/data/made/moved|2", "",
			"read|/data/made/linked", "te",
			"walk|/data/made", "/data/made /data/made/linked /data/made/moved /data/made/soft",
			"rm|/data/made/soft", "",
			"rm|/data/made/linked", "",
			"rm|/data/made/moved", "",
			"rm|/data/made", "",
		)
		if len(w.denied) != 0 {
			t.Errorf("told %q", w.denied)
		}
	})
	t.Run("does not leave", func(t *testing.T) {
		w := newWorld(t, true, generous)
		w.links()
		var acts []string
		for _, path := range []string{
			"/data/../outside/secret", "/data/../../../../../.." + w.outside + "/secret", w.outside + "/secret", "../outside/secret",
			"/data/out", "/data/out-absolute", "/data/out-chain", "/data/out-new", "/data/directory-out/secret", "/data/directory-out/new",
			"/data/directory-absolute/secret", "/data/sub/../directory-out/secret",
		} {
			for _, act := range []string{"read|%s", "write|%s|pwned", "stat|%s", "truncate|%s|0", "touch|%s", "count|%s", "mkdir|%s/x"} {
				acts = append(acts, fmt.Sprintf(act, path))
			}
			if strings.Contains(path, "directory") {
				for _, act := range []string{"rm|%s", "mv|%s|/data/stolen", "mv|/data/in.txt|%s", "ln|%s|/data/stolen", "ln|/data/in.txt|%s", "symlink|x|%s"} {
					acts = append(acts, fmt.Sprintf(act, path))
				}
			}
		}
		for act, said := range g.run(t, w.set, append(acts, "symlink|/etc/passwd|/data/new", "symlink|../outside|/data/new")...) {
			if !strings.Contains(said, "! ") || strings.Contains(said, "secret") {
				t.Errorf("%s: %q", act, said)
			}
		}
		for _, told := range []string{"open /data/out", "stat /data/directory-out/secret", "utimens /data/out-absolute", "mkdir /data/directory-out/secret/x", "symlink /data/new"} {
			if !slices.Contains(w.denied, told) {
				t.Errorf("%q is not among %q", told, w.denied)
			}
		}
	})
	t.Run("does not change what it reads", func(t *testing.T) {
		w := newWorld(t, false, generous)
		before := fmt.Sprint(contents(t, w.granted))
		g.expect(t, w.set,
			"read|/data/in.txt", "inside",
			"write|/data/in.txt|x", readOnly,
			"write|/data/new|x", readOnly,
			"truncate|/data/in.txt|0", readOnly,
			"touch|/data/in.txt", readOnly,
			"mkdir|/data/new", readOnly,
			"mv|/data/in.txt|/data/new", readOnly,
			"ln|/data/in.txt|/data/new", readOnly,
			"symlink|in.txt|/data/new", readOnly,
			"rm|/data/in.txt", readOnly,
		)
		if after := fmt.Sprint(contents(t, w.granted)); after != before {
			t.Errorf("%s\n%s", before, after)
		}
	})
	t.Run("fills the quota", func(t *testing.T) {
		w := newWorld(t, true, Limits{Disk: 1 << 20, Files: openFileLimit(50)})
		before, _ := sizes(t, w.granted)
		g.expect(t, w.set,
			"fill|/data/big|100", "983040 "+noRoom,
			"fill|/data/more|100", "0 "+noRoom,
			"truncate|/data/in.txt|10000000000", noRoom,
			"rm|/data/more", "",
			"write|/data/small|there is room for this", "",
		)
		if after, _ := sizes(t, w.granted); after-before > 1<<20 || !slices.Contains(w.exceeded, DiskLimit) {
			t.Errorf("grew by %d; exceeded %q", after-before, w.exceeded)
		}
	})
	t.Run("opens a thousand files", func(t *testing.T) {
		w := newWorld(t, true, generous)
		w.open([]Grant{{w.granted, "/data", true}, {w.outside, "/untouched", false}}, Limits{Files: openFileLimit(30)})
		parent := filepath.Dir(w.granted)
		before := len(descriptors(t, parent))
		g.expect(t, w.set,
			"open|/data/in.txt|1000", "30 "+tooMany,
			"open|/untouched/secret|1000", "30 "+tooMany, // a mount that wazero has not opened yet
			"stat|/untouched/secret", "6",
		)
		if left := descriptors(t, parent); len(left) != before {
			t.Errorf("left %q", left)
		}
	})
	t.Run("fills the disk", func(t *testing.T) {
		w := newWorld(t, true, generous)
		disk := filepath.Join(w.granted, "disk")
		mkdir(t, disk)
		hosttest.Mount(t, "tmpfs", disk, "size=128k,nr_inodes=8")
		w.open([]Grant{{w.granted, "/data", true}}, generous)
		g.expect(t, w.set,
			"fill|/data/disk/big|100", "131072 "+noRoom,
			"write|/data/disk/1|x", noRoom, // the file is created but stays empty
			"mkdir|/data/disk/2", "", "mkdir|/data/disk/3", "", "mkdir|/data/disk/4", "", "mkdir|/data/disk/5", "", "mkdir|/data/disk/6", "",
			"mkdir|/data/disk/7", noRoom, // the inodes are used up too
			"symlink|x|/data/disk/8", noRoom,
			"mv|/data/in.txt|/data/disk/9", "! Cross-device link",
			"ln|/data/in.txt|/data/disk/9", "! Cross-device link",
			"rm|/data/disk", "! Device or resource busy", // something is mounted there
		)
		if len(w.exceeded) > 0 {
			t.Errorf("a limit of ours is said to be reached: %q", w.exceeded)
		}
		// Failed writes are not counted.
		if got, want := w.set.Added(), int64(7*EntryCost+128<<10); got != want {
			t.Errorf("added %d, want %d", got, want)
		}
		if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
			t.Logf("it stays writable: %v", err) // a file is open to write
		} else {
			g.expect(t, w.set, "write|/data/disk/2/new|x", readOnly, "rm|/data/disk/2", readOnly)
		}
	})
	t.Run("has no descriptors", func(t *testing.T) {
		w := newWorld(t, true, generous)
		var before unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
		few := unix.Rlimit{Cur: 64, Max: before.Max}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		said := g.run(t, w.set, "open|/data/in.txt|1000", "mkdir|/data/sub/new", "read|/data/sub/deep.txt")
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
		for act, result := range said {
			if !strings.HasSuffix(result, tooMany) || strings.HasPrefix(result, "1000") {
				t.Errorf("%s: %q", act, result)
			}
		}
		if len(w.exceeded) > 0 {
			t.Errorf("a limit of ours is said to be reached: %q", w.exceeded)
		}
	})
	t.Run("leaves nothing open when it is ended", func(t *testing.T) {
		w := newWorld(t, true, generous)
		parent := filepath.Dir(w.granted)
		before := len(descriptors(t, parent))
		g.expect(t, w.set, "open|/data/in.txt|20", "20", "fill|/data/big|3", "196608")
		if err := w.set.Close(); err != nil {
			t.Error(err)
		}
		if left := descriptors(t, parent); len(left) != before {
			t.Errorf("left %q", left)
		}
	})
	t.Run("does not wait for a FIFO", func(t *testing.T) {
		w := newWorld(t, true, generous)
		mkfifo(t, filepath.Join(w.granted, "fifo"))
		g.expect(t, w.set, "read|/data/fifo", notPermitted, "write|/data/fifo|x", notPermitted)
	})
	t.Run("sees a file alone", func(t *testing.T) {
		w := newWorld(t, true, generous)
		w.open([]Grant{{w.granted + "/in.txt", "/data/in.txt", true}, {w.granted + "/sub/deep.txt", "/deep.txt", false}}, generous)
		g.expect(t, w.set,
			"walk|/data", "/data /data/in.txt",
			"read|/data/in.txt", "inside",
			"read|/deep.txt", "deep",
			"write|/deep.txt|x", readOnly,
			"write|/data/in.txt|changed", "",
			"read|/data/sub/deep.txt", notThere,
			"write|/data/new|x", notThere,
			"rm|/data/in.txt", notPermitted,
			"mv|/data/in.txt|/data/new", notPermitted,
		)
	})
	t.Run("reads a large directory", func(t *testing.T) {
		w := newWorld(t, true, generous)
		for i := range 2000 {
			fill(t, filepath.Join(w.granted, "empty", fmt.Sprint("a longer name ", i)), "")
		}
		g.expect(t, w.set, "count|/data/empty", "2000")
	})
}
