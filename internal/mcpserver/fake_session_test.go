package mcpserver_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// tinyPNG is the beginning of an image.
const tinyPNG = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// fakeSession is a session whose steps are words: "set x 1" keeps a value, and "get x" displays
// it. Like a real one, it waits for a turn.
type fakeSession struct {
	options run.SessionOptions
	line    *admission.Line

	interrupt atomic.Pointer[context.CancelFunc]

	mu     sync.Mutex
	values map[string]string
	steps  int
	gone   error

	filing sync.Mutex
	at     string // the path of work
	work   *workdir.Dir
}

func openFake(_ context.Context, o run.SessionOptions) (service.Session, error) {
	return &fakeSession{options: o, line: admission.NewLine(admission.Options{Concurrent: 1, Queue: 100}), values: map[string]string{}}, nil
}

func (s *fakeSession) Run(ctx context.Context, r run.Request) (result run.Result, err error) {
	if err := r.Validate(); err != nil {
		return result, err
	}
	if own := s.options.Limits.Memory; r.Limits.Memory != 0 && r.Limits.Memory != own {
		return result, run.Wrap(run.Invalid, &policy.FieldError{Field: "limits.memory", Err: fmt.Errorf("the session was opened with %s, and keeps it: open another session", own)})
	}
	turn, err := s.line.Enter(ctx, nil)
	if err != nil {
		return result, err
	}
	defer turn.Leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone != nil {
		return result, s.gone
	}
	s.interrupt.Store(&cancel)
	s.steps++
	result, err = fakeRunner{}.Run(ctx, run.Request{Script: run.Script{Source: "print"}})
	result.Stdout, result.Step = "", &run.Step{Number: s.steps, Survived: true}
	end := func(o run.Outcome, message string) {
		result.Outcome, result.Status, result.ErrorType, result.Error = o, o.Status(), o.ErrorType(), message
	}
	show := func(forms map[string]string, isValue bool) {
		result.Step.Display = append(result.Step.Display, run.Display{Forms: forms, Value: isValue})
	}
	words := strings.Fields(r.Script.Source)
	switch words[0] {
	case "set":
		s.values[words[1]] = words[2]
	case "get":
		value, set := s.values[words[1]]
		if !set {
			value = "unset"
		}
		show(map[string]string{"text/plain": value}, true)
	case "print":
		result.Stdout = words[1] + "\n"
	case "write":
		if err := s.write(words[1], words[2]); err != nil {
			return result, err
		}
	case "plot":
		result.Stdout = "drawn\n"
		show(map[string]string{"text/plain": "<Plot>", "image/png": base64.StdEncoding.EncodeToString([]byte(tinyPNG))}, false)
		show(map[string]string{"text/html": "<b>table</b>", "text/plain": "table"}, true)
	case "slow":
		end(run.TimedOut, "time limit reached")
	case "exit":
		end(run.Exited, "exit code 3")
		result.Step.Survived = false
	case "exhaust":
		end(run.OutOfMemory, "memory limit reached")
		result.Step.Survived = false
	case "crash": // the end of the process, as seen by a step that runs
		s.gone = run.Errorf(run.Gone, "the session ended: no answer")
		return run.Result{}, s.gone
	case "block":
		<-ctx.Done()
		end(run.Canceled, "canceled")
	}
	if len(r.Script.Artifacts) > 0 {
		files, err := s.Files()
		if err != nil {
			return result, err
		}
		files.(*workdir.Dir).Collect(r.Script, 16*policy.MiB, &result)
	}
	return result, err
}

func (s *fakeSession) write(name, content string) error {
	files, err := s.Files()
	if err == nil {
		_, err = files.Write(name, strings.NewReader(content))
	}
	return err
}

// Files returns a real directory.
func (s *fakeSession) Files() (run.Files, error) {
	s.filing.Lock()
	defer s.filing.Unlock()
	if s.work == nil {
		at, err := os.MkdirTemp("", "work")
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(at)
		if err != nil {
			return nil, err
		}
		s.at, s.work = at, workdir.New(workdir.OnHost(root, workdir.Self()))
	}
	return s.work, nil
}

func (s *fakeSession) Variables(context.Context) ([]run.Variable, int, error) {
	return []run.Variable{{Name: "x", Type: "int", Size: 28, Text: "1"}}, 0, nil
}

func (s *fakeSession) Interrupt() {
	if cancel := s.interrupt.Load(); cancel != nil {
		(*cancel)()
	}
}

func (s *fakeSession) Close() error {
	s.Interrupt()
	s.filing.Lock()
	defer s.filing.Unlock()
	return errors.Join(s.work.Close(), os.RemoveAll(s.at))
}
