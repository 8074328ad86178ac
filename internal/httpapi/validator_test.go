package httpapi

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// A second validator, by another author and in another language, must accept the document,
// because unknown programs generate clients from it. It must also refuse wrong documents,
// or its approval would mean nothing.
func TestDocumentIsValidForOthers(t *testing.T) {
	hosttest.Slow(t, "Node starts slowly")
	directory := hosttest.NeedsExtra(t, hosttest.NodeClients)
	text, err := encode(newDocument("test"))
	if err != nil {
		t.Fatal(err)
	}
	changes := [][2]string{
		{"", ""}, // as it is
		{`"openapi":"3.1.0"`, `"openapi":"3.0.3"`},
		{`"/v1/runs":`, `"v1/runs":`},
		{`"in":"path"`, `"in":"nowhere"`},
		{`"summary":`, `"subtitle":`},
		{`"#/components/schemas/Result"`, `"#/components/schemas/Nothing"`},
		{`"type":"boolean"`, `"type":"bool"`},
		{`"minLength":1`, `"minLenght":1`},
		{`"pattern":"^[ -~]+$"`, `"pattern":7`},
	}
	var documents bytes.Buffer
	for _, change := range changes {
		if !strings.Contains(string(text), change[0]) {
			t.Fatalf("the document has no %s any more: fix the table", change[0])
		}
		changed := string(text)
		if change[0] != "" {
			changed = strings.ReplaceAll(changed, change[0], change[1])
		}
		documents.WriteString(changed)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(directory, "bin", "node"), "testdata/openapi.mjs", filepath.Join(directory, "node_modules"))
	cmd.Stdin, cmd.Stderr = &documents, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	reports := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(reports) != len(changes) {
		t.Fatalf("%d answers for %d documents: %s", len(reports), len(changes), out)
	}
	for i, change := range changes {
		switch {
		case i == 0 && reports[i] != "":
			t.Errorf("the document is wrong: %.2000s", reports[i])
		case i > 0 && reports[i] == "":
			t.Errorf("with %s instead of %s it is not refused", change[1], change[0])
		}
	}
}
