package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/run"
)

// flaky is a disk that fails on demand.
type flaky struct {
	write, sync, truncate atomic.Bool
	syncs                 atomic.Int64
}

type flakyFile struct {
	*os.File
	disk *flaky
}

func (d *flaky) wrap(f *os.File) file { return &flakyFile{f, d} }

func (f *flakyFile) Write(b []byte) (int, error) {
	if !f.disk.write.Load() {
		return f.File.Write(b)
	}
	n, err := f.File.Write(b[:len(b)/2]) // a disk that gets full writes a part
	if err != nil {
		return n, err
	}
	return n, syscall.ENOSPC
}

func (f *flakyFile) Sync() error {
	f.disk.syncs.Add(1)
	if f.disk.sync.Load() {
		return syscall.EIO
	}
	return f.File.Sync()
}

func (f *flakyFile) Truncate(size int64) error {
	if f.disk.truncate.Load() {
		return syscall.EIO
	}
	return f.File.Truncate(size)
}

// errorRecorder collects the errors that OnError receives.
type errorRecorder struct {
	mu   sync.Mutex
	errs []error
}

func (r *errorRecorder) record(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// count returns how many of the errors match target.
func (r *errorRecorder) count(target error) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, err := range r.errs {
		if errors.Is(err, target) {
			n++
		}
	}
	return n
}

