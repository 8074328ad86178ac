package containtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// fewFiles is for tests with empty files, which never reach the limit on space.
var fewFiles = policy.Limits{Files: 300, WallTime: 2 * time.Minute}

// spaceTests use disk space of the host that a walk over files misses, or finds too late.
var spaceTests = []limitTest{
	{name: "disk: reserved", act: "reserve space", limits: diskLimit, want: run.Succeeded, check: checkDiskUse},
	{name: "disk: deleted and mapped", act: "fill mapped files", unwalked: true, limits: diskLimit, want: run.OutOfDisk, words: "disk limit"},
	{name: "disk: deleted and mapped, by a thread that outlives the first", act: "fill mapped files without the first thread", unwalked: true,
		limits: diskLimit, want: run.OutOfDisk, words: "disk limit"},
	{name: "disk: deleted, sent in a message to itself", act: "fill sent files", unwalked: true, limits: diskLimit, want: run.OutOfDisk, words: "disk limit"},
	{name: "disk: a neighbor writes, and a small deleted file is mapped", act: "map a small deleted file", limits: diskLimit,
		plant: plantNoise, want: run.Succeeded},
	{name: "disk: empty files", sh: `i=0; while [ $i -lt 8000 ]; do : > f$i; i=$((i+1)); done; sleep 3`,
		limits: policy.Limits{Disk: policy.MiB}, want: run.OutOfDisk, words: "disk limit"},

	{name: "files: too many", sh: `i=0; while [ $i -lt 3000 ]; do : > f$i; i=$((i+1)); done; sleep 8`,
		limits: fewFiles, want: run.OutOfDisk, words: "limit of 300 new files"},
	{name: "files: exits right after too many", sh: `i=0; while [ $i -lt 600 ]; do : > f$i; i=$((i+1)); done`,
		limits: fewFiles, want: run.OutOfDisk, words: "limit of 300 new files"},
	{name: "files: hard links", act: "link", params: map[string]any{"count": 600}, limits: fewFiles, want: run.OutOfDisk, words: "limit of 300 new files"},
	{name: "files: directories", act: "make directories", params: map[string]any{"count": 600}, limits: fewFiles, want: run.OutOfDisk, words: "limit of 300 new files"},
	{name: "files: symlinks", act: "make symlinks", params: map[string]any{"count": 600}, limits: fewFiles, want: run.OutOfDisk, words: "limit of 300 new files"},
	{name: "files: deleted and open", act: "open deleted files", params: map[string]any{"count": 600}, limits: fewFiles, want: run.OutOfDisk, words: "limit of 300 new files"},
	{name: "files: as many as allowed", sh: `i=0; while [ $i -lt 250 ]; do : > f$i; i=$((i+1)); done; sleep 2.2`, limits: fewFiles, want: run.Succeeded},
	{name: "files: made and removed", sh: `i=0; while [ $i -lt 2000 ]; do : > f; rm f; i=$((i+1)); done`, limits: fewFiles, want: run.Succeeded},
}

// checkDiskUse checks that the files in the workspace use at most the limit.
func checkDiskUse(t *testing.T, s *scene, _ run.Result) {
	var used int64
	err := filepath.WalkDir(s.workspace, func(path string, _ os.DirEntry, err error) error {
		var stat unix.Stat_t
		if err := errors.Join(err, unix.Lstat(path, &stat)); err != nil {
			return err
		}
		used += stat.Blocks * 512
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(diskLimit.Disk); used > most {
		t.Errorf("%d bytes are left in the workspace, more than %d", used, most)
	}
}

func TestContainSpace(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		for _, l := range spaceTests {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				l.try(t, suite)
			})
		}
	})
}

// watchedTests are about memory that no cgroup counts.
var watchedTests = []limitTest{
	{name: "one process", act: "use memory", params: map[string]any{"size": 512}, want: run.OutOfMemory},
	{name: "process tree", act: "use memory in children", params: map[string]any{"size": 24, "count": 10}, want: run.OutOfMemory},
	{name: "shared", act: "use shared memory", params: map[string]any{"size": 512}, want: run.OutOfMemory},
	{name: "shared by children", act: "use shared memory in children", params: map[string]any{"size": 20, "count": 10}, want: run.OutOfMemory},
	{name: "without the first thread", act: "use memory without the first thread", params: map[string]any{"size": 512}, want: run.OutOfMemory},
	{name: "page tables", act: "use page tables", want: run.OutOfMemory},
	{name: "memory file", act: "make memory file", want: run.Succeeded},
	{name: "System V", act: "use shared segment", params: map[string]any{"size": 512}, want: run.Exited},
	{name: "scratch", sh: `dd if=/dev/zero of=$TMPDIR/x bs=1M count=256 2>/dev/null`, want: run.OutOfDisk},

	// These must succeed.
	{name: "memory that children share", ownMemory: true, act: "share memory with children", params: map[string]any{"size": 60, "count": 6}, want: run.Succeeded},
	{name: "memory shared with vfork children", act: "share memory with vfork children", params: map[string]any{"size": 80, "count": 300}, want: run.Succeeded},
	{name: "a large file, mapped", sh: `head -c 200M /dev/zero > large; cat large > /dev/null; sha256sum large > /dev/null`, want: run.Succeeded},
	{name: "large reservation", act: "reserve memory", params: map[string]any{"size": 700}, want: run.Succeeded},
}

