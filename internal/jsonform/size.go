package jsonform

import "github.com/cordon-sandbox/cordon/run"

// Size returns about how much memory a Result takes while its answer waits to be written:
// its value, variables, output, exception, artifacts and what it displayed.
func Size(r run.Result) int64 {
	const fixed = 1 << 10
	size := fixed + int64(r.ValueSize()) + int64(len(r.Stdout)+len(r.Stderr)+len(r.Error)+len(r.ArtifactsError))
	if r.Exception != nil {
		size += int64(len(r.Exception.Message) + len(r.Exception.Traceback))
	}
	for _, v := range r.Violations {
		size += int64(len(v.Detail) + len(v.Hint))
	}
	for _, a := range r.Artifacts {
		size += int64(len(a.Name) + len(a.Data) + len(a.Error))
	}
	if r.Step != nil {
		for _, d := range r.Step.Display {
			for kind, form := range d.Forms {
				size += int64(len(kind) + len(form))
			}
		}
	}
	return size
}
