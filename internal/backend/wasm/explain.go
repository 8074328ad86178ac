package wasm

import (
	"path"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The numbers that WASI has for errors.
const (
	wasiACCES      = 2
	wasiIO         = 29
	wasiNOENT      = 44
	wasiPERM       = 63
	wasiROFS       = 69
	wasiNOTCAPABLE = 76
)

// explain connects an exception with the wall behind it: a path that is not there for
// the guest is named.
func explain(r *run.Result, cause report.OSError) {
	switch cause.Errno {
	case wasiACCES, wasiNOENT, wasiPERM, wasiROFS, wasiNOTCAPABLE:
	default:
		return
	}
	if !path.IsAbs(cause.Filename) || r.Exception == nil {
		return
	}
	for i := range r.Violations {
		if r.Violations[i].Detail == cause.Filename {
			r.Violations[i].Line = r.Exception.Line
			return
		}
	}
	if clean := path.Clean(cause.Filename); clean == scratchFolder || strings.HasPrefix(clean, scratchFolder+"/") {
		return // it is the guest's own
	}
	r.Violations = append(r.Violations, run.Violation{
		Wall: policy.WallWasm, Op: "open", Detail: cause.Filename, Line: r.Exception.Line, Count: 1,
		Hint: "the guest can use only its own library, its own " + scratchFolder + " and what is granted with `read:` in the policy; pass the data in context or stdin",
	})
}
