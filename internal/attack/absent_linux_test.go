package attack

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// A name that a header lists as absent on WebAssembly must exist here. A name that exists
// nowhere is a mistake, and an attempt that does nothing would count as held.
func TestAbsentNamesExistHere(t *testing.T) {
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		missing(t, "no "+python)
	}
	var names []string
	for _, a := range all(t) {
		names = append(names, a.Absent...)
	}
	slices.Sort(names)
	given, err := json.Marshal(slices.Compact(names))
	if err != nil {
		t.Fatal(err)
	}
	const program = `
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    module, _, member = name.partition(".")
    if member and not hasattr(importlib.import_module(module), member):
        print(name)
    importlib.import_module(module)
`
	out, err := exec.Command(python, "-I", "-c", program, string(given)).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("these exist nowhere: %s %v", out, err)
	}
}
