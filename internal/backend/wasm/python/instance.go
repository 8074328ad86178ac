package python

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/engine"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/files"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guest"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/scratch"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Instance is an interpreter that is ready for a script.
type Instance struct {
	// Stopped says that a script was stopped, so that the state is unknown.
	Stopped bool

	interpreter *Interpreter
	image       *memory.Image
	guest       *guest.Guest
	inside      context.Context
	module      api.Module
	files       *rootfs.Set
	tmp         *scratch.FS
	used        bool // has run an earlier script of the same session
}

// instance returns an instance in a region that was a copy of an image; size is the used part
// of it.
func (i *Interpreter) instance(from *memory.Image, region *memory.Region, size uint64) (*Instance, error) {
	g := guest.NewCoarse(i.options.Closed)
	g.Memory = memory.FromImage(from, region, size)
	made := &Instance{interpreter: i, image: from, guest: g, inside: g.Context(context.Background())}
	made.files = i.options.Granted.NewSet(rootfs.Limits{Files: g.Files, Denied: g.Denied})
	made.tmp = i.layout.NewScratch(scratch.Limits{Files: g.Files, Exceeded: g.Exceeded, Now: g.Wall})
	var err error
	if made.module, err = i.module.Instantiate(made.inside, i.world(g, made.tmp, made.files)); err != nil {
		return nil, errors.Join(run.Errorf(run.Internal, "an instance of CPython: %w", engine.FirstLine(err)), made.Close())
	}
	// The memory starts with the size that the module declares.
	if missing := (size - uint64(made.module.Memory().Size())) / memory.Page; missing > 0 {
		if _, ok := made.module.Memory().Grow(uint32(missing)); !ok {
			return nil, errors.Join(run.Errorf(run.Internal, "an instance of CPython: its memory does not grow"), made.Close())
		}
	}
	return made, nil
}

// fresh returns a new instance of an image.
func (i *Interpreter) fresh(from *memory.Image) (*Instance, error) {
	region, err := from.Copy()
	if err != nil {
		return nil, run.Errorf(run.Internal, "a memory for CPython: %w", err)
	}
	return i.instance(from, region, from.Length)
}

// Memory returns the guest's memory, nil if the instance is closed.
func (i *Instance) Memory() []byte {
	if i.guest.Memory.Region == nil {
		return nil
	}
	return i.guest.Memory.Region.Bytes[:i.guest.Memory.Size]
}

// Close ends the instance.
func (i *Instance) Close() error {
	var err error
	if i.module != nil {
		err = i.module.Close(i.inside)
	}
	i.guest.Memory.Free()
	return errors.Join(err, i.files.Close())
}

// Fork returns an instance with a copy of this one's memory and files. Open files stay with the
// old one.
func (i *Instance) Fork() (*Instance, error) {
	size := i.guest.Memory.Size
	region, err := i.image.Copy()
	if err != nil {
		return nil, run.Errorf(run.Internal, "a memory for CPython: %w", err)
	}
	if !region.Grow(size) {
		i.image.Return(region)
		return nil, run.Errorf(run.Internal, "a memory for CPython: it does not grow to %d bytes", size)
	}
	old := i.guest.Memory.Region
	changed, err := old.Changed(size)
	if err != nil {
		changed = []memory.Pages{{At: 0, Length: size}} // copy everything
	}
	for _, p := range changed {
		copy(region.Bytes[p.At:p.At+p.Length], old.Bytes[p.At:p.At+p.Length])
	}
	made, err := i.interpreter.instance(i.image, region, size)
	if err == nil {
		i.tmp.Copy(made.tmp)
	}
	return made, err
}

// AllowScratch sets the size of /tmp, which has the script's files too.
func (i *Instance) AllowScratch(size policy.Bytes) { i.tmp.Allow(int64(size)) }

// OpenWork opens the directory of a script's files.
func (i *Instance) OpenWork(now func() time.Time) (*workdir.Dir, error) {
	tree, err := i.tmp.Tree(files.WorkName, now)
	if err != nil {
		return nil, run.Errorf(run.Invalid, "%s is not a directory any more: %w", i.interpreter.layout.Work(), err)
	}
	return workdir.New(tree), nil
}

// Run runs a script. Without a session, an instance runs only one.
func (i *Instance) Run(ctx context.Context, job backend.Job, session bool) (run.Result, error) {
	r, told, err := i.ask(ctx, "run", job, session)
	if err == nil && session {
		r.Step = report.ReadStep(told, job.Limits.Result-r.ValueSize())
		r.Step.Survived = !i.Stopped
		r.Usage.Result = r.ValueSize()
	}
	return r, err
}

