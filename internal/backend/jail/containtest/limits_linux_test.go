package containtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/cgroup"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// limitTest exhausts one resource. Each limit has its own outcome and message.
type limitTest struct {
	// ownMemory says that the command needs a private /dev/shm.
	ownMemory bool
	name      string
	act, sh   string
	params    map[string]any
	limits    policy.Limits
	plant     func(t *testing.T, s *scene)
	want      run.Outcome
	words     string
	// alone lists the outcomes without a cgroup, where limits apply to each process and
	// there is no evidence. Nil means that the outcome is the same.
	alone []run.Outcome
	// version2 says that only a cgroup of version 2 can do better.
	version2 bool
	// unwalked says that only the free space of the host's disk shows the use. Another
	// program that deletes files at the same time hides it.
	unwalked bool
	check    func(t *testing.T, s *scene, r run.Result)
}

const (
	shortWall = 400 * time.Millisecond
	shortCPU  = 400 * time.Millisecond
	little    = 128 * policy.MiB
	// ample is wall time for what another limit ends, also on a busy host.
	ample = time.Minute
)

var (
	wallLimit = policy.Limits{WallTime: shortWall}
	cpuLimit  = policy.Limits{CPUTime: shortCPU, WallTime: ample}
	// Enough memory for this program, and little more.
	memoryLimit  = policy.Limits{Memory: little, WallTime: ample}
	outputLimit  = policy.Limits{Output: 64 * policy.KiB}
	diskLimit    = policy.Limits{Disk: 8 * policy.MiB}
	scratchLimit = policy.Limits{Scratch: 4 * policy.MiB}
	// The shell's loops count in their own process.
	processLimit = policy.Limits{Processes: 24, WallTime: ample}
)

