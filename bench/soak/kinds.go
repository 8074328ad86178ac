package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// kind is one kind of run.
type kind struct {
	name   string
	weight int
	// request contains a number, to tell one run's answer from another's.
	request func(n int) run.Request
	// hook is opened, called with the number and closed, instead of a request.
	hook string
	// steps run in one session, with the number as their context. One with an endless loop is
	// stopped after a moment.
	steps []string
	// prepare puts files into the session, and artifacts are what its steps give back.
	prepare   func(s *cordon.Session, n int) error
	artifacts []string
	// cancel is how long the caller waits before giving up; 0 means forever.
	cancel time.Duration
	// want lists the correct outcomes; several if two limits race.
	want []run.Outcome
	// check checks the rest of the result.
	check func(n int, result run.Result) error
}

func script(source string) func(int) run.Request {
	return func(int) run.Request { return run.Request{Script: run.Script{Source: source}} }
}

func doubled(n int, result run.Result) error {
	if string(result.Value) != strconv.Itoa(2*n) {
		return fmt.Errorf("result %s of %d: answers are mixed up", result.Value, n)
	}
	return nil
}

// kinds cover every way in which a worker can end, since each takes a different path
// through the cleanup code.
var kinds = []kind{
	{
		name: "ok", weight: 50, want: []run.Outcome{run.Succeeded},
		request: func(n int) run.Request {
			return run.Request{Script: run.Script{Source: "result = context['n'] * 2", Context: map[string]any{"n": n}}}
		},
		check: doubled,
	},
	{
		name: "exception", weight: 10, want: []run.Outcome{run.Raised},
		request: script("import json\njson.loads('{')"),
	},
	{
		name: "exit code", weight: 4, want: []run.Outcome{run.Exited},
		request: script("import sys\nsys.exit(3)"),
	},
	{
		name: "timeout", weight: 5, want: []run.Outcome{run.TimedOut},
		request: func(int) run.Request {
			return run.Request{
				Script: run.Script{Source: "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass"},
				Limits: policy.Limits{WallTime: 50 * time.Millisecond},
			}
		},
	},
	{
		name: "memory bomb", weight: 5, want: []run.Outcome{run.OutOfMemory},
		request: func(int) run.Request {
			return run.Request{
				Script: run.Script{Source: "hoard = []\nwhile True: hoard.append(bytearray(1 << 20))"},
				Limits: policy.Limits{Memory: 32 * policy.MiB},
			}
		},
	},
	{
		name: "crash", weight: 5, want: []run.Outcome{run.Signaled},
		request: script("import ctypes\nctypes.string_at(0)"),
	},
	{
		name: "cancelled", weight: 8, want: []run.Outcome{run.Canceled},
		request: script("import time\ntime.sleep(20)"), cancel: 15 * time.Millisecond,
	},
	{
		// Canceled at any moment: before it has a worker, while it starts, when it ends.
		name: "cancelled early", weight: 4, want: []run.Outcome{run.Canceled, run.Succeeded},
		request: script("result = 1"), cancel: 300 * time.Microsecond,
	},
	{
		name: "output flood", weight: 4, want: []run.Outcome{run.Succeeded},
		request: script("for i in range(64): print('x' * 65536)"),
		check: func(_ int, result run.Result) error {
			if !result.StdoutTruncated {
				return errors.New("the output was not cut")
			}
			return nil
		},
	},
	{
		name: "output flood, killed", weight: 2, want: []run.Outcome{run.OutOfOutput},
		request: func(int) run.Request {
			return run.Request{Script: run.Script{Source: "while True: print('x' * 65536)"}, OnOutputLimit: policy.OutputKill}
		},
	},
	{
		name: "denied", weight: 3, want: []run.Outcome{run.Raised},
		request: script("import socket\nsocket.socket()"),
	},
	{
		name: "restricted", weight: 5, want: []run.Outcome{run.Succeeded}, check: doubled,
		request: func(n int) run.Request {
			return run.Request{Script: run.Script{Source: "import math\nresult = context['n'] * math.floor(2.5)", Context: map[string]any{"n": n}, Restricted: true}}
		},
	},
	{
		name: "refused", weight: 3, want: []run.Outcome{run.Refused},
		request: func(int) run.Request { return run.Request{Script: run.Script{Source: "import os", Restricted: true}} },
	},
	{name: "hook", weight: 5, want: []run.Outcome{run.Succeeded}, check: doubled, hook: "result['output'] = game_state * 2"},
	{name: "hook that crashes", weight: 2, want: []run.Outcome{run.OutOfMemory}, hook: "x = 'a' * 10**10"},
	{name: "session", weight: 5, want: []run.Outcome{run.Succeeded}, check: doubled, steps: []string{"factor = 2", "result = context * factor"}},
	{
		name: "session with files", weight: 4, want: []run.Outcome{run.Succeeded},
		prepare: func(s *cordon.Session, n int) error {
			files, err := s.Files()
			if err == nil {
				_, err = files.Write("in/n", strings.NewReader(strconv.Itoa(n)))
			}
			return err
		},
		steps:     []string{"import os\nn = int(open('in/n').read())\nos.remove('in/n')", "open('out', 'w').write(str(n * 2))"},
		artifacts: []string{"**"},
		check: func(n int, result run.Result) error {
			if len(result.Artifacts) != 1 || string(result.Artifacts[0].Data) != strconv.Itoa(2*n) {
				return fmt.Errorf("artifacts %v of %d: files are mixed up", result.Artifacts, n)
			}
			return nil
		},
	},
	{
		name: "session with an interrupted step", weight: 4, want: []run.Outcome{run.Succeeded}, check: doubled,
		steps: []string{"factor = 2\nwhile True: pass", "result = context * factor"},
	},
	{
		name: "session that is killed", weight: 3, want: []run.Outcome{run.TimedOut},
		steps: []string{"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"},
	},
	{name: "session that crashes", weight: 3, want: []run.Outcome{run.Signaled}, steps: []string{"x = 1", "import ctypes\nctypes.string_at(0)"}},
	{
		// Files in its private /tmp, and threads that still run when it ends.
		name: "leftovers", weight: 4, want: []run.Outcome{run.Succeeded},
		request: script(`import threading, time
open('/tmp/left', 'w').write('x' * 100000)
for _ in range(3): threading.Thread(target=time.sleep, args=(20,), daemon=True).start()`),
	},
}

