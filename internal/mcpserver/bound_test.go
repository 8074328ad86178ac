package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// An answer is bounded, whatever the guest leaves, and notes describe what was cut.
func TestAnswersAreBounded(t *testing.T) {
	long := json.RawMessage(`"` + strings.Repeat("é", 10<<20) + `"`)
	r := run.Result{
		Status: run.StatusOK, Outcome: run.Succeeded, Value: long, Stdout: strings.Repeat("ü", 8<<20), Stderr: strings.Repeat("x", 8<<20),
		Variables: map[string]json.RawMessage{"a": long, "b": long, "c": json.RawMessage("1")},
		Exception: &run.Exception{Type: "E", Message: "m", Traceback: "t"},
	}
	got := runAnswer(r, run.Request{}, service.Info{Limits: policy.DefaultLimits(), Maxima: policy.DefaultMaxima()}, "")
	text, err := json.Marshal(got)
	if err != nil || len(text) > 2<<20 {
		t.Fatalf("%v, %d bytes", err, len(text))
	}
	var a struct {
		Result         cutValue
		Variables      map[string]any
		Stdout, Stderr string
		OutCut         bool `json:"stdout_truncated"`
		ErrCut         bool `json:"stderr_truncated"`
	}
	if err := json.Unmarshal(got.StructuredContent.(json.RawMessage), &a); err != nil {
		t.Fatal(err)
	}
	if a.Result.Size != len(long) || !strings.HasPrefix(a.Result.Start, `"éé`) || len(a.Result.Start) > keptStart || strings.ContainsRune(a.Result.Start, '\uFFFD') {
		t.Errorf("%.60s, %d", a.Result.Start, a.Result.Size)
	}
	if len(a.Stdout) > maxStream || len(a.Stderr) > maxStream || !a.OutCut || !a.ErrCut {
		t.Errorf("%d and %d bytes, %v %v", len(a.Stdout), len(a.Stderr), a.OutCut, a.ErrCut)
	}
	if a.Variables["c"] != 1.0 {
		t.Errorf("c is %v", a.Variables["c"])
	}
	words := got.Content[len(got.Content)-1].(*mcp.TextContent).Text
	for _, want := range []string{
		"result is cut: it has 20971522 bytes, and an answer holds 262144.", "a is cut: it has 20971522 bytes", "b is cut",
		"stdout is cut: it has 16777216 bytes", "stderr is cut: it has 8388608 bytes",
	} {
		if !strings.Contains(words, want) {
			t.Errorf("there is no note %q", want)
		}
	}
	if _, notes := bounded(run.Result{Value: json.RawMessage("1"), Stdout: "x"}); notes != nil {
		t.Errorf("a small answer: %q", notes)
	}
}

// For a client that does not read standard output, the server holds answers up to the
// budget, and small errors in place of the others.
func TestStdioHoldsNoMoreThanItsBudget(t *testing.T) {
	answers := admission.NewAnswers(admission.AnswerOptions{PerCaller: policy.MiB})
	release, err := answers.Hold(token.Local.Name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var out strings.Builder
	s := &stdio{out: nopCloser{&out}, answers: answers}
	id, err := jsonrpc.MakeID("a")
	if err != nil {
		t.Fatal(err)
	}
	large := &jsonrpc.Response{ID: id, Result: json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`)}
	if err := s.Write(context.Background(), large); err != nil || out.Len() > 1000 || !strings.Contains(out.String(), "unread answers of") || !strings.Contains(out.String(), `"id":"a"`) {
		t.Errorf("%v, %.300s", err, out.String())
	}
	release()
	out.Reset()
	if err := s.Write(context.Background(), large); err != nil || out.Len() < 100<<10 || answers.Unsent() != 0 {
		t.Errorf("%v, %d bytes, %d held", err, out.Len(), answers.Unsent())
	}
}

// A request about files waits for its turn, and gives up after a minute or with its caller.
func TestRequestsAboutFilesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &frontend{filesInUse: make(chan struct{}, 1)}
		request, sent := context.WithCancel(t.Context())
		if err := d.enterFiles(request, request); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := d.enterFiles(t.Context(), t.Context()); run.ClassOf(err) != run.Busy || time.Since(began) != maxWait {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.enterFiles(gone, t.Context()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		for _, tool := range fileTools(d) {
			if got := tool.call(gone, call{sending: t.Context()}, arguments{}); !got.IsError {
				t.Errorf("%s does not wait", tool.name)
			}
		}
		sent()
		if err := d.enterFiles(t.Context(), request); err != nil {
			t.Error(err)
		}
	})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
