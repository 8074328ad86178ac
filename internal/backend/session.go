package backend

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// SessionOpener is implemented by a tier that offers Sessions: its guests can serve one
// script after another.
type SessionOpener interface {
	OpenSession(ctx context.Context, o SessionOptions) (Session, error)
}

// SnapshotLoader is implemented by a tier that offers Snapshots: its sessions can be saved.
type SnapshotLoader interface {
	// LoadSession continues a session that Save has written.
	LoadSession(ctx context.Context, from io.Reader) (SavedSession, error)
}

// SessionOptions say how a session is opened.
type SessionOptions struct {
	// Restricted runs all of its scripts by the language rules.
	Restricted bool
	// Limits are complete. A tier may fix some of them for the whole session.
	Limits policy.Limits
}

// Session is a guest that keeps its globals from one script to the next.
type Session interface {
	Run(ctx context.Context, job Job) (run.Result, error)
	// Variables lists the global variables, and counts those above a bound.
	Variables(ctx context.Context) ([]run.Variable, int, error)
	// Complete lists what the name at the end of a line of Python can become.
	Complete(ctx context.Context, line string) ([]string, error)
	// Restricted says whether its scripts go by the language rules.
	Restricted() bool
	// Files returns its /work. It can be used while a step runs, and until the session ends.
	Files() (run.Files, error)
	Close() error
}

// ErrNoRestrictedFiles returns the error of asking a restricted session for its files.
func ErrNoRestrictedFiles() error {
	return run.Errorf(run.Invalid, "a session by the language rules has no files: its steps could not open them")
}

// GiveFiles puts the files of a step into the /work of its session. It returns nil if no files go
// in and none come out.
func GiveFiles(ctx context.Context, work *Lazy[*workdir.Dir], step Job) (*workdir.Dir, error) {
	if !step.HasFiles() {
		return nil, nil
	}
	d, err := work.Get(ctx)
	if err != nil {
		return nil, err
	}
	return d, d.Give(step.Script, step.Limits.Scratch)
}

// FilesOf returns the /work of a session, which ends with it.
func FilesOf(work *Lazy[*workdir.Dir]) (run.Files, error) {
	d, err := work.Get(context.Background())
	if errors.Is(err, run.ErrClosed) {
		err = run.Errorf(run.Gone, "the session has ended")
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// NameStep gives the script of a step its name in tracebacks, unless it has one.
func (j *Job) NameStep(number int) {
	if j.Script.Name == "" {
		j.Script.Name = fmt.Sprintf("<step %d>", number)
	}
}

// SavedSession is a session whose memory can be copied.
type SavedSession interface {
	Session
	// Fork gives a second session, which begins with all that this one has.
	Fork() (SavedSession, error)
	// Save writes the session as it is now.
	Save(to io.Writer) error
}
