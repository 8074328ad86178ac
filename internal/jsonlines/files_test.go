package jsonlines

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// newFiles returns the files in a directory, and its path.
func newFiles(t *testing.T) (run.Files, string) {
	directory := t.TempDir()
	root, err := os.OpenRoot(directory)
	if err != nil {
		t.Fatal(err)
	}
	d := workdir.New(workdir.OnHost(root, workdir.Self()))
	t.Cleanup(func() { d.Close() })
	return d, directory
}

// withSession returns a client with one open session.
func withSession(t *testing.T, concurrent int, f *fakeSession) *client {
	t.Helper()
	c := serving(t, Fixed{}, concurrent, func(run.SessionOptions) *fakeSession { return f })
	c.send(`{"id": "open", "session": {}}`)
	if a := c.read(); a.Session != "s1" {
		t.Fatalf("%+v", a)
	}
	return c
}

func TestFilesOfSessions(t *testing.T) {
	files, _ := newFiles(t)
	here := filepath.Join(t.TempDir(), "here")
	if err := os.WriteFile(here, []byte("from here"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := withSession(t, 4, &fakeSession{files: files})
	modified := regexp.MustCompile(`"modified":"[^"]+"`)
	for _, tt := range []struct{ order, answer string }{
		{`"file_list": "s1"`, `"files":[]`},
		{`"file_write": {"session": "s1", "name": "a.csv", "text": "1,2"}`, `"file":{"name":"a.csv","bytes":3,"type":"text/csv",_}`},
		{`"file_write": {"session": "s1", "name": "d/b", "base64": "AP8="}`, `"file":{"name":"d/b","bytes":2,"type":"application/octet-stream",_}`},
		{`"file_write": {"session": "s1", "name": "c.txt", "path": ` + fmt.Sprintf("%q", here) + `}`, `"file":{"name":"c.txt","bytes":9,"type":"text/plain",_}`},
		{`"file_write": {"session": "s1", "name": "e", "text": ""}`, `"file":{"name":"e","bytes":0,"type":"application/octet-stream",_}`},
		{`"file_read": {"session": "s1", "name": "d/b"}`, `"file":{"name":"d/b","bytes":2,"type":"application/octet-stream",_,"base64":"AP8="}`},
		{`"file_read": {"session": "s1", "name": "c.txt"}`, `"file":{"name":"c.txt","bytes":9,"type":"text/plain",_,"base64":"ZnJvbSBoZXJl"}`},
		{`"file_read": {"session": "s1", "name": "e"}`, `"file":{"name":"e","bytes":0,"type":"application/octet-stream",_,"base64":""}`},
		{`"file_remove": {"session": "s1", "name": "d"}`, ``},
		{`"file_remove": {"session": "s1", "name": "e"}, "now": true`, ``},
		{`"file_list": "s1"`, `"files":[{"name":"a.csv","bytes":3,"type":"text/csv",_},{"name":"c.txt","bytes":9,"type":"text/plain",_}]`},
	} {
		c.send(`{"id": "x", ` + tt.order + `}`)
		if !c.out.Scan() {
			t.Fatal("no answer")
		}
		want := `{"v":1,"id":"x","status":"ok"`
		if tt.answer != "" {
			want += "," + tt.answer
		}
		if got := modified.ReplaceAllString(c.out.Text(), "_"); got != want+"}" {
			t.Errorf("%s\n%s, want\n%s}", tt.order, got, want)
		}
	}
	c.end()
}

// A step finds what was written before it, and a read after it gets what it left, whether the
// lines are answered one at a time or several at the same time.
func TestFilesHaveTheOrderOfTheirLines(t *testing.T) {
	const count = 100
	for _, concurrent := range []int{1, 8} {
		f := &fakeSession{}
		var directory string
		f.files, directory = newFiles(t)
		f.step = func(_ context.Context, req run.Request) (run.Result, error) {
			given, err := os.ReadFile(filepath.Join(directory, "in"))
			if err == nil {
				err = os.WriteFile(filepath.Join(directory, "out"), append(given, '!'), 0o600)
			}
			return f.finished(req, run.Succeeded, true), err
		}
		c := withSession(t, concurrent, f)
		var lines []string
		for n := range count {
			lines = append(lines,
				fmt.Sprintf(`{"id": "w%d", "file_write": {"session": "s1", "name": "in", "text": "%d"}}`, n, n),
				fmt.Sprintf(`{"id": "s%d", "step": {"session": "s1", "script": "pass"}}`, n),
				fmt.Sprintf(`{"id": "r%d", "file_read": {"session": "s1", "name": "out"}}`, n),
				fmt.Sprintf(`{"id": "d%d", "file_remove": {"session": "s1", "name": "out"}}`, n),
				fmt.Sprintf(`{"id": "l%d", "file_list": "s1"}`, n))
		}
		go c.send(lines...)
		all := c.readAll(len(lines))
		for n := range count {
			read, list := all[fmt.Sprintf("r%d", n)], all[fmt.Sprintf("l%d", n)]
			if read.File == nil || string(read.File.Base64) != fmt.Sprintf("%d!", n) || len(list.Files) != 1 || list.Files[0].Name != "in" {
				t.Fatalf("concurrent %d, line %d: %+v %+v", concurrent, n, read, list)
			}
		}
		c.end()
	}
}

// The running step delays an order for files, unless it says now.
func TestFilesNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, release := &fakeSession{}, make(chan struct{})
		f.files, _ = newFiles(t)
		f.step = func(_ context.Context, req run.Request) (run.Result, error) {
			<-release
			return f.finished(req, run.Succeeded, true), nil
		}
		c := withSession(t, 4, f)
		c.send(`{"id": "step", "step": {"session": "s1", "script": "pass"}}`, `{"id": "waits", "file_list": "s1"}`,
			`{"id": "write", "file_write": {"session": "s1", "name": "a", "text": "x"}, "now": true}`)
		if a := c.read(); a.ID != "write" || a.File == nil || a.File.Name != "a" {
			t.Errorf("%+v", a)
		}
		c.send(`{"id": "read", "file_read": {"session": "s1", "name": "a"}, "now": true}`)
		if a := c.read(); a.ID != "read" || a.File == nil || string(a.File.Base64) != "x" {
			t.Errorf("%+v", a)
		}
		synctest.Wait()
		close(release)
		if all := c.readAll(2); all["step"].Outcome != "succeeded" || len(all["waits"].Files) != 1 {
			t.Errorf("%+v", all)
		}
		c.end()
	})
}