var limitTests = []limitTest{
	{name: "wall: sleeps", sh: `sleep 60`, limits: wallLimit, want: run.TimedOut, words: "wall time limit of 400ms"},
	{name: "wall: ignores signals", sh: `trap "" TERM INT HUP XCPU; while :; do sleep 60; done`, limits: wallLimit, want: run.TimedOut, words: "wall time"},
	{name: "wall: stops itself", sh: `kill -STOP $$; echo on`, limits: wallLimit, want: run.TimedOut, words: "wall time"},
	{name: "wall: waits for its daemons", sh: `(setsid sleep 60 &) ; sleep 60 & wait`, limits: wallLimit, want: run.TimedOut, words: "wall time"},
	{name: "wall: daemon holds the output", sh: `(setsid sleep 60 &); echo done`, limits: policy.Limits{WallTime: ample}, want: run.Succeeded,
		check: func(t *testing.T, _ *scene, r run.Result) {
			if took := r.Usage.WallTime; took > 5*time.Second {
				t.Errorf("it waited %v for a daemon", took)
			}
		}},

	{name: "cpu: one process", sh: `while :; do :; done`, limits: cpuLimit, want: run.OutOfCPU, words: "CPU time limit of 400ms"},
	{name: "cpu: ignores SIGXCPU", sh: `trap "" XCPU; while :; do :; done`, limits: cpuLimit, want: run.OutOfCPU, words: "CPU time"},
	{name: "cpu: concurrent processes", sh: `for i in 1 2 3 4; do (while :; do :; done) & done; wait`, limits: cpuLimit, want: run.OutOfCPU, words: "CPU time"},
	{name: "cpu: sequential processes", sh: `while :; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; done`, limits: cpuLimit, want: run.OutOfCPU, words: "CPU time"},
	{name: "cpu: orphans", sh: `while :; do (sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' &); sleep 0.05; done`, limits: cpuLimit, want: run.OutOfCPU, words: "CPU time"},
	{name: "cpu: daemon", sh: `(setsid sh -c 'while :; do :; done' &); sleep 60`, limits: cpuLimit, want: run.OutOfCPU, words: "CPU time"},
	{name: "cpu: threads", act: "burn in threads", limits: cpuLimit, want: run.OutOfCPU, words: "CPU time"},
	// No process's CPU time includes children that are not waited for: only a cgroup of
	// version 2 counts them.
	{name: "cpu: children that are not waited for", act: "burn in children", limits: cpuLimit, want: run.OutOfCPU, words: "CPU time",
		alone: []run.Outcome{run.OutOfCPU, run.TimedOut}, version2: true},
	{name: "cpu: process name that imitates /proc/PID/stat", sh: `printf ') R 1 1 1 0 -1 0 0 0 0 0 0 0 0' > /proc/self/comm; while :; do :; done`,
		limits: cpuLimit, want: run.OutOfCPU, words: "CPU time"},

	{name: "memory: one process", act: "use memory", params: map[string]any{"size": 512}, limits: memoryLimit, want: run.OutOfMemory, words: "memory limit of 128MiB"},
	{name: "memory: process tree", act: "use memory in children", params: map[string]any{"size": 24, "count": 10}, limits: memoryLimit, want: run.OutOfMemory, words: "memory limit"},
	{name: "memory: shared", act: "use shared memory", params: map[string]any{"size": 512}, limits: memoryLimit, want: run.OutOfMemory, words: "memory limit"},
	{name: "memory: memfd", act: "use memory file", params: map[string]any{"size": 512}, limits: memoryLimit, want: run.OutOfMemory, words: "memory limit",
		alone: []run.Outcome{run.Exited}},
	{name: "memory: System V", act: "use shared segment", params: map[string]any{"size": 512}, limits: memoryLimit, want: run.OutOfMemory, words: "memory limit",
		alone: []run.Outcome{run.Exited}},
	{name: "memory: scratch", sh: `dd if=/dev/zero of=$TMPDIR/x bs=1M count=256 2>/dev/null || exit 1`, limits: memoryLimit, want: run.OutOfMemory, words: "memory limit",
		alone: []run.Outcome{run.Succeeded}},
	{name: "memory: sockets", act: "use sockets", limits: memoryLimit, want: run.OutOfMemory, words: "memory limit",
		alone: []run.Outcome{run.Succeeded, run.Exited}},

	{name: "output: stdout", sh: `yes`, limits: outputLimit, want: run.OutOfOutput, words: "output limit of 64KiB", check: checkOutputBounded},
	{name: "output: stderr", sh: `yes >&2`, limits: outputLimit, want: run.OutOfOutput, words: "output limit", check: checkOutputBounded},
	{name: "output: one write", sh: `head -c 64M /dev/zero`, limits: outputLimit, want: run.OutOfOutput, words: "output limit", check: checkOutputBounded},
	{name: "output: from a daemon", sh: `(setsid yes &); sleep 60`, limits: outputLimit, want: run.OutOfOutput, words: "output limit", check: checkOutputBounded},
	{name: "output: cut", sh: `head -c 1000000 /dev/zero; echo >&2 end`, limits: outputLimit, want: run.Succeeded,
		plant: func(_ *testing.T, s *scene) { s.request.OnOutputLimit = policy.OutputTruncate },
		check: func(t *testing.T, _ *scene, r run.Result) {
			if r.StdoutSize != 1000000 || !r.StdoutTruncated || len(r.Stdout) != 64<<10 || r.Stderr != "end\n" {
				t.Errorf("size %v, of which the Result has %d; stderr %q", r.StdoutSize, len(r.Stdout), r.Stderr)
			}
		}},

	{name: "disk: one file", sh: `dd if=/dev/zero of=big bs=1M count=200; sleep 1`, limits: diskLimit, want: run.OutOfDisk, words: "disk limit of 8MiB"},
	{name: "disk: many files", sh: `b=$(head -c 8192 /dev/zero | tr '\0' x); i=0; while [ $i -lt 4000 ]; do printf %s "$b" > f$i; i=$((i+1)); done; sleep 3`, limits: diskLimit, want: run.OutOfDisk, words: "disk limit"},
	{name: "disk: exits right after the write", sh: `dd if=/dev/zero of=big bs=1M count=32 2>/dev/null`, limits: diskLimit, want: run.OutOfDisk, words: "disk limit"},
	{name: "disk: in a write grant", sh: `cd "$out" && dd if=/dev/zero of=big bs=1M count=64; sleep 3`, limits: diskLimit, want: run.OutOfDisk, words: "disk limit", plant: plantOut},
	{name: "disk: deleted while open", act: "fill deleted files", limits: diskLimit, want: run.OutOfDisk, words: "disk limit"},
	{name: "disk: without a name", act: "fill unnamed files", limits: diskLimit, want: run.OutOfDisk, words: "disk limit"},
	{name: "disk: in a closed directory", sh: `mkdir d; dd if=/dev/zero of=d/big bs=1M count=64 2>/dev/null; chmod 0 d; sleep 3`, limits: diskLimit, want: run.OutOfDisk, words: "disk limit"},
	{name: "disk: holes", sh: `truncate -s 256M sparse; sleep 2.2`, limits: diskLimit, want: run.Succeeded},
	{name: "disk: other programs write", sh: `ln -s "$directory" l; ln -s "$directory" m; sleep 2.2`, limits: diskLimit, want: run.Succeeded, plant: plantNoise},
	{name: "disk: same file overwritten", sh: `for i in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of=f bs=1M count=4 2>/dev/null; done; sleep 2.2`, limits: diskLimit, want: run.Succeeded},
	{name: "disk: deeply nested directories", act: "nest directories", limits: policy.Limits{Disk: 1 * policy.GiB, WallTime: 3 * time.Second}, want: run.TimedOut, words: "wall time",
		check: func(t *testing.T, s *scene, r run.Result) {
			if took := r.Usage.WallTime; took > 6*time.Second {
				t.Errorf("walking a deep directory took %v", took)
			}
		}},

	{name: "scratch: full", sh: `dd if=/dev/zero of=$TMPDIR/x bs=1M count=16`, limits: scratchLimit, want: run.OutOfDisk, words: "scratch limit of 4MiB"},
	{name: "scratch: in shared memory", ownMemory: true, sh: `dd if=/dev/zero of=/dev/shm/x bs=1M count=16`, limits: scratchLimit, want: run.OutOfDisk, words: "scratch limit"},
	{name: "scratch: too many files", sh: `cd $TMPDIR; i=0; while [ $i -lt 20000 ]; do : > $i || exit 1; i=$((i+1)); done`, limits: scratchLimit, want: run.OutOfDisk, words: "scratch limit"},
	{name: "scratch: emptied in time", sh: `dd if=/dev/zero of=$TMPDIR/x bs=1M count=3 2>/dev/null; rm $TMPDIR/x; exit 3`, limits: scratchLimit, want: run.Exited, words: "exit code 3"},
	{name: "scratch: same file overwritten", sh: `for i in 1 2 3 4 5 6; do dd if=/dev/zero of=$TMPDIR/x bs=1M count=3 2>/dev/null || exit 1; done`, limits: scratchLimit, want: run.Succeeded},

	{name: "files: too many open", act: "open files", limits: policy.Limits{OpenFiles: 32}, want: run.Exited, words: "exit code 9"},
	{name: "processes: fork bomb", sh: `f() { f | f & }; f; f; wait; sleep 1; sh -c : || exit 1; exit 1`, limits: processLimit, want: run.OutOfProcs, words: "limit of 24 processes",
		alone: []run.Outcome{run.Exited, run.TimedOut}},
	{name: "processes: counted", sh: `i=0; while sleep 30 & do i=$((i+1)); [ $i -lt 100 ] || break; done; exit 1`, limits: processLimit, want: run.OutOfProcs, words: "processes",
		alone: []run.Outcome{run.Exited}},
	{name: "processes: threads", act: "threads", limits: processLimit, want: run.OutOfProcs, words: "processes", alone: []run.Outcome{run.Exited, run.Signaled}},
	{name: "processes: sequential", sh: `i=0; while [ $i -lt 200 ]; do sh -c : || exit 1; i=$((i+1)); done`, limits: processLimit, want: run.Succeeded},
}

