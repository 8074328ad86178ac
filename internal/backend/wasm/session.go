package wasm

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/python"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/run"
)

// Session is an interpreter that runs one script after another and keeps their globals. It can
// be saved, loaded and forked, because all of its state is in its memory.
type Session struct {
	backend *Backend
	options backend.SessionOptions
	life    context.Context // ends with the session, and then ends its run
	end     context.CancelFunc

	// turns guard the fields below.
	turns    *backend.Turns
	steps    int
	instance *python.Instance

	work *backend.Lazy[*workdir.Dir]
}

// openSession starts a session.
func (b *Backend) openSession(ctx context.Context, o backend.SessionOptions) (*Session, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer pass.Leave()
	p, err := b.poolFor(o.Restricted).Get(ctx)
	if err != nil {
		return nil, err
	}
	i, err := p.Lease()
	if err != nil {
		return nil, err
	}
	return b.newSession(i, o)
}

// newSession returns a session with an instance. It ends with the Runner.
func (b *Backend) newSession(i *python.Instance, o backend.SessionOptions) (*Session, error) {
	i.AllowScratch(o.Limits.Scratch)
	s := &Session{backend: b, options: o, instance: i, turns: backend.NewTurns()}
	s.work = backend.NewLazy(s.openWork)
	s.life, s.end = context.WithCancel(context.Background())
	if !b.sessions.Add(s) {
		return nil, errors.Join(backend.ErrClosed(), s.close(backend.ErrClosed()))
	}
	return s, nil
}

// Restricted reports whether the language rules apply to its scripts.
func (s *Session) Restricted() bool { return s.options.Restricted }

// Run runs a script in the session. Scripts of one session wait for each other.
func (s *Session) Run(ctx context.Context, job backend.Job) (run.Result, error) {
	if job.Script.Restricted != s.options.Restricted {
		return run.Result{}, run.Errorf(run.Invalid, "restricted must match the session's mode, which is restricted=%v", s.options.Restricted)
	}
	leave, err := s.turns.Enter(ctx, s.backend.gate)
	if err != nil {
		return run.Result{}, err
	}
	defer leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	job.NameStep(s.steps + 1)
	s.instance.AllowScratch(job.Limits.Scratch)
	work, err := backend.GiveFiles(ctx, s.work, job)
	if err != nil {
		return run.Result{}, err
	}
	result, err := s.instance.Run(ctx, s.backend.completed(job), true)
	if err == nil {
		work.Collect(job.Script, job.Limits.Scratch, &result)
	}
	result.Enforcement = s.backend.enforcementOf(job)
	s.steps++
	if result.Step != nil {
		result.Step.Number = s.steps
	}
	if s.instance.Stopped {
		// The state of a script that was stopped is unknown.
		err = errors.Join(err, s.close(run.Errorf(run.Gone, "the session ended, because a run in it was stopped: %s", result.Error)))
	}
	return result, err
}

// Variables lists the global variables, and counts those above a bound.
func (s *Session) Variables(ctx context.Context) (list []run.Variable, omitted int, err error) {
	err = s.ask(ctx, "", "its variables were listed", func(job backend.Job) (err error) {
		list, omitted, err = s.instance.Variables(ctx, job)
		return err
	})
	return list, omitted, err
}

// Complete lists what the name at the end of a line can become.
func (s *Session) Complete(ctx context.Context, line string) (names []string, err error) {
	err = s.ask(ctx, line, "a name was completed", func(job backend.Job) (err error) {
		names, err = s.instance.Complete(ctx, job)
		return err
	})
	return names, err
}

// ask asks the session something that is no step. It ends if it does not answer.
func (s *Session) ask(ctx context.Context, line, when string, question func(backend.Job) error) error {
	leave, err := s.turns.Enter(ctx, s.backend.gate)
	if err != nil {
		return err
	}
	defer leave()
	job := backend.Job{Limits: s.options.Limits}
	job.Script.Source, job.Script.Restricted = line, s.options.Restricted
	err = question(s.backend.completed(job))
	if s.instance.Stopped {
		err = errors.Join(err, s.close(run.Errorf(run.Gone, "the session ended when %s", when)))
	}
	return err
}

// openWork opens the session's /work.
func (s *Session) openWork(context.Context) (*workdir.Dir, error) {
	if s.options.Restricted {
		return nil, backend.ErrNoRestrictedFiles()
	}
	return s.instance.OpenWork(time.Now)
}

// Files returns the session's /work. It can be used while a step runs.
func (s *Session) Files() (run.Files, error) { return backend.FilesOf(s.work) }

// fork returns a session with a copy of this one's memory and files. Open files stay with the old
// one.
func (s *Session) fork() (*Session, error) {
	if err := s.turns.Take(); err != nil {
		return nil, err
	}
	defer s.turns.Leave()
	i, err := s.instance.Fork()
	if err != nil {
		return nil, err
	}
	return s.backend.newSession(i, s.options)
}

// Save writes the current state of the session.
func (s *Session) Save(to io.Writer) error {
	if err := s.turns.Take(); err != nil {
		return err
	}
	defer s.turns.Leave()
	return s.instance.Save(to, s.options.Restricted)
}

// loadSession returns a session that this Runner, or another of the same build, has saved.
func (b *Backend) loadSession(ctx context.Context, from io.Reader) (*Session, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer pass.Leave()
	i, err := b.interpreter.Get(ctx)
	if err != nil {
		return nil, err
	}
	snapshot, err := i.OpenSnapshot(from)
	if err != nil {
		return nil, err
	}
	p, err := b.poolFor(snapshot.Restricted()).Get(ctx)
	if err != nil {
		return nil, err
	}
	made, err := snapshot.Load(p)
	if err != nil {
		return nil, err
	}
	return b.newSession(made, backend.SessionOptions{Restricted: snapshot.Restricted(), Limits: b.options.Policy.Limits})
}

// Close ends the session and its running script.
func (s *Session) Close() error {
	defer s.backend.sessions.Remove(s) // last: until then closing the Runner waits for it
	s.end()
	if s.turns.Take() != nil {
		return nil
	}
	defer s.turns.Leave()
	return s.close(run.Errorf(run.Gone, "the session is closed"))
}

// close frees the memory. The caller has the turn, or the only reference to the session.
func (s *Session) close(why error) error {
	s.turns.End(why)
	s.end()
	return errors.Join(s.instance.Close(), s.work.Close())
}

// closeSessions ends all sessions. No other can start afterward.
func (b *Backend) closeSessions() (err error) {
	for _, s := range b.sessions.Close() {
		err = errors.Join(err, s.Close())
	}
	return err
}