// oneFile has a file, and its functions wait for a channel.
type oneFile struct {
	run.Files
	wait          chan struct{}
	size          policy.Bytes // that it claims
	content       string
	reads, writes int
}

// List lists names that are long as JSON.
func (f *oneFile) List() ([]run.FileInfo, error) {
	info := run.FileInfo{Name: strings.Repeat("\"\u2028", 100), Size: math.MaxInt64, Type: "text/plain", Modified: time.Unix(0, 999999999).UTC(), Kind: run.FileSpecial}
	return slices.Repeat([]run.FileInfo{info}, 100), nil
}

func (f *oneFile) Open(name string) (io.ReadSeekCloser, run.FileInfo, error) {
	return struct {
		io.Reader
		io.Seeker
		io.Closer
	}{Reader: f, Closer: io.NopCloser(nil)}, run.FileInfo{Name: name, Size: f.size}, nil
}

func (f *oneFile) Read(p []byte) (int, error) {
	f.reads++
	n := copy(p, f.content)
	f.content = f.content[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *oneFile) Write(name string, _ io.Reader) (run.FileInfo, error) {
	<-f.wait
	f.writes++
	return run.FileInfo{Name: name}, nil
}

// An interrupt is for the first step, also if the session has a file to write before it. A file
// is written even if the session is closed right after it.
func TestInterruptAndCloseLeaveFilesAlone(t *testing.T) {
	for _, now := range []string{"", `, "now": true`} {
		synctest.Test(t, func(t *testing.T) {
			files := &oneFile{wait: make(chan struct{})}
			f := &fakeSession{files: files}
			f.step = f.untilCanceled
			c := withSession(t, 8, f)
			c.send(`{"id": "write", "file_write": {"session": "s1", "name": "a", "text": ""}`+now+`}`, `{"id": "step", "step": {"session": "s1", "script": "pass"}}`)
			synctest.Wait()
			c.send(`{"interrupt": "s1"}`)
			if a := c.read(); a.ID != "step" || a.Class != "closed" && a.Outcome != "canceled" {
				t.Errorf("%+v", a)
			}
			c.send(`{"id": "close", "close": "s1"}`)
			synctest.Wait()
			if n := f.closed.Load(); n != 0 {
				t.Error("the session was closed while a file was written")
			}
			close(files.wait)
			if all := c.readAll(2); all["write"].Status != "ok" || all["close"].Status != "ok" || files.writes != 1 || f.closed.Load() != 1 {
				t.Errorf("%+v, %d writes", all, files.writes)
			}
			c.end()
		})
	}
}

// No file is read before there is room for it among the answers that the client has not read.
func TestUnreadFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{}
		s.room = sync.NewCond(&s.mu)
		files := &oneFile{size: maxUnsent / 2, content: "short"}
		before := s.reserve(maxUnsent/2 + 1)
		answer := make(chan fileContent)
		go func() {
			a, err := s.readFile(files, "a", "id")
			if err != nil {
				t.Error(err)
			}
			answer <- a
		}()
		synctest.Wait()
		if files.reads != 0 {
			t.Error("it was read before there was room")
		}
		before()
		a := <-answer
		if s.unsent != maxUnsent/2 || string(a.content) != "short" {
			t.Errorf("%d bytes are held for %q", s.unsent, a.content)
		}
		s.hold(a)()
		list, err := s.doFiles(files, order{})
		release := s.hold(list)
		if text, wrong := marshalLine(list, false); err != nil || wrong != nil || s.unsent < int64(len(text)) || s.unsent > 3*int64(len(text)) {
			t.Errorf("%v, %v, %d bytes are held for a list of %d", err, wrong, s.unsent, len(text))
		}
		release()
		if s.unsent != 0 {
			t.Errorf("%d bytes are held", s.unsent)
		}
	})
}