// TestContainWatchedMemory checks the limit on memory without a cgroup, where the total memory
// of all processes is sampled.
func TestContainWatchedMemory(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		suite.backend = suite.open(t, suite.policy, []policy.Wall{policy.WallCgroup})
		for _, l := range watchedTests {
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				l.limits = policy.Limits{Memory: little, Scratch: 64 * policy.MiB, WallTime: 30 * time.Second}
				if l.want == run.OutOfMemory {
					l.words = "memory limit of 128MiB reached"
				}
				l.check = func(t *testing.T, _ *scene, r run.Result) {
					// Sampling is late, but a process can reserve at most 1 GiB at once.
					const reservable = 1 << 30
					if most := little + reservable; r.Usage.Memory > most {
						t.Errorf("%v were used, more than %v", r.Usage.Memory, most)
					}
				}
				l.try(t, suite)
			})
		}
	})
}

var spaceActs = map[string]act{
	"reserve space": func(params) error {
		const size = 64 << 20
		for i, mode := range []uint32{0, unix.FALLOC_FL_KEEP_SIZE, unix.FALLOC_FL_ZERO_RANGE, unix.FALLOC_FL_ZERO_RANGE | unix.FALLOC_FL_KEEP_SIZE} {
			fd, err := unix.Open(fmt.Sprintf("r%d", i), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
			if err != nil {
				return broken("%v", err)
			}
			if err := unix.Fallocate(fd, mode, 0, size); !errors.Is(err, unix.EOPNOTSUPP) {
				fmt.Printf("fallocate with mode %#x: %v\n", mode, err)
			}
		}
		return errQuiet
	},
	"fill mapped files": func(params) error { return fillMapped() },
	"fill mapped files without the first thread": func(params) error {
		return withoutFirstThread(fillMapped)
	},
	"fill sent files": func(params) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
		if err != nil {
			return broken("%v", err)
		}
		return fillFiles(func(i int) (int, error) {
			// The previous one is full.
			if i > 0 {
				last := lastSent
				if err := errors.Join(unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(last), nil, 0), unix.Close(last)); err != nil {
					return -1, err
				}
			}
			name := fmt.Sprintf("f%d", i)
			fd, err := unix.Open(name, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
			lastSent = fd
			return fd, errors.Join(err, os.Remove(name))
		})
	},
	"map a small deleted file": func(params) error {
		if _, err := mapDeleted("small", 1<<16); err != nil {
			return broken("%v", err)
		}
		_, _ = unix.Poll(nil, 2500) // meanwhile the other program writes
		return errQuiet
	},
	"link": func(p params) error {
		return forCount(p, func(i int) error {
			if i == 0 {
				return os.WriteFile("name", nil, 0o600)
			}
			return os.Link("name", fmt.Sprintf("name%d", i))
		})
	},
	"make directories": func(p params) error {
		return forCount(p, func(i int) error { return os.Mkdir(fmt.Sprintf("d%d", i), 0o700) })
	},
	"make symlinks": func(p params) error {
		return forCount(p, func(i int) error { return os.Symlink("nowhere", fmt.Sprintf("l%d", i)) })
	},
	"open deleted files": func(p params) error {
		err := forCount(p, func(i int) error {
			_, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
			return err
		})
		awaitKill()
		return err
	},
	"use shared memory in children": func(p params) error {
		return runChildren(p, "hold shared memory")
	},
	"hold shared memory": func(p params) error {
		if err := useShared(p.number("size") << 20); err != nil {
			return broken("%v", err)
		}
		awaitKill()
		return errQuiet
	},
	"use memory without the first thread": func(p params) error {
		return withoutFirstThread(func() error {
			memory := make([]byte, p.number("size")<<20)
			fill(memory)
			awaitKill()
			runtime.KeepAlive(memory)
			return errQuiet
		})
	},
	// Reading zeros takes a page table for each 2 MiB of addresses.
	"use page tables": func(params) error {
		const size = 256 << 30
		memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			return broken("%v", err)
		}
		_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE)
		sum := byte(0)
		for i := 0; i < size; i += 2 << 20 {
			sum += memory[i]
		}
		awaitKill()
		fmt.Println(sum)
		return errQuiet
	},
	"make memory file": func(params) error {
		if _, err := unix.MemfdCreate("x", unix.MFD_CLOEXEC); !errors.Is(err, unix.ENOSYS) {
			fmt.Println("ESCAPED", err)
			os.Exit(1)
		}
		return errQuiet
	},
	"share memory with children": func(p params) error {
		fd, err := unix.Open("/dev/shm/x", unix.O_CREAT|unix.O_RDWR, 0o600)
		if err != nil {
			return broken("%v", err)
		}
		size := p.number("size") << 20
		if err := unix.Ftruncate(fd, int64(size)); err != nil {
			return broken("%v", err)
		}
		return runChildren(p, "map what is shared")
	},
	"map what is shared": func(p params) error {
		fd, err := unix.Open("/dev/shm/x", unix.O_RDWR, 0)
		if err != nil {
			return broken("%v", err)
		}
		memory, err := unix.Mmap(fd, 0, p.number("size")<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return broken("%v", err)
		}
		fill(memory)
		_, _ = unix.Poll(nil, 1000)
		return errQuiet
	},
	// Go starts children like vfork: they share our memory until they execute.
	"share memory with vfork children": func(p params) error {
		memory := make([]byte, p.number("size")<<20)
		fill(memory)
		for range p.number("count") {
			if err := exec.Command("/bin/true").Run(); err != nil {
				return broken("%v", err)
			}
		}
		runtime.KeepAlive(memory)
		return errQuiet
	},
	// Go's own threads count too.
	"count processes": func(params) error {
		// While the limit is reached, Go's runtime must not start another thread: it would
		// abort. So nothing else runs, and the children end before anything is printed.
		runtime.GOMAXPROCS(1)
		debug.SetGCPercent(-1)
		for range 100 {
			before, err := os.ReadDir("/proc/self/task")
			if err != nil {
				return broken("%v", err)
			}
			n := fillWithChildren()
			after, err := os.ReadDir("/proc/self/task")
			if err != nil {
				return broken("%v", err)
			}
			if len(before) == len(after) {
				fmt.Println(n + len(after))
				return errQuiet
			}
		}
		return broken("Go starts threads all the time")
	},
	"reserve memory": func(p params) error {
		if _, err := unix.Mmap(-1, 0, p.number("size")<<20, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		_, _ = unix.Poll(nil, 500)
		return errQuiet
	},
}

