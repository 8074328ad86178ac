package scratch

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// heap returns the memory in use.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// Whatever a guest does, the host uses no more memory than is counted, with a tolerance of a
// third.
func TestCountIsAtLeastTheMemory(t *testing.T) {
	hosttest.NotUnderRace(t, "it has one thread and much to do")
	const size = 16 << 20
	long := func(i int) string { return fmt.Sprintf("%0255d", i) }
	until := func(do func(i int) sys.Errno) {
		i := 0
		for do(i) == 0 {
			i++
		}
	}
	write := func(f *FS, name string, off int64, buf []byte) sys.Errno {
		file, errno := f.OpenFile(name, creates, 0)
		if errno == 0 {
			_, errno = file.Pwrite(buf, off)
			file.Close()
		}
		return errno
	}
	one, much := []byte("x"), make([]byte, 1<<20)
	far := strings.Repeat("./", 500) // not part of the stored name
	for name, fill := range map[string]func(f *FS){
		"empty files":       func(f *FS) { until(func(i int) sys.Errno { return write(f, long(i), 0, nil) }) },
		"directories":       func(f *FS) { until(func(i int) sys.Errno { return f.Mkdir(long(i), 0) }) },
		"small files":       func(f *FS) { until(func(i int) sys.Errno { return write(f, long(i), 0, one) }) },
		"a large file":      func(f *FS) { until(func(i int) sys.Errno { return write(f, "f", int64(i)<<20, much) }) },
		"a file with holes": func(f *FS) { until(func(i int) sys.Errno { return write(f, "f", int64(i)<<40, one) }) },
		"links":             func(f *FS) { until(func(i int) sys.Errno { return f.Symlink("x", long(i)) }) },
		"links with a text": func(f *FS) { until(func(i int) sys.Errno { return f.Symlink(strings.Repeat("x", 4095), long(i)) }) },
		"directories with a file": func(f *FS) {
			until(func(i int) sys.Errno {
				if errno := f.Mkdir(long(i), 0); errno != 0 {
					return errno
				}
				return write(f, long(i)+"/"+long(i), 0, nil)
			})
		},
		"directories that were full": func(f *FS) {
			for i := range 20 {
				directory := fmt.Sprint("d", i)
				ignoreErrno(f.Mkdir(directory, 0))
				until(func(j int) sys.Errno { return write(f, directory+"/"+long(j), 0, nil) })
				until(func(j int) sys.Errno { return f.Unlink(directory + "/" + long(j+5)) })
			}
		},
		"files that were full": func(f *FS) {
			for i := range 300 {
				name := fmt.Sprint("f", i)
				until(func(j int) sys.Errno { return write(f, name, int64(j)<<20, much) })
				file, _ := f.OpenFile(name, writes, 0)
				ignoreErrno(file.Truncate(1))
				file.Close()
			}
		},
		"files of long paths": func(f *FS) {
			until(func(i int) sys.Errno { return write(f, far+fmt.Sprint(i), 0, nil) })
		},
		"names that were moved by long paths": func(f *FS) {
			until(func(i int) sys.Errno {
				if errno := write(f, "f", 0, nil); errno != 0 {
					return errno
				}
				return f.Rename("f", far+fmt.Sprint(i))
			})
		},
		"links by long paths": func(f *FS) {
			ignoreErrno(write(f, "f", 0, nil))
			until(func(i int) sys.Errno { return f.Link("f", far+fmt.Sprint(i)) })
		},
		"pages, and then some names": func(f *FS) {
			until(func(i int) sys.Errno { return write(f, "f", int64(i)<<20, much) })
			ignoreErrno(f.Unlink("f"))
			for i := 0; f.Used() < size*3/4; i++ {
				ignoreErrno(f.Mkdir(long(i), 0))
			}
		},
		"pages, and then names": func(f *FS) {
			until(func(i int) sys.Errno { return write(f, "f", int64(i)<<20, much) })
			ignoreErrno(f.Unlink("f"))
			until(func(i int) sys.Errno { return f.Mkdir(long(i), 0) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := heap()
			f := New(Limits{Files: openFileLimit(1000)})
			f.Allow(size)
			fill(f)
			grown := heap() - before
			t.Logf("%d KiB for %d KiB", grown>>10, f.Used()>>10)
			if grown > size*4/3 {
				t.Errorf("%d bytes of memory for a size of %d", grown, size)
			}
			runtime.KeepAlive(f)
			f = nil
			if left := heap() - before; left > 1<<20 {
				t.Errorf("%d bytes are left", left)
			}
		})
	}
}

// After the size is lowered, no spare pages are kept beyond it.
func TestSparePagesAreDroppedWhenTheSizeIsLowered(t *testing.T) {
	w := newWorld(t, 64*pageSize)
	f := w.must("f", creates)
	_, errno := f.Write(make([]byte, 32*pageSize))
	check(t, "write", errno, 0)
	check(t, "truncate", f.Truncate(0), 0)
	for _, size := range []int64{64 * pageSize, 8 * pageSize, EntryCost} {
		w.Allow(size)
		if most := size / pageSize; int64(len(w.spare)) > most {
			t.Errorf("%d pages are kept for a size of %d", len(w.spare), size)
		}
	}
}

// The FS needs no Close.
func TestUnreferencedFSIsCollected(t *testing.T) {
	f := New(Limits{Files: openFileLimit(1000)})
	f.Allow(plenty)
	file, errno := f.OpenFile("f", creates, 0)
	check(t, "open", errno, 0)
	_, errno = file.Write(make([]byte, 1<<20))
	check(t, "write", errno, 0)
	pointer := weak.Make(f)
	runtime.KeepAlive(file)
	runtime.GC()
	runtime.GC()
	if pointer.Value() != nil {
		t.Error("somebody has it still")
	}
}

// wazero runs one thread of a guest at a time, but the FS is safe without that.
func TestHammer(t *testing.T) {
	w := newWorld(t, 64*pageSize)
	w.limits.Now, w.limits.Exceeded = nil, nil
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			random := byte(i)
			data := make([]byte, 20000)
			for j := range data {
				random = random*167 + byte(j>>5) + 13
				data[j] = random
			}
			p := play{data: data, fs: []sys.FS{w.FS}}
			for len(p.data) > 0 {
				p.step(t)
			}
			for i := range p.handles {
				p.close(t, &p.handles[i])
			}
		})
	}
	group.Wait()
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	var f *FS
	for b.Loop() {
		f = New(Limits{Guest: "/tmp"})
		f.Allow(plenty)
	}
	runtime.KeepAlive(f)
}

func BenchmarkRewrite(b *testing.B) {
	f := New(Limits{Files: openFileLimit(1000)})
	f.Allow(plenty)
	text := make([]byte, 1<<20)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		file, errno := f.OpenFile("f", creates|sys.O_TRUNC, 0)
		if errno == 0 {
			_, errno = file.Write(text)
			file.Close()
		}
		if errno != 0 {
			b.Fatal(errno)
		}
	}
}
