package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// given are the arguments of a tool.
type given map[string]any

// requestLine is a request of any method.
func requestLine(id int, method string, params any) string {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return err.Error()
	}
	return string(line)
}

func toolLine(id int, name string, arguments given) string {
	return requestLine(id, "tools/call", map[string]any{"name": name, "arguments": arguments})
}

// called is the answer of a tool.
type called struct {
	IsError bool
	Content []struct {
		Type, Text, Data, MIMEType string
		Resource                   struct{ URI, MIMEType, Text, Blob string }
	}
	StructuredContent json.RawMessage
}

// asking is a client that calls a tool.
type asking func(tool string, arguments given) called

func (c *stdioClient) asking(t *testing.T) asking {
	c.steps(t) // begins
	return func(tool string, arguments given) called {
		t.Helper()
		return calledIn(t, c.ask(t, toolLine(7, tool, arguments)).Result)
	}
}

func (w *web) asking(t *testing.T) asking {
	return func(tool string, arguments given) called {
		t.Helper()
		line := toolLine(7, tool, arguments)
		if w.headers["Mcp-Protocol-Version"] == "2026-07-28" {
			w.headers["Mcp-Name"] = tool
			line = newestOf(line)
		}
		_, body := w.roundTrip(t, http.MethodPost, "/mcp", line)
		return calledIn(t, answerIn(t, body)["result"])
	}
}

func calledIn(t *testing.T, result any) (got called) {
	t.Helper()
	text, err := json.Marshal(result)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || len(got.Content) == 0 {
		t.Fatalf("%v in %s", err, text)
	}
	return got
}

// remark is the last part of an answer, which is cordon's.
func (c called) remark() string { return c.Content[len(c.Content)-1].Text }

// parts describes the other parts.
func (c called) parts() string {
	var all []string
	for _, part := range c.Content[:len(c.Content)-1] {
		switch r := part.Resource; {
		case part.Type == "text":
			all = append(all, fmt.Sprintf("text %q", part.Text))
		case part.Type == "image":
			all = append(all, fmt.Sprintf("%s %d", part.MIMEType, len(part.Data)))
		case r.Blob != "":
			all = append(all, fmt.Sprintf("%s %s blob %d", r.URI, r.MIMEType, len(r.Blob)))
		default:
			all = append(all, fmt.Sprintf("%s %s text %q", r.URI, r.MIMEType, r.Text))
		}
	}
	return strings.Join(all, "|")
}

func (a asking) want(t *testing.T, tool string, arguments given, parts, remark string) {
	t.Helper()
	if got := a(tool, arguments); got.parts() != parts || !strings.Contains(got.remark(), remark) {
		t.Errorf("%s %.200v gives %.300s and %q, want %.300s and %q", tool, arguments, got.parts(), got.remark(), parts, remark)
	}
}

// inWork changes the /work of the only open session as its guest could.
func inWork(t *testing.T, s *mcpserver.Server, who token.Caller, do func(directory string)) {
	t.Helper()
	open := s.Service.Sessions(who)
	if len(open) != 1 {
		t.Fatalf("%d sessions are open", len(open))
	}
	mark := fmt.Sprintf("mark-%d", time.Now().UnixNano())
	err := s.Service.InFiles(who, open[0].ID, func(files run.Files) error {
		_, err := files.Write(mark, strings.NewReader(""))
		return err
	})
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), "work*", mark))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %q", err, found)
	}
	if err := os.Remove(found[0]); err != nil {
		t.Fatal(err)
	}
	do(filepath.Dir(found[0]))
}
