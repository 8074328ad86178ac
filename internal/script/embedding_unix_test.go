//go:build unix

package script_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// lifetime bounds an interpreter that sends nothing any more.
const lifetime = 2 * time.Minute

// image is how an interpreter is started.
type image struct {
	preload     []string
	language    *policy.Language
	bare        bool // without what WASI lacks, as on WASI
	withoutWASI bool // has threads, sockets and programs, and is configured not to use them
}

// standard returns the rules of restricted scripts.
func standard() *policy.Language {
	allowed := policy.Policy{}.Resolved().Allowed(policy.LanguageStandard)
	return &allowed
}

func (i image) config(t *testing.T) []byte {
	t.Helper()
	var rules any
	if i.language != nil {
		rules = map[string]any{"modules": i.language.Modules, "builtins": i.language.Builtins, "source": language.Source()}
	}
	config, err := wire.AppendValue(nil, map[string]any{"preload": i.preload, "language": rules, "wasi": i.withoutWASI})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// call is one frame. The zero values fit most scripts.
type call struct {
	kind, script, name string
	context            any
	variables          []string
	restricted         bool
	tools              []string
	session            bool
	code               []byte
	ask                bool
}

func (c call) frame(t *testing.T, first bool) []byte {
	t.Helper()
	if c.kind == "" {
		c.kind = "run"
	}
	if c.name == "" {
		c.name = "<script>"
	}
	frame, err := wire.AppendList(nil,
		wire.Field{Name: "kind", Value: c.kind},
		wire.Field{Name: "script", Value: c.script},
		wire.Field{Name: "name", Value: c.name},
		wire.Field{Name: "context", Value: c.context},
		wire.Field{Name: "variables", Value: c.variables},
		wire.Field{Name: "args", Value: []string{}},
		wire.Field{Name: "restricted", Value: c.restricted},
		wire.Field{Name: "tools", Value: c.tools},
		wire.Field{Name: "session", Value: c.session},
		wire.Field{Name: "fresh", Value: first},
		wire.Field{Name: "work", Value: ""},
		wire.Field{Name: "code", Value: c.code},
		wire.Field{Name: "ask", Value: c.ask},
		wire.Field{Name: "most", Value: wire.MaxReport(policy.DefaultLimits())},
	)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// answer is the outcome of a call.
type answer struct {
	run.Result
	report    wire.Dict
	questions []string
	problem   string // set if handle raised
}

// embedding is an interpreter that plays CPython on WebAssembly; see
// testdata/embedding.py.
type embedding struct {
	t         *testing.T
	to        io.Writer
	from      *bufio.Reader
	directory string
	config    []byte
}

// embed starts an interpreter. problem says why it failed.
func embed(t *testing.T, i image) (e *embedding, problem string) {
	t.Helper()
	python, err := interpreter.Find(interpreter.Search{})
	if err != nil {
		t.Fatal(err)
	}
	e = &embedding{t: t, directory: t.TempDir(), config: i.config(t)}
	source := filepath.Join(e.directory, "source.py")
	if err := os.WriteFile(source, []byte(script.WasmSource()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-I", "-S", "-B", "-X", "utf8", "testdata/embedding.py", source, e.directory}
	if i.bare {
		args = append(args, "bare")
	}
	theirs, ours := pipe(t), pipe(t)
	// The test's own context ends before its cleanup.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), lifetime)
	cmd := exec.CommandContext(ctx, python.Path, args...)
	cmd.ExtraFiles = []*os.File{theirs.r, ours.w}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	theirs.r.Close()
	ours.w.Close()
	t.Cleanup(func() {
		theirs.w.Close() // ends the interpreter
		if err := cmd.Wait(); err != nil && problem == "" {
			t.Error(err)
		}
		cancel()
	})
	e.to, e.from = theirs.w, bufio.NewReader(ours.r)
	kind, payload := e.receive(nil)
	if kind == 'X' {
		return e, string(payload)
	}
	return e, ""
}

// open is embed for tests that expect no problem.
func open(t *testing.T, i image) *embedding {
	t.Helper()
	e, problem := embed(t, i)
	if problem != "" {
		t.Fatal(problem)
	}
	return e
}

type ends struct{ r, w *os.File }

func pipe(t *testing.T) ends {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return ends{r, w}
}

func (e *embedding) send(payload []byte) {
	if _, err := e.to.Write(wire.AppendFrame(nil, 'A', payload)); err != nil {
		e.t.Fatal(err)
	}
}

// receive returns the interpreter's next message. Questions are answered and recorded.
func (e *embedding) receive(questions *[]string) (kind byte, payload []byte) {
	for {
		header := make([]byte, 5)
		if _, err := io.ReadFull(e.from, header); err != nil {
			e.t.Fatalf("the interpreter has ended: %v", err)
		}
		payload = make([]byte, binary.LittleEndian.Uint32(header[1:]))
		if _, err := io.ReadFull(e.from, payload); err != nil {
			e.t.Fatal(err)
		}
		if header[0] != 'Q' {
			return header[0], payload
		}
		if questions == nil && string(payload) == "boot" {
			e.send(e.config)
			continue
		}
		*questions = append(*questions, string(payload))
		e.send(answerTool(payload))
	}
}

// run sends the calls to one guest, one after another.
func (e *embedding) run(t *testing.T, calls ...call) []answer {
	t.Helper()
	e.send([]byte(strconv.Itoa(len(calls))))
	var answers []answer
	for i, c := range calls {
		var a answer
		e.send(c.frame(t, i == 0))
		kind, payload := e.receive(&a.questions)
		if kind == 'X' {
			a.problem = string(payload)
		} else {
			dict, err := wire.DecodeDict(payload)
			if err != nil {
				report.Malformed(&a.Result, err, policy.DefaultLimits())
			} else {
				report.Read(&a.Result, dict, report.Run{Limits: policy.DefaultLimits(), Restricted: true})
			}
			a.report = dict
		}
		a.Stdout, a.Stderr = e.printed(t, "stdout"), e.printed(t, "stderr")
		answers = append(answers, a)
	}
	return answers
}

func (e *embedding) printed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.directory, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answerTool is the host's side of the tools in these tests.
func answerTool(question []byte) []byte {
	var asked struct {
		Tool   string
		Args   []json.RawMessage
		Kwargs map[string]json.RawMessage
	}
	if err := json.Unmarshal(question, &asked); err != nil {
		return nil // "code" is not answered
	}
	said := map[string]any{"ok": map[string]any{"args": asked.Args, "kwargs": asked.Kwargs}}
	switch asked.Tool {
	case "add":
		sum := 0
		for _, arg := range asked.Args {
			n, err := strconv.Atoi(string(arg))
			if err != nil {
				said = failure("ValueError", string(arg)+" is no number")
				break
			}
			sum += n
			said["ok"] = sum
		}
	case "fail":
		said = failure("", "nobody is there")
	}
	text, err := json.Marshal(said)
	if err != nil {
		return nil
	}
	return text
}

func failure(kind, message string) map[string]any {
	return map[string]any{"error": map[string]string{"type": kind, "message": message}}
}

// names are the tools that most tests offer.
var names = slices.Sorted(slices.Values([]string{"add", "echo", "fail"}))