// The size is that of the content, which is no longer than the file was at the beginning.
func TestFileThatChangesWhileItIsRead(t *testing.T) {
	for claimed, want := range map[policy.Bytes]string{3: "con", 100: "content"} {
		c := withSession(t, 4, &fakeSession{files: &oneFile{size: claimed, content: "content"}})
		c.send(`{"id": "a", "file_read": {"session": "s1", "name": "a"}}`)
		if a := c.read(); a.File == nil || a.File.Bytes != len(want) || string(a.File.Base64) != want {
			t.Errorf("%+v", a.File)
		}
		c.end()
	}
}

// A large file is encoded in pieces, and nothing is lost between them.
func TestLargeFile(t *testing.T) {
	content := bytes.Repeat([]byte{0, 1, 255}, small)
	var out strings.Builder
	s := &server{out: &out}
	s.answer(order{}, fileContent{info: run.FileInfo{Name: "a"}, content: content})
	var got answer
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got.File.Name != "a" || !bytes.Equal(got.File.Base64, content) || !strings.HasSuffix(out.String(), "\"}}\n") {
		t.Errorf("%v, %d bytes", err, out.Len())
	}
}

func TestWrongFileLines(t *testing.T) {
	files, directory := newFiles(t)
	if err := os.WriteFile(filepath.Join(directory, "large"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(directory, "large"), run.MaxPayload+1); err != nil {
		t.Fatal(err)
	}
	c := withSession(t, 4, &fakeSession{files: files})
	for _, tt := range []struct{ line, class, field, words string }{
		{`{"file_read": {"session": "s1", "name": "none"}}`, "unknown", "", "none: there is no such file in /work"},
		{`{"file_read": {"session": "s1", "name": "large"}}`, "invalid", "", "the most in an answer is 64MiB"},
		{`{"file_read": {"session": "s1", "name": "../a"}}`, "invalid", "", "below /work"},
		{`{"file_read": {"name": "a"}}`, "invalid", "file_read.session", "missing"},
		{`{"file_read": {"session": "s1", "nme": "a"}}`, "invalid", "file_read.nme", "unknown field"},
		{`{"file_read": "s1"}`, "invalid", "file_read", "expected an object"},
		{`{"file_read": {"session": "s2", "name": "a"}}`, "unknown", "", `no session has the id "s2"`},
		{`{"file_write": {"session": "s1", "name": "../a", "text": ""}}`, "invalid", "", "below /work"},
		{`{"file_write": {"session": "s1", "name": "a"}}`, "invalid", "file_write", "needs one of text, base64 and path"},
		{`{"file_write": {"session": "s1", "name": "a", "text": "", "base64": ""}}`, "invalid", "file_write", "has 2 of them"},
		{`{"file_write": {"session": "s1", "name": "a", "base64": "?"}}`, "invalid", "file_write.base64", "not base64"},
		{`{"file_write": {"session": "s1", "name": "a", "path": "/none"}}`, "invalid", "file_write.path", "/none does not exist"},
		{`{"file_write": {"session": "s1", "name": "a", "path": "/dev/zero"}}`, "invalid", "file_write.path", "is not a file"},
		{`{"file_write": {"name": "a", "text": ""}}`, "invalid", "file_write.session", "missing"},
		{`{"file_write": null}`, "invalid", "file_write", "needs one of text, base64 and path"},
		{`{"file_remove": {"session": "s1", "name": "none"}}`, "unknown", "", "no such file"},
		{`{"file_remove": {"session": "s1", "name": "."}}`, "invalid", "", "below /work"},
		{`{"file_remove": null}`, "invalid", "file_remove.session", "missing"},
		{`{"file_list": {"session": "s1"}}`, "invalid", "file_list", "expected a string"},
		{`{"file_list": "1"}`, "unknown", "", "no session"},
		{`{"file_list": "s1", "limits": {"memory": "1MiB"}}`, "invalid", "file_list", "has fields of a run beside it: leave them out"},
		{`{"file_list": "s1", "file_remove": {"session": "s1", "name": "a"}}`, "invalid", "", "one thing"},
		{`{"file_list": "s1", "script": "pass"}`, "invalid", "", "one thing"},
		{`{"step": {"session": "s1", "script": "pass"}, "now": true}`, "invalid", "now", "is for the orders of files"},
		{`{"close": "s1", "now": true}`, "invalid", "now", "is for the orders of files"},
	} {
		c.send(tt.line)
		if a := c.read(); a.Class != tt.class || a.Field != tt.field || !strings.Contains(a.Error, tt.words) {
			t.Errorf("%s: %+v", tt.line, a)
		}
	}
	c.end()
}

// closedFiles belong to a session that has ended by itself.
type closedFiles struct{ run.Files }

func (closedFiles) List() ([]run.FileInfo, error) {
	return nil, run.Errorf(run.Gone, "the session has ended")
}

// Later uses of a session learn that it has ended, and it does not count as open.
func TestFilesOfEndedSession(t *testing.T) {
	f := &fakeSession{files: closedFiles{}}
	c := withSession(t, 4, f)
	for _, line := range []string{`{"id": "a", "file_list": "s1"}`, `{"id": "b", "step": {"session": "s1", "script": "pass"}}`, `{"id": "c", "file_list": "s1"}`} {
		c.send(line)
		if a := c.read(); a.Class != "gone" || !strings.Contains(a.Error, "the session has ended") {
			t.Errorf("%s: %+v", line, a)
		}
	}
	c.end()
	if n := f.closed.Load(); n != 1 {
		t.Errorf("closed %d times", n)
	}
}

func TestSessionWithoutFiles(t *testing.T) {
	c := withSession(t, 4, &fakeSession{})
	c.send(`{"id": "a", "file_list": "s1"}`)
	if a := c.read(); a.Class != "unsupported" || a.Error != "it has no files" {
		t.Errorf("%+v", a)
	}
	c.end()
}