// A disk that fails for a while loses no records, and the failure is reported.
func TestDiskFails(t *testing.T) {
	for name, fail := range map[string]func(*flaky, bool){
		"no room":                      func(d *flaky, on bool) { d.write.Store(on) },
		"no fsync":                     func(d *flaky, on bool) { d.sync.Store(on) },
		"no room and no way back":      func(d *flaky, on bool) { d.write.Store(on); d.truncate.Store(on) },
		"no fsync, and no way back":    func(d *flaky, on bool) { d.sync.Store(on); d.truncate.Store(on) },
		"nothing is wrong, to compare": func(*flaky, bool) {},
	} {
		t.Run(name, func(t *testing.T) {
			disk, reported := &flaky{}, &errorRecorder{}
			l := open(t, Options{FailClosed: true, OnError: reported.record, wrap: disk.wrap, retry: time.Millisecond})
			if err := errors.Join(l.Record(sample(0)), l.Flush(t.Context()), l.Admit()); err != nil {
				t.Fatal(err)
			}
			fail(disk, true)
			if err := l.Record(sample(1)); err != nil {
				t.Fatal(err)
			}
			err := l.Flush(t.Context())
			if strings.HasPrefix(name, "nothing") {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || run.ClassOf(l.Admit()) != run.Unsupported {
				t.Fatalf("flushed: %v; admitted: %v", err, l.Admit())
			}
			if h := l.Health(); h.Failures == 0 || h.Waiting != 1 || h.Err == nil || h.Dropped != 0 {
				t.Errorf("%+v", h)
			}
			if reported.count(syscall.ENOSPC)+reported.count(syscall.EIO) == 0 {
				t.Error("OnError was not called")
			}
			fail(disk, false)
			for l.Flush(t.Context()) != nil { // the writer retries by itself
				select {
				case <-t.Context().Done():
					t.Fatal("it does not get better")
				default:
				}
			}
			if err := errors.Join(l.Admit(), l.Record(sample(2)), l.Close()); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(ids(t, l.opts.Path), " "); got != "r0 r1 r2" {
				t.Error(got)
			}
			intact(t, l.opts.Path, Check{})
		})
	}
}

// A record that has no room is dropped: Record returns an error, the drop is counted, and
// the log notes it once it can be written again.
func TestDroppedIsNoted(t *testing.T) {
	disk, reported := &flaky{}, &errorRecorder{}
	l := open(t, Options{Buffer: 4096, OnError: reported.record, wrap: disk.wrap, retry: time.Millisecond})
	disk.write.Store(true)
	dropped := 0
	for range 50 {
		if err := l.Record(sample(0)); err != nil {
			dropped++
		}
	}
	if dropped == 0 || l.Health().Dropped != uint64(dropped) || reported.count(syscall.ENOSPC) < dropped {
		t.Fatalf("%d dropped, %+v, %d reported", dropped, l.Health(), reported.count(syscall.ENOSPC))
	}
	if l.Admit() != nil {
		t.Error("Admit refused a run without FailClosed")
	}
	disk.write.Store(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	report := verify(t, l.opts.Path, Check{})
	if report.Found != 1 || report.Findings[0].Fault != Recorded {
		t.Errorf("%+v", report.Findings)
	}
	if got := len(ids(t, l.opts.Path)); got != 50-dropped {
		t.Errorf("%d in the log, %d dropped", got, dropped)
	}
}

// Close tries once more, even if the disk failed a moment before.
func TestCloseDuringAFailure(t *testing.T) {
	disk, result := &flaky{}, make(chan error, 1)
	var l *Log
	l = open(t, Options{wrap: disk.wrap, OnError: func(error) { // the writer is still in its attempt
		disk.write.Store(false)
		go func() { result <- l.Close() }()
		<-l.closed
	}})
	disk.write.Store(true)
	if err := l.Record(sample(0)); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(ids(t, l.opts.Path), " "); got != "r0" {
		t.Error(got)
	}
	intact(t, l.opts.Path, Check{})
}

func TestCloseSaysWhatIsLost(t *testing.T) {
	disk, reported := &flaky{}, &errorRecorder{}
	l := open(t, Options{OnError: reported.record, wrap: disk.wrap})
	disk.write.Store(true)
	if err := l.Record(sample(0)); err != nil {
		t.Fatal(err)
	}
	err := l.Close()
	if err == nil || !strings.Contains(err.Error(), "1 records are lost") || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
	intact(t, l.opts.Path, Check{})
}

// A real file system that is full.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if os.Geteuid() != 0 {
		hosttest.Lacks(t, "root, to mount a small disk")
	}
	if err := mountSmall(dir); err != nil {
		hosttest.Lacks(t, "a small disk: %v", err)
	}
	t.Cleanup(func() { unmount(t, dir) })
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 900<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	reported := &errorRecorder{}
	l := open(t, Options{Path: filepath.Join(dir, "audit.jsonl"), OnError: reported.record, retry: time.Millisecond})
	recorded := 0
	// Write more than fits beside the ballast, and less than fits without it.
	for reported.count(syscall.ENOSPC) == 0 && recorded < 1000 {
		if err := l.Record(sample(recorded)); err != nil {
			break
		}
		recorded++
	}
	if err := l.Flush(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("%d recorded on a full disk: %v", recorded, err)
	}
	if reported.count(syscall.ENOSPC) == 0 || recorded < 50 {
		t.Fatalf("%d recorded, %+v", recorded, l.Health())
	}
	intact(t, l.opts.Path, Check{}) // there is no partial line while the writer waits
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	intact(t, l.opts.Path, Check{})
	if got := len(ids(t, l.opts.Path)); got != recorded {
		t.Errorf("%d of %d", got, recorded)
	}
}

// Another program moves the file away, as log rotators do.
func TestMovedFile(t *testing.T) {
	reported := &errorRecorder{}
	l := open(t, Options{OnError: reported.record})
	path := l.opts.Path
	if err := errors.Join(l.Record(sample(0)), l.Flush(t.Context()), os.Rename(path, path+".away"), l.Record(sample(1)), l.Close()); err != nil {
		t.Fatal(err)
	}
	if len(reported.errs) != 1 || !strings.Contains(reported.errs[0].Error(), "was moved or removed") {
		t.Errorf("%v", reported.errs)
	}
	report := verify(t, path, Check{})
	if report.Found != 1 || report.Findings[0].Fault != Missing {
		t.Errorf("%+v", report.Findings)
	}
	if err := os.Rename(path+".away", rotatedName(path, 1)); err != nil {
		t.Fatal(err)
	}
	intact(t, path, Check{})
}