// job is one run to do.
type job struct {
	kind kind
	n    int
}

// kindsOf returns the kinds with a word in their names.
func kindsOf(word string) (named []kind) {
	for _, k := range kinds {
		if strings.Contains(k.name, word) {
			named = append(named, k)
		}
	}
	return named
}

func pick(random *rand.Rand, kinds []kind) job {
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	at, i := random.IntN(total), 0
	for ; at >= kinds[i].weight; i++ {
		at -= kinds[i].weight
	}
	return job{kinds[i], random.IntN(1 << 30)}
}

func (j job) attempt(ctx context.Context, runner *cordon.Runner) (result run.Result, err error) {
	if len(j.kind.steps) > 0 {
		return j.session(ctx, runner)
	}
	if j.kind.hook == "" {
		return runner.Run(ctx, j.kind.request(j.n))
	}
	hook, err := runner.OpenHook(ctx, run.HookSpec{Script: j.kind.hook, Trust: policy.Trusts()[j.n%2]})
	if err != nil {
		return run.Result{}, err
	}
	defer func() { err = errors.Join(err, hook.Close()) }()
	return hook.Call(ctx, j.n, nil)
}

// session runs the steps of a session, and returns the Result of the last.
func (j job) session(ctx context.Context, runner *cordon.Runner) (result run.Result, err error) {
	s, err := runner.OpenSession(ctx, run.SessionOptions{})
	if err != nil {
		return run.Result{}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if j.kind.prepare != nil {
		if err := j.kind.prepare(s, j.n); err != nil {
			return run.Result{}, err
		}
	}
	for _, step := range j.kind.steps {
		req := run.Request{Script: run.Script{Source: step, Context: j.n, Artifacts: j.kind.artifacts}}
		if strings.Contains(step, "while True") {
			req.Limits.WallTime = 50 * time.Millisecond
		}
		if result, err = s.Run(ctx, req); err != nil {
			return result, err
		}
	}
	return result, nil
}

// do runs the job and returns an error if it ends wrongly.
func (j job) do(ctx context.Context, runner *cordon.Runner) error {
	inner := ctx
	if j.kind.cancel > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, j.kind.cancel)
		defer cancel()
	}
	result, err := j.attempt(inner, runner)
	switch {
	case ctx.Err() != nil:
		return nil // the soak itself was interrupted
	case err != nil && j.kind.cancel > 0 && errors.Is(err, context.DeadlineExceeded):
		return nil // the caller gave up while it waited for a worker
	case err != nil:
		return err
	case !slices.Contains(j.kind.want, result.Outcome):
		return fmt.Errorf("outcome %s (%s), want %v", result.Outcome, result.Error, j.kind.want)
	case j.kind.check != nil:
		return j.kind.check(j.n, result)
	}
	return nil
}
