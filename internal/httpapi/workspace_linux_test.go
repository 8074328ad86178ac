package httpapi

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/policy"
)

// A command may write to the workspace that the operator offers, and so exchange a directory
// in it for a link while the next request for that directory waits for its turn. What is
// behind the link is nobody's workspace.
func TestWorkspaceExchangedWhileItWaits(t *testing.T) {
	line := admission.NewLine(admission.Options{Concurrent: 1, Queue: 4})
	offered, secrets := t.TempDir(), t.TempDir()
	directory := filepath.Join(offered, "project")
	if err := errors.Join(os.Chmod(offered, 0o755), os.Chmod(secrets, 0o755), os.Mkdir(directory, 0o755),
		os.WriteFile(filepath.Join(directory, "mine"), nil, 0o644),
		os.WriteFile(filepath.Join(secrets, "secret"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	d := openReal(t, cordon.Options{Tier: policy.TierJail}, func(so *service.Options, _ *Options) {
		so.Line, so.Commands, so.Workspaces = line, true, []string{offered}
	})
	body := `{"command": ["ls"], "workspace": "` + directory + `"}`
	if a := d.ask(http.MethodPost, "/v1/runs", body); a.status != http.StatusOK || d.result(a).Stdout != "mine\n" {
		t.Fatalf("nothing was exchanged yet: %d %s", a.status, a.body)
	}

	leave, err := line.Enter(t.Context(), "somebody else", admission.Quota{})
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	asked := make(chan answer, 1)
	go func() { asked <- d.ask(http.MethodPost, "/v1/runs", body) }()
	eventually(t, func() bool { return line.Stats().Waiting == 1 })
	if err := errors.Join(os.RemoveAll(directory), os.Symlink(secrets, directory)); err != nil {
		t.Fatal(err)
	}
	leave()
	a := <-asked
	if a.status != http.StatusForbidden || !strings.Contains(d.problem(a).Detail, "symbolic link") || strings.Contains(string(a.body), "secret") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