var lastSent int

func forCount(p params, f func(i int) error) error {
	for i := range p.number("count") {
		if err := f(i); err != nil {
			return broken("%v", err)
		}
	}
	return errQuiet
}

// runChildren starts child processes that do the same concurrently.
func runChildren(p params, act string) error {
	var all []*exec.Cmd
	for range p.number("count") {
		cmd := childOf(act)
		if err := cmd.Start(); err != nil {
			return broken("%v", err)
		}
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			return broken("%v", err)
		}
	}
	return errQuiet
}

func useShared(size int) error {
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err == nil {
		fill(memory)
	}
	return err
}

func mapDeleted(name string, size int) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	if err := errors.Join(os.Remove(name), unix.Ftruncate(fd, int64(size))); err != nil {
		return nil, err
	}
	memory, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	for i := range memory {
		memory[i] = byte(i)
	}
	return memory, unix.Msync(memory, unix.MS_SYNC)
}

// fillMapped fills 4 deleted files of 16 MiB each and waits to be killed.
func fillMapped() error {
	for i := range 4 {
		if _, err := mapDeleted(fmt.Sprintf("f%d", i), 16<<20); err != nil {
			return broken("%v", err)
		}
	}
	awaitKill()
	return errQuiet
}

// withoutFirstThread calls f after the first thread of the process has ended; the kernel shows
// a process to others through that thread. Initialization runs on it.
func withoutFirstThread(f func() error) error {
	go func() {
		for unix.Access(fmt.Sprintf("/proc/self/task/%d/fd/0", os.Getpid()), unix.F_OK) == nil {
			_, _ = unix.Poll(nil, 5)
		}
		if err := f(); !errors.Is(err, errQuiet) {
			fmt.Println(err)
			unix.Exit(brokenCode)
		}
		unix.Exit(0)
	}()
	_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0) // ends only this thread
	return broken("the first thread goes on")
}

// TestContainProcessesExactly checks that a command gets exactly as many processes as the limit,
// counting each thread.
func TestContainProcessesExactly(t *testing.T) {
	eachBackend(t, func(t *testing.T, suite *suite) {
		suite.needsNamespaces(t, "process that the kernel refuses")
		for name, without := range map[string][]policy.Wall{"cgroup": nil, "rlimit": {policy.WallCgroup}} {
			t.Run(name, func(t *testing.T) {
				suite.backend = suite.open(t, suite.policy, without)
				limitTest{
					name: "counted", act: "count processes", limits: policy.Limits{Processes: 16},
					want: run.Succeeded, check: func(t *testing.T, _ *scene, r run.Result) {
						if r.Stdout != "16\n" {
							t.Errorf("%s processes and threads at once, not 16", r.Stdout)
						}
					},
				}.try(t, suite)
			})
		}
	})
}
