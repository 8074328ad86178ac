package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const childVariable = "CORDON_TEST_AUDIT_CHILD"

// writeUntilKilled runs in the child: four writers, and a line on stdout for each record
// that is on disk.
func writeUntilKilled(path string) {
	l, err := Open(Options{Path: path, Sync: time.Microsecond, MaxSize: minSize, Keep: 1000})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	wait := make(chan error)
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				r := sample(i)
				r.ID = fmt.Sprintf("%d-%d-%d", os.Getpid(), w, i)
				if err := l.Record(r); err != nil {
					wait <- err
				}
				if i%3 == 0 {
					if err := l.Flush(context.Background()); err != nil {
						wait <- err
					}
					fmt.Println(r.ID)
				}
			}
		}()
	}
	fmt.Fprintln(os.Stderr, <-wait)
	os.Exit(1)
}

// TestKilled kills the writer with SIGKILL, repeatedly. Everything that Flush confirmed
// is on disk, and the log is intact.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var promised []string
	for round := range 5 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childVariable+"="+path)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range 100 + 37*round {
			if !lines.Scan() {
				t.Fatal("the child ended by itself")
			}
			promised = append(promised, lines.Text())
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			promised = append(promised, lines.Text())
		}
		if err := child.Wait(); err == nil {
			t.Fatal("the child ended well")
		}
		l := open(t, Options{Path: path, MaxSize: minSize, Keep: 1000})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if report := intact(t, path, Check{}); report.Restarts != round+1 {
			t.Errorf("%d restarts after %d kills", report.Restarts, round+1)
		}
	}
	there := ids(t, path)
	slices.Sort(there)
	for _, id := range promised {
		if _, ok := slices.BinarySearch(there, id); !ok {
			t.Errorf("%s was on disk, and is missing", id)
		}
	}
}

// TestTornLine cuts a log at every byte of its last line, and appends garbage. Each time
// the next writer repairs it, loses nothing, and notes the repair.
func TestTornLine(t *testing.T) {
	path := fill(t, Options{}, 2)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	head, err := os.ReadFile(path + headSuffix)
	if err != nil {
		t.Fatal(err)
	}
	tails := [][]byte{make([]byte, 5000), append(make([]byte, 5000), '\n'), []byte("{\"seq\":6,\n"), []byte("x\ny\nz")}
	for end := last + 1; end < len(whole); end += 7 {
		tails = append(tails, whole[last:end])
	}
	for _, tail := range tails {
		// No head is written: after a crash it may be older than the lines, never newer.
		dir := t.TempDir()
		path := filepath.Join(dir, "audit.jsonl")
		before := slices.Concat(whole[:last], tail)
		if err := os.WriteFile(path, before, 0o600); err != nil {
			t.Fatal(err)
		}
		if report := verify(t, path, Check{}); report.Intact() {
			t.Fatalf("%.40q is not a finding", tail)
		}
		fill(t, Options{Path: path}, 1)
		if report := intact(t, path, Check{}); report.Torn != 1 {
			t.Errorf("%.40q: %+v", tail, report)
		}
		torn, err := os.ReadFile(rotatedName(path, 4) + tornSuffix)
		if err != nil || !bytes.Equal(torn, tail) {
			t.Fatalf("%.40q became %.40q, %v", tail, torn, err)
		}
	}

	// The log is cut before the end that the head records: a crash does not do that.
	cut := filepath.Join(t.TempDir(), "audit.jsonl")
	for name, text := range map[string][]byte{cut: whole[:last+20], cut + headSuffix: head} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, Options{Path: cut}, 1)
	if report := verify(t, cut, Check{}); report.Found != 1 || report.Findings[0].Fault != Recorded {
		t.Errorf("%+v", report.Findings)
	}
}

// A crash during a repair overwrites nothing.
func TestTornTwice(t *testing.T) {
	path := fill(t, Options{}, 1)
	appendTo := func(name, text string) {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	torn := rotatedName(path, 4) + tornSuffix
	appendTo(torn, "first")
	appendTo(path, "second")
	fill(t, Options{Path: path}, 1)
	if text, err := os.ReadFile(torn); string(text) != "firstsecond" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if report := intact(t, path, Check{}); report.Torn != 1 {
		t.Errorf("%+v", report)
	}
}

// A crash during a rotation: the old file has its final name, and the new one does not
// exist or is empty. The log notes a restart.
func TestCrashWhileRotating(t *testing.T) {
	for _, empty := range []bool{false, true} {
		l := open(t, Options{})
		if err := errors.Join(l.Record(sample(1)), l.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		for from, to := range map[string]string{l.opts.Path: rotatedName(path, 1), l.opts.Path + headSuffix: path + headSuffix} {
			text, err := os.ReadFile(from)
			if err == nil {
				err = os.WriteFile(to, text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if empty {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		intact(t, path, Check{})
		fill(t, Options{Path: path}, 3)
		if report := intact(t, path, Check{}); report.Files != 2 || report.Torn != 0 || report.Restarts != 1 {
			t.Errorf("%+v", report)
		}
	}
}
