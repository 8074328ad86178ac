package interpreter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// askTime bounds one start of a candidate. It is not Python's start-up that
// needs it (9 ms), but shims that wait for a lock or for the network.
const askTime = 5 * time.Second

// maxAnswer bounds what we keep of a candidate's output; a shim may be chatty,
// or not Python at all.
const maxAnswer = 64 << 10

// The answer is one marked line: shims print notices of their own.
const answerMark = "cordon-interpreter:"

// question is understood by every Python, so that an old one or another
// implementation can say what it is.
const question = `import sys, os, json
impl = getattr(sys, "implementation", None)
print("` + answerMark + `" + json.dumps({
    "executable": sys.executable,
    "base": getattr(sys, "_base_executable", None) or sys.executable,
    "version": list(sys.version_info[:2]),
    "implementation": "pypy" if "__pypy__" in sys.builtin_module_names else impl.name if impl else "cpython",
    "prefix": getattr(sys, "base_prefix", sys.prefix),
    "lib": getattr(sys, "platlibdir", "lib"),
    "stdlib": os.path.dirname(os.__file__),
    "path": sys.path}))`

// facts are an interpreter's own words about itself.
type facts struct {
	Executable     string   `json:"executable"`
	Base           string   `json:"base"` // the one that a virtual environment is of
	Version        [2]int   `json:"version"`
	Implementation string   `json:"implementation"`
	Prefix         string   `json:"prefix"`
	Lib            string   `json:"lib"`
	Stdlib         string   `json:"stdlib"`
	Path           []string `json:"path"`
}

// answers remembers what a file said, for the life of the process. It is the
// one piece of process-wide state here: it holds facts about the host, keyed
// by everything that they depend on, so that two Runners cannot disturb each
// other by sharing it. Failures are not kept: they may pass.
var answers sync.Map // string → facts

// asker is the circumstances in which candidates are started.
type asker struct {
	dir     string // pyenv and others look there for a chosen version
	environ []string
	limit   time.Duration
}

// ask starts a candidate once and reads what it says. The environment is
// clean: what the caller's shell exports (PYTHONHOME, LD_PRELOAD, …) will not
// be there inside either.
func (a asker) ask(ctx context.Context, name string) (facts, error) {
	env := cleanEnvironment(a.environ)
	key := ""
	if info, err := os.Stat(name); err == nil {
		key = strings.Join(append([]string{name, info.ModTime().String(), fmt.Sprint(info.Size()), a.dir}, env...), "\x00")
		if known, ok := answers.Load(key); ok {
			return known.(facts), nil
		}
	}
	f, err := a.askOnce(ctx, name, env)
	if err == nil && key != "" {
		answers.Store(key, f)
	}
	return f, err
}

func (a asker) askOnce(ctx context.Context, name string, env []string) (facts, error) {
	ctx, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	out, errs := &head{limit: maxAnswer}, &head{limit: 4 << 10}
	cmd := exec.CommandContext(ctx, name, "-I", "-S", "-c", question)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, a.dir, out, errs
	killTree(cmd)
	// A child of the shim's may hold the pipes open after the shim is dead.
	cmd.WaitDelay = 200 * time.Millisecond
	err := cmd.Run()
	if f, ok := parseAnswer(out.Bytes()); ok {
		return f, nil
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return facts{}, fmt.Errorf("it gave no answer within %v", a.limit)
	case ctx.Err() != nil:
		return facts{}, ctx.Err()
	case err != nil:
		return facts{}, fmt.Errorf("it failed (%w)%s", err, firstLine(errs.Bytes()))
	}
	return facts{}, errors.New("it ran, but did not answer as Python does")
}

// parseAnswer finds the marked line and checks that it is complete.
func parseAnswer(out []byte) (facts, bool) {
	for line := range bytes.Lines(out) {
		text, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(answerMark))
		if !ok {
			continue
		}
		var f facts
		if json.Unmarshal(text, &f) == nil && f.Executable != "" && f.Stdlib != "" && f.Prefix != "" && f.Version[0] > 0 {
			return f, true
		}
	}
	return facts{}, false
}

// cleanEnvironment keeps what a shim needs to find its interpreter.
func cleanEnvironment(environ []string) []string {
	kept := []string{}
	for _, kv := range environ {
		key, _, _ := strings.Cut(kv, "=")
		if key == "PATH" || key == "HOME" || strings.HasPrefix(key, "PYENV_") {
			kept = append(kept, kv)
		}
	}
	return kept
}

func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if line == "" {
		return ""
	}
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return ": " + line
}

// head keeps the first bytes written to it and swallows the rest: a full pipe
// would stop the writer until the clock kills it.
type head struct {
	bytes.Buffer
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), h.limit-h.Len())])
	return len(p), nil
}
