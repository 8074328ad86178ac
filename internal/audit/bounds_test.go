package audit

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/text"
)

// A hundred thousand records take no more memory than a thousand.
func TestMemoryIsBounded(t *testing.T) {
	hosttest.Slow(t, "many records")
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	l := open(t, Options{Path: path, Buffer: 1 << 20, Keep: 100, MaxSize: 16 << 20})
	r := sample(0)
	var m runtime.MemStats
	highest := func() uint64 {
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := highest()
	for i := range 100_000 {
		r.ID = fmt.Sprint("r", i)
		if err := l.Record(r); err != nil {
			t.Fatal(err)
		}
		if i%20_000 == 0 {
			if grown := highest() - min(before, m.HeapAlloc); grown > 16<<20 {
				t.Fatalf("writing: %d bytes after %d records", grown, i)
			}
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var stats Stats
	seen := 0
	for e, err := range Read(path, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		stats.Add(e.Record)
		if seen++; seen%20_000 == 0 {
			if grown := highest() - min(before, m.HeapAlloc); grown > 4<<20 {
				t.Fatalf("reading: %d bytes after %d records", grown, seen)
			}
		}
	}
	if seen != 100_000 || stats.Runs != 100_000 {
		t.Errorf("%d records, %d runs", seen, stats.Runs)
	}
	runtime.ReadMemStats(&m)
	allocated := m.TotalAlloc
	intact(t, path, Check{})
	runtime.ReadMemStats(&m)
	if perLine := (m.TotalAlloc - allocated) / 100_000; perLine > 1024 {
		t.Errorf("verify allocates %d bytes a line", perLine)
	}
	if grown := highest() - min(before, m.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d bytes were not freed", grown)
	}
}

// seedLog returns a small intact log and its head.
func seedLog(f *testing.F) (text, head []byte) {
	f.Helper()
	path := filepath.Join(f.TempDir(), active)
	l, err := Open(Options{Path: path, Sync: 1})
	if err != nil {
		f.Fatal(err)
	}
	for i := range 2 {
		if err := l.Record(sample(i)); err != nil {
			f.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	files := load(f, path)
	return files[active], files[active+headSuffix]
}

// FuzzVerify checks that Verify, with a known head, finds every change of the log.
func FuzzVerify(f *testing.F) {
	good, headLine := seedLog(f)
	head, _ := parseHead(string(headLine))
	f.Add(good)
	f.Add(join(lines(good)[1:]...))
	f.Add([]byte("{\"seq\":18446744073709551615,\"prev\":\"" + noPrev + "\",\"note\":{\"event\":\"lost\"},\"hash\":\"" + noPrev + "\"}\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		v := verifier{seal: newSealer(nil), check: Check{Head: head.Hash}}
		v.report.HeadGiven = true
		err := v.file(bytes.NewReader(log), active, 0, true)
		v.end()
		report := v.report
		if err == nil && report.Intact() != bytes.Equal(log, good) {
			t.Errorf("%+v", report)
		}
		if report.Found < len(report.Findings) || report.Found > 0 && len(report.Findings) == 0 {
			t.Errorf("%+v", report)
		}
		readPart(bytes.NewReader(log), active, Filter{}, func(e Entry, err error) bool {
			if err == nil && text.Line(e.ID+e.Caller) == "" && e.ID+e.Caller != "" {
				t.Errorf("%q prints as an empty text", e.ID)
			}
			return true
		})
	})
}

// FuzzOpen checks that a writer either refuses the files that it finds, or continues the
// log so that every later line is valid.
func FuzzOpen(f *testing.F) {
	good, head := seedLog(f)
	f.Add(good, head)
	f.Add(good[:len(good)-9], head)
	f.Add([]byte("{"), bytes.Repeat([]byte("0"), headSize+1))
	f.Fuzz(func(t *testing.T, text, head []byte) {
		path := logFiles{active: text, active + headSuffix: head}.put(t, filepath.Join(t.TempDir(), "log"))
		for _, err := range Last(t.Context(), path, 2, false) {
			if err != nil && !errors.Is(err, ErrLine) {
				t.Error(err)
			}
		}
		l, err := Open(Options{Path: path, Sync: 1})
		if err != nil {
			return
		}
		before := l.Health().Head
		if err := l.Record(sample(0)); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		after := verify(t, path, Check{})
		if after.Head != l.Health().Head || after.Head.Seq != before.Seq+2 {
			t.Errorf("%v became %v, %+v", before, after.Head, after)
		}
	})
}
