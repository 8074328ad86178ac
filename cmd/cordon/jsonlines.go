package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxIdle bounds the workers that wait for a line; each costs about 3 MiB.
const maxIdle = 16

// failure is the answer to a line that gave no Result.
type failure struct {
	ID     json.RawMessage `json:"id"`
	Status run.Status      `json:"status"`
	Error  string          `json:"error"`
	Class  run.Class       `json:"class"`
}

// runLines answers each line of in with a line of out, in the order in which
// the runs end.
func runLines(ctx context.Context, opts runOptions, in io.Reader, out io.Writer) (err error) {
	p, err := opts.Load(ctx)
	if err != nil {
		return err
	}
	if p, err = forManyRuns(p, opts); err != nil {
		return err
	}
	atOnce := opts.concurrency
	if atOnce == 0 {
		atOnce = 2 * runtime.NumCPU()
	}
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: p, Idle: min(atOnce, maxIdle), Concurrent: atOnce, Tier: opts.first(), Language: opts.language()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()

	answers := &tap{ctx: ctx, to: out}
	var writing sync.Mutex
	answer := func(v any) {
		writing.Lock()
		defer writing.Unlock()
		_ = printJSON(answers, v, false) // a broken pipe ends ctx
	}
	lines, readError := readLines(ctx, in)
	slots := make(chan struct{}, atOnce)
	var under sync.WaitGroup
	for line := range lines {
		// A place first: what has no place yet stays in the pipe.
		slots <- struct{}{}
		under.Go(func() {
			defer func() { <-slots }()
			answer(opts.serve(ctx, runner, line))
		})
	}
	under.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return <-readError
}

// forManyRuns lets flags bind every request: they are its defaults and its
// maxima.
func forManyRuns(p policy.Policy, opts runOptions) (policy.Policy, error) {
	limits, err := opts.narrow(p)
	if err != nil {
		return p, err
	}
	p.Limits = limits
	p.Maxima = opts.Limits.Or(p.Resolved().Maxima)
	// Wrong names are told now and not on every line.
	if err := (run.Request{
		Script: "pass", Tier: policy.Tier(opts.tier), Trust: policy.Trust(opts.trust), OnOutputLimit: policy.OutputAction(opts.onOutputLimit),
	}).Validate(); err != nil {
		return p, err
	}
	return p, nil
}

// serve answers one line.
func (o *runOptions) serve(ctx context.Context, runner *cordon.Runner, l line) any {
	req, err := l.request()
	if err == nil {
		err = o.bind(&req)
	}
	if err == nil {
		var res run.Result
		if res, err = runner.Run(ctx, req); err == nil {
			return res
		}
	}
	if ctx.Err() != nil {
		// It was still waiting for its turn.
		err = run.Wrap(run.Closed, context.Cause(ctx))
	}
	return failure{ID: l.id(), Status: run.StatusError, Error: err.Error(), Class: run.ClassOf(err)}
}

// bind applies the flags that a request can only repeat.
func (o *runOptions) bind(req *run.Request) error {
	if o.restricted && len(req.Command) > 0 {
		return run.Errorf(run.Invalid, "cordon was started with --restricted: a command cannot go by the language rules, which are for scripts")
	}
	req.Restricted = req.Restricted || o.restricted
	for _, f := range []struct {
		name, flag string
		field      *string
	}{
		{"tier", o.tier, (*string)(&req.Tier)},
		{"trust", o.trust, (*string)(&req.Trust)},
		{"on_output_limit", o.onOutputLimit, (*string)(&req.OnOutputLimit)},
	} {
		switch {
		case f.flag == "" || *f.field == f.flag:
		case *f.field == "":
			*f.field = f.flag
		default:
			return run.Errorf(run.Invalid, "%s %q is not what cordon was started with: %q", f.name, *f.field, f.flag)
		}
	}
	return nil
}

// line is a line of input; one that is too long is not kept.
type line struct {
	text    []byte
	tooLong bool
}

func (l line) request() (run.Request, error) {
	if l.tooLong {
		return run.Request{}, run.Errorf(run.Invalid, "request: the line is longer than %v, the most that a request may be", policy.Bytes(run.MaxPayload))
	}
	return run.ParseRequest(l.text)
}

// id finds the id of a line that is no good request, as well as one can.
func (l line) id() json.RawMessage {
	var it struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(l.text, &it) != nil || len(it.ID) == 0 {
		return json.RawMessage("null")
	}
	return it.ID
}

// readLines gives the lines that are not blank, until the end of in or of
// ctx. Its reader may stay in a Read that does not return; nobody waits.
func readLines(ctx context.Context, in io.Reader) (<-chan line, <-chan error) {
	lines, failed := make(chan line), make(chan error, 1)
	read := make(chan line)
	go func() {
		defer close(read)
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			l, err := readLine(r, run.MaxPayload)
			if len(bytes.TrimSpace(l.text)) > 0 || l.tooLong {
				select {
				case read <- l:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				if errors.Is(err, io.EOF) {
					failed <- nil
				} else {
					failed <- run.Errorf(run.Internal, "standard input: %w", err)
				}
				return
			}
		}
	}()
	go func() {
		defer close(lines)
		for {
			select {
			case l, more := <-read:
				if !more {
					return
				}
				lines <- l
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines, failed
}

// readLine reads to the end of the line, and keeps nothing of one that is
// longer than most.
func readLine(r *bufio.Reader, most int) (line, error) {
	var l line
	for {
		part, err := r.ReadSlice('\n')
		if l.tooLong = l.tooLong || len(l.text)+len(part) > most+1; l.tooLong {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}