// checkOutputBounded checks that the size of the output stopped the command, not a timeout.
func checkOutputBounded(t *testing.T, _ *scene, r run.Result) {
	const most = 8 << 30 // a dying process still writes until it gets a CPU to exit on
	for name, size := range map[string]int64{"stdout": int64(r.StdoutSize), "stderr": int64(r.StderrSize)} {
		if size > most {
			t.Errorf("%d bytes of %s were read", size, name)
		}
	}
	if len(r.Stdout) > 64<<10 || len(r.Stderr) > 64<<10 {
		t.Errorf("%d and %d bytes are kept", len(r.Stdout), len(r.Stderr))
	}
}

func plantOut(t *testing.T, s *scene) {
	out := filepath.Join(s.directory, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	s.params["out"] = out
	s.grant(func(p *policy.Policy) { p.Write = append(p.Write, out) })
}

// TestContainOldFiles runs a command in a workspace that already has a file larger than the
// limit. A change to an existing file is not evidence unless the free space of the file system
// shrank by the limit, so no other program may write that much at the same time.
func TestContainOldFiles(t *testing.T) {
	var alone sync.Mutex
	eachBackend(t, func(t *testing.T, suite *suite) {
		alone.Lock()
		defer alone.Unlock()
		limitTest{
			name: "disk: existing files", sh: `chmod 600 old; touch old; echo more >> old; mv old older; sleep 2.2`, limits: policy.Limits{Disk: 512 * policy.MiB}, want: run.Succeeded, plant: plantOld,
		}.try(t, suite)
	})
}

// plantOld creates a file that is larger than all that the tests of other packages write.
func plantOld(t *testing.T, s *scene) {
	name := filepath.Join(s.workspace, "old")
	s.write(t, name, "old data", 0o644)
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := unix.Fallocate(int(file.Fd()), 0, 0, 600<<20); err != nil {
		t.Fatal(err)
	}
}

// plantNoise writes files next to the workspace from the host while the command runs.
func plantNoise(t *testing.T, s *scene) {
	s.write(t, "noise", "", 0o644)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		data := make([]byte, 1<<20)
		for range 32 {
			file, err := os.OpenFile(filepath.Join(s.directory, "noise"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return
			}
			_, err = file.Write(data)
			if errors.Join(err, file.Close()) != nil {
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
}

func TestContainLimits(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		for _, l := range limitTests {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				l.try(t, suite)
			})
		}
	})
}