// Variables lists the variables of a session, and counts those above the bound.
func (i *Instance) Variables(ctx context.Context, job backend.Job) ([]run.Variable, int, error) {
	r, told, err := i.ask(ctx, "list", job, true)
	if err != nil {
		return nil, 0, err
	}
	list, omitted, err := report.Variables(told)
	if err != nil {
		return nil, 0, run.Errorf(run.Invalid, "the session does not list its variables: %s", r.Error)
	}
	return list, omitted, nil
}

// Complete lists what the name at the end of the job's script can become.
func (i *Instance) Complete(ctx context.Context, job backend.Job) ([]string, error) {
	_, told, err := i.ask(ctx, "complete", job, true)
	return report.Completions(told), err
}

// ask sends a frame of this kind and returns what came of it, with the report.
func (i *Instance) ask(ctx context.Context, kind string, job backend.Job, session bool) (run.Result, wire.Dict, error) {
	work := i.workFor(job, session)
	frame, err := frameOf(kind, job, session, !i.used, work)
	if err != nil {
		return run.Result{}, nil, run.Wrap(run.Invalid, err)
	}
	g := i.guest
	g.AdoptCoarse(ctx, job)
	i.AllowScratch(job.Limits.Scratch)
	g.Memory.Limit = i.image.Base + uint64(job.Limits.Memory)
	i.used = true
	g.Begin()
	defer g.End()
	words, err := i.call(frame)
	i.Stopped = err != nil
	var failed *engine.Error
	if errors.As(err, &failed) {
		return run.Result{}, nil, err
	}
	if g.Abandoned() {
		return run.Result{}, nil, backend.ErrClosed()
	}
	e := g.Evidence(err)
	e.Usage.Memory -= min(e.Usage.Memory, policy.Bytes(i.image.Base))
	e.Restricted = job.Script.Restricted
	r := i.judge(&e, words, cmp.Or(work, files.ScratchDirectory))
	return r, e.Report, nil
}

// workFor returns where a script starts that has files, and an empty text for another one.
func (i *Instance) workFor(job backend.Job, session bool) string {
	if job.Script.Restricted || !session && !job.HasFiles() {
		return ""
	}
	return i.interpreter.layout.Work()
}

// frameOf encodes a job for the interpreter: see script.WasmSource.
func frameOf(kind string, job backend.Job, session, fresh bool, work string) ([]byte, error) {
	name := job.Script.Name
	if name == "" {
		name = "<script>"
	}
	return wire.AppendList(make([]byte, 0, len(job.Script.Source)+512),
		wire.Field{Name: "kind", Value: kind},
		wire.Field{Name: "script", Value: job.Script.Source},
		wire.Field{Name: "name", Value: name},
		wire.Field{Name: "context", Value: job.Script.Context},
		wire.Field{Name: "variables", Value: job.Script.Variables},
		wire.Field{Name: "args", Value: job.Script.Args},
		wire.Field{Name: "restricted", Value: job.Script.Restricted},
		wire.Field{Name: "tools", Value: slices.Sorted(maps.Keys(job.Script.Tools))},
		wire.Field{Name: "session", Value: session},
		wire.Field{Name: "fresh", Value: fresh},
		wire.Field{Name: "work", Value: work},
		wire.Field{Name: "code", Value: nil},
		wire.Field{Name: "ask", Value: false},
		wire.Field{Name: "most", Value: wire.MaxReport(job.Limits)},
	)
}

// call passes a frame to the interpreter and returns its report.
func (i *Instance) call(frame []byte) (words []byte, err error) {
	defer engine.Recover(&err)
	at, length, err := give(i.inside, i.module, frame)
	if err != nil {
		return nil, err
	}
	answer, err := i.module.ExportedFunction(callInterpreter).Call(i.inside, at, length)
	if err != nil {
		return nil, err
	}
	content := i.module.Memory()
	where, ok := content.Read(uint32(answer[0]), 8)
	if !ok {
		return nil, nil
	}
	words, ok = content.Read(binary.LittleEndian.Uint32(where), binary.LittleEndian.Uint32(where[4:]))
	if !ok {
		return nil, nil
	}
	return words, nil
}

// judge combines the report of a script, which started in a directory, with what cordon observed.
func (i *Instance) judge(e *verdict.Evidence, words []byte, directory string) run.Result {
	switch {
	case e.Killed != "" || e.Trap != nil || e.Exit != nil: // it was stopped and has no report
	case len(words) > wire.MaxReport(e.Limits):
		e.Malformed = wire.ErrAboveMax // cordon's code in the guest checks it too
	default:
		e.Report, e.Malformed = wire.DecodeDict(words)
	}
	r, cause := verdict.Judge(*e)
	explain(&r, cause, i.interpreter.layout, directory)
	guest.ExplainScratch(*e, &r, cause)
	return r
}
