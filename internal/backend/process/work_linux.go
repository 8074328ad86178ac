package process

import (
	"errors"
	"io/fs"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/run"
)

// openWork opens the /work of a worker, which is made if it is not there yet.
func (b *Backend) openWork(w *zygote.Worker) (*workdir.Dir, error) {
	if err := b.plan.Work(); err != nil {
		return nil, err
	}
	scratch, err := w.OpenScratch()
	if err != nil {
		return nil, run.Errorf(run.Internal, "%w", err)
	}
	defer scratch.Close()
	owner := workdir.Owner{UID: b.plan.UID, GID: b.plan.GID}
	if err := owner.Do(func() error { return scratch.Mkdir(confine.WorkName, 0o755) }); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, run.Errorf(run.Internal, "%s: %w", confine.Work, err)
	}
	// A guest that has replaced it by a link to another directory of its own gets that one.
	work, err := scratch.OpenRoot(confine.WorkName)
	if err != nil {
		return nil, run.Errorf(run.Invalid, "%s is not a directory any more: %w", confine.Work, err)
	}
	return workdir.New(work, owner), nil
}

// giveFiles puts the files of a job into the /work of a worker. It returns nil for a job without
// files.
func (b *Backend) giveFiles(w *zygote.Worker, job backend.Job) (*workdir.Dir, error) {
	if !job.Script.HasFiles() {
		return nil, nil
	}
	work, err := b.openWork(w)
	if err == nil {
		if err = work.Give(job.Script.Files); err == nil {
			return work, nil
		}
		work.Close()
	}
	return nil, err
}