// runWatched makes the attempt and reports whether it could be noticed: whether the disk of
// the host lacked that much free space for several seconds on end. Other programs may free
// space meanwhile.
func (s *scene) runWatched(t *testing.T, a attempt, much policy.Bytes) (r run.Result, noticeable bool) {
	t.Helper()
	const enough = 5 * time.Second
	before := freeSpace(t, s.workspace)
	stop, lacked := make(chan struct{}), make(chan bool)
	go func() {
		since, long := time.Now(), false
		for {
			if before-freeSpace(t, s.workspace) < int64(much) {
				since = time.Now()
			}
			long = long || time.Since(since) > enough
			select {
			case <-stop:
				lacked <- long
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	r = s.run(t, a)
	close(stop)
	return r, <-lacked
}

func freeSpace(t *testing.T, path string) int64 {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		t.Error(err)
	}
	return int64(stat.Bfree) * stat.Bsize
}

// ends returns the outcomes that are right in this suite, and words of their message.
func (l limitTest) ends(suite *suite) ([]run.Outcome, string) {
	if end, differs := gvisorEnds[l.name]; differs && suite.gvisor() {
		return []run.Outcome{end}, ""
	}
	counted := suite.jail == policy.JailLandlock && l.want == run.OutOfProcs // by the Runner
	if l.alone != nil && !counted && !suite.gvisor() && (!usesCgroups(suite.backend) || l.version2 && cgroup.Probe().Version != 2) {
		return l.alone, ""
	}
	return []run.Outcome{l.want}, l.words
}

func (l limitTest) try(t *testing.T, suite *suite) {
	if l.ownMemory {
		suite.needsNamespaces(t, "/dev/shm of its own")
	}
	a := attempt{wall: "limits", name: l.name, act: l.act, sh: l.sh, params: l.params}
	s := suite.scene(t, a, suite.guarded)
	s.params["marker"] = "cdn-" + filepath.Base(suite.directory) + "-" + filepath.Base(s.directory)
	if l.plant != nil {
		l.plant(t, s)
	}
	if suite.gvisor() {
		s.request.Limits.WallTime *= 6 // processes start and write slowly there, on a busy host most of all
	}
	s.request.Limits = l.limits.Or(s.request.Limits)
	want, words := l.ends(suite)
	if slices.Contains(want, run.TimedOut) {
		s.request.Limits.WallTime = min(s.request.Limits.WallTime, 8*time.Second) // nothing else may end it
	}
	r, noticeable := s.runWatched(t, a, l.limits.Disk)
	for tries := 0; l.unwalked && r.Outcome != l.want && !noticeable && tries < 20; tries++ {
		t.Log("the disk did not lose enough space: another program deletes files")
		r, noticeable = s.runWatched(t, a, l.limits.Disk)
	}
	if !slices.Contains(want, r.Outcome) || !strings.Contains(r.Error, words) {
		t.Errorf("want %v and %q, got:\n%s", want, words, show(r))
	}
	if r.Outcome.ErrorType() != r.ErrorType || r.Outcome.Status() != r.Status {
		t.Errorf("%s comes with %s and %s", r.Outcome, r.ErrorType, r.Status)
	}
	if r.Outcome == run.OutOfCPU && r.Usage.CPUTime > 8*shortCPU {
		t.Errorf("it ended late, after %v of CPU time", r.Usage.CPUTime)
	}
	if l.check != nil {
		l.check(t, s, r)
	}
	if left := processesOf(s.directory); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

// processesOf returns the processes with one of our directories in their environment.
func processesOf(directory string) (pids []string) {
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	for _, name := range names {
		if data, err := os.ReadFile(name); err == nil && strings.Contains(string(data), directory+"/ws") {
			pids = append(pids, name)
		}
	}
	return pids
}

var limitActs = map[string]act{
	"burn": func(p params) error {
		for began := time.Now(); time.Since(began) < 100*time.Millisecond; {
		}
		return errQuiet
	},
	"burn in threads": func(params) error {
		for range 4 {
			go func() {
				for n := uint64(0); ; n++ {
					sink.Store(n)
				}
			}()
		}
		select {}
	},
	"burn in children": func(p params) error {
		signal.Ignore(unix.SIGCHLD) // the kernel reaps them and reports nothing
		for {
			cmd := childOf("burn")
			out, err := cmd.StdoutPipe()
			if err != nil {
				return broken("%v", err)
			}
			if err := cmd.Start(); err != nil {
				return broken("%v", err)
			}
			_, _ = out.Read(make([]byte, 1)) // it ends with the child
			_ = out.Close()
		}
	},
	"use memory": func(p params) error {
		memory := make([]byte, p.number("size")<<20)
		fill(memory)
		awaitKill()
		runtime.KeepAlive(memory)
		return errQuiet
	},
	"use memory in children": func(p params) error {
		var all []*exec.Cmd
		for range p.number("count") {
			cmd := childOf("hold memory")
			in, err := cmd.StdinPipe()
			if err != nil {
				return broken("%v", err)
			}
			defer in.Close()
			if err := cmd.Start(); err != nil {
				os.Exit(1)
			}
			all = append(all, cmd)
		}
		code := 0
		for _, cmd := range all {
			if cmd.Wait() != nil {
				code = 1
			}
		}
		os.Exit(code)
		return nil
	},
	"hold memory": func(p params) error {
		memory := make([]byte, p.number("size")<<20)
		fill(memory)
		_, _ = unix.Poll(nil, 6000) // until all the others run; a cgroup kills only one of them
		runtime.KeepAlive(memory)
		return errQuiet
	},
	"use shared memory": func(p params) error {
		memory, err := unix.Mmap(-1, 0, p.number("size")<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
		if err != nil {
			os.Exit(1)
		}
		fill(memory)
		awaitKill()
		return errQuiet
	},
	"use memory file": func(p params) error {
		fd, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC)
		if err != nil {
			os.Exit(1)
		}
		data := make([]byte, 1<<20)
		for range p.number("size") {
			if _, err := unix.Write(fd, data); err != nil {
				os.Exit(1)
			}
		}
		return errQuiet
	},
	"use shared segment": func(p params) error {
		if err := sharedMemory(p.number("size") << 20); err != nil {
			os.Exit(1)
		}
		return errQuiet
	},
	"use sockets": func(params) error {
		data := make([]byte, 1<<20)
		for range 480 {
			if err := fillSockets(data); err != nil {
				os.Exit(1)
			}
		}
		return errQuiet
	},
	"fill deleted files": func(params) error {
		return fillFiles(func(i int) (int, error) {
			name := fmt.Sprintf("f%d", i)
			fd, err := unix.Open(name, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
			return fd, errors.Join(err, os.Remove(name))
		})
	},
	"fill unnamed files": func(params) error {
		return fillFiles(func(int) (int, error) {
			return unix.Open(".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		})
	},
	"nest directories": nestDirectories,
	"open files":       openFiles,
	"threads": func(params) error {
		for range 200 {
			go func() {
				runtime.LockOSThread()
				_, _ = unix.Poll(nil, 10_000)
			}()
		}
		_, _ = unix.Poll(nil, 10_000)
		return errQuiet
	},
}

// awaitKill keeps what an act has taken. Where the Runner samples what guests use, it may
// see that late on a busy host.
func awaitKill() { _, _ = unix.Poll(nil, 15_000) }

// sink keeps the compiler from removing a loop.
var sink atomic.Uint64

func childOf(act string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), actVariable+"="+act, "GOMAXPROCS=1")
	return cmd
}

// fillSockets fills the buffers between two sockets, which are kernel memory.
func fillSockets(data []byte) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	for _, fd := range pair {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, len(data))
		_, _ = unix.Write(fd, data) // as much as fits
	}
	return nil
}

// fillFiles writes 8 files of 8 MiB each and waits to be killed.
func fillFiles(open func(i int) (int, error)) error {
	data := make([]byte, 1<<20)
	for i := range 8 {
		fd, err := open(i)
		if err != nil {
			return broken("%v", err)
		}
		for range 8 {
			if _, err := unix.Write(fd, data); err != nil {
				return broken("%v", err)
			}
		}
	}
	awaitKill()
	return errQuiet
}

// nestDirectories creates deeply nested directories. Walking them by full path takes time
// quadratic in the depth.
func nestDirectories(params) error {
	for range 6000 {
		if err := errors.Join(os.Mkdir("d", 0o755), unix.Chdir("d")); err != nil {
			break
		}
	}
	for {
		_, _ = unix.Poll(nil, 1000)
	}
}

func openFiles(params) error {
	n := 3
	for ; n < 2000; n++ {
		if _, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			break
		}
	}
	if n > 32 {
		return broken("%d files are open", n)
	}
	os.Exit(9)
	return nil
}
