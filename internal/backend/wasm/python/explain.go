package python

import (
	"path"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/files"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// WASI's numbers for errors.
const (
	wasiACCES      = 2
	wasiNOENT      = 44
	wasiPERM       = 63
	wasiROFS       = 69
	wasiNOTCAPABLE = 76
)

// explain adds a violation to an exception about a path that the policy does not grant. A path
// that is missing in a mount is missing on the host too, and is no violation. The script started
// in the directory.
func explain(r *run.Result, cause report.OSError, layout *files.Layout, directory string) {
	switch cause.Errno {
	case wasiACCES, wasiNOENT, wasiPERM, wasiROFS, wasiNOTCAPABLE:
	default:
		return
	}
	if cause.Filename == "" || r.Exception == nil {
		return
	}
	if !path.IsAbs(cause.Filename) {
		r.Error += ": relative names are looked for in " + directory + ", which is the script's own; what is granted has its absolute path"
		return
	}
	for i := range r.Violations {
		if r.Violations[i].Detail == cause.Filename {
			r.Violations[i].Line, r.Violations[i].Module = r.Exception.Line, cause.Module
			return
		}
	}
	if cause.Errno == wasiNOENT && layout.HasFiles(cause.Filename) {
		return
	}
	r.Violations = append(r.Violations, hints.Give(run.Violation{
		Wall: policy.WallWasm, Op: "open", Detail: cause.Filename, Claimed: true, Line: r.Exception.Line, Module: cause.Module, Count: 1,
	}, run.HintPassData, hints.Data{"available": "its own library, its own " + files.ScratchDirectory + " and what is granted"}))
}
