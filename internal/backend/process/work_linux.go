package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/run"
)

// openWork opens the /work of a worker, which is made if it is not there yet.
func (b *Backend) openWork(w *zygote.Worker) (*workdir.Dir, error) {
	if err := b.plan.LacksWork(); err != nil {
		return nil, err
	}
	owner := workdir.Owner{UID: b.plan.UID, GID: b.plan.GID}
	scratch, err := w.OpenScratch()
	if err != nil {
		return nil, run.Errorf(run.Internal, "%w", err)
	}
	work, err := openIn(scratch, owner)
	if err := errors.Join(err, scratch.Close()); err != nil {
		return nil, err
	}
	return workdir.New(workdir.OnHost(work, owner)), nil
}

// openIn opens the directory below /tmp. A guest that has replaced it by another directory of its
// own gets that one. The descriptor goes by way of /proc, because OpenRoot of a Root would wait
// for a pipe.
func openIn(scratch *os.Root, owner workdir.Owner) (*os.Root, error) {
	err := owner.Do(func() error { return scratch.Mkdir(confine.WorkName, 0o755) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, run.Errorf(run.Internal, "%s: %w", confine.Work, err)
	}
	f, err := scratch.OpenFile(confine.WorkName, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, run.Errorf(run.Invalid, "%s is not a directory any more: %w", confine.Work, err)
	}
	defer f.Close()
	root, err := os.OpenRoot(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return nil, run.Errorf(run.Internal, "%s: %w", confine.Work, err)
	}
	return root, nil
}

// giveFiles puts the files of a job into the /work of a worker. It returns nil for a job without
// files.
func (b *Backend) giveFiles(w *zygote.Worker, job backend.Job) (*workdir.Dir, error) {
	if !job.HasFiles() {
		return nil, nil
	}
	work, err := b.openWork(w)
	if err == nil {
		if err = work.Give(job.Script, job.Limits.Scratch); err == nil {
			return work, nil
		}
		err = errors.Join(err, work.Close())
	}
	return nil, err
}

// lacksWork returns why the session has no /work, or nil.
func (s *session) lacksWork() error {
	if s.restricted {
		return backend.ErrNoRestrictedFiles()
	}
	return s.backend.plan.LacksWork()
}

// openWork opens the session's /work.
func (s *session) openWork(context.Context) (*workdir.Dir, error) {
	if err := s.lacksWork(); err != nil {
		return nil, err
	}
	return s.backend.openWork(s.member.Worker)
}

// Files returns the session's /work. It can be used while a step runs.
func (s *session) Files() (run.Files, error) { return backend.FilesOf(s.work) }
