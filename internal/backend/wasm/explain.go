package wasm

import (
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/report"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The numbers that WASI has for errors.
const (
	wasiACCES      = 2
	wasiNOENT      = 44
	wasiNOSPC      = 51
	wasiPERM       = 63
	wasiROFS       = 69
	wasiNOTCAPABLE = 76
)

// explain connects an exception with the wall behind it: a path that is not there for
// the guest is named. What is not there in a mount of its own is not there for anybody.
func explain(r *run.Result, cause report.OSError, i *interpreter) {
	switch cause.Errno {
	case wasiACCES, wasiNOENT, wasiPERM, wasiROFS, wasiNOTCAPABLE:
	default:
		return
	}
	if cause.Filename == "" || r.Exception == nil {
		return
	}
	if !path.IsAbs(cause.Filename) {
		r.Error += ": relative names are looked for in " + scratchDirectory + ", which is the script's own; what is granted has its absolute path"
		return
	}
	for i := range r.Violations {
		if r.Violations[i].Detail == cause.Filename {
			r.Violations[i].Line = r.Exception.Line
			return
		}
	}
	if cause.Errno == wasiNOENT && i.leadsSomewhere(cause.Filename) {
		return
	}
	r.Violations = append(r.Violations, run.Violation{
		Wall: policy.WallWasm, Op: "open", Detail: cause.Filename, Claimed: true, Line: r.Exception.Line, Count: 1,
		Hint: "the guest can use only its own library, its own " + scratchDirectory + " and what is granted with `read:` in the policy; pass the data in as input",
	})
}

// leadsSomewhere says whether a path leads into a mount that has files: not one that
// only has the way to others.
func (i *interpreter) leadsSomewhere(name string) bool {
	innermost := ""
	for _, mount := range i.mounts() {
		if isIn(name, mount) && len(mount) > len(innermost) {
			innermost = mount
		}
	}
	return innermost != "" && !slices.ContainsFunc(i.parents, func(p parent) bool { return p.at == innermost })
}

// isIn says whether a path leads into a mount. The directory of all is none of these: what
// is there is only what leads to the others.
func isIn(name, mount string) bool {
	name = path.Clean(name)
	return mount != "/" && (name == mount || strings.HasPrefix(name, mount+"/"))
}
