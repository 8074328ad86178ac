package main

import (
	"context"
	"errors"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/newfile"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// runInSession runs one script in a session that is loaded, or saved, or both. The
// session is saved only if the script succeeds.
func (o *runOptions) runInSession(ctx context.Context, r *cordon.Runner, req run.Request) (res run.Result, err error) {
	s, err := o.session(ctx, r)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if res, err = s.Run(ctx, req); err != nil || o.saveTo == "" || !res.OK() {
		return res, err
	}
	return res, save(s, o.saveTo)
}

func (o *runOptions) session(ctx context.Context, r *cordon.Runner) (*cordon.Session, error) {
	if o.loadFrom == "" {
		return r.OpenSession(ctx, run.SessionOptions{Tier: policy.TierWasm, Restricted: o.restricted})
	}
	f, err := cli.OpenFile(o.loadFrom)
	if err != nil {
		return nil, run.Errorf(run.ClassOf(err), "--load: %w", err)
	}
	defer f.Close()
	s, err := r.LoadSession(ctx, f)
	if err != nil {
		return nil, run.Errorf(run.ClassOf(err), "--load %s: %w", o.loadFrom, err)
	}
	return s, nil
}

// save writes a new file and then renames it, so that a full disk does not destroy the
// session that was saved before.
func save(s *cordon.Session, path string) (err error) {
	defer func() {
		if err != nil {
			err = run.Errorf(run.Internal, "--save %s: %w", path, err)
		}
	}()
	f, err := newfile.Create(path, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := s.Save(f); err != nil {
		return err
	}
	return f.Commit()
}
