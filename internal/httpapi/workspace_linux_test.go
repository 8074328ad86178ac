package httpapi

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/policy"
)

// A command may write to the workspace that the operator offers. It can replace a directory
// in it by a link while the next request for that directory waits for its turn. The target
// of the link must not become a workspace.
func TestWorkspaceExchangedWhileItWaits(t *testing.T) {
	offered, secrets := t.TempDir(), t.TempDir()
	directory := filepath.Join(offered, "project")
	if err := errors.Join(os.Chmod(offered, 0o755), os.Chmod(secrets, 0o755), os.Mkdir(directory, 0o755),
		os.WriteFile(filepath.Join(directory, "mine"), nil, 0o644),
		os.WriteFile(filepath.Join(secrets, "secret"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	d := openReal(t, cordon.Options{Tier: policy.TierJail, Concurrent: 1, Queue: 4}, func(so *service.Options, _ *Options) {
		so.Commands, so.Workspaces = true, []string{offered}
	})
	body := `{"command": ["ls"], "workspace": "` + directory + `"}`
	if a := d.ask(http.MethodPost, "/v1/runs", body); a.status != http.StatusOK || d.result(a).Stdout != "mine\n" {
		t.Fatalf("nothing was exchanged yet: %d %s", a.status, a.body)
	}

	const endless = `{"command": ["sleep", "1000"]}`
	conn, _ := d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(endless))+"\r\n\r\n"+endless)
	hosttest.Eventually(t, "one request runs", func() bool { _, running := d.service.Queue(); return running == 1 })
	asked := make(chan answer, 1)
	go func() { asked <- d.ask(http.MethodPost, "/v1/runs", body) }()
	hosttest.Eventually(t, "one request waits", func() bool { waiting, _ := d.service.Queue(); return waiting == 1 })
	if err := errors.Join(os.RemoveAll(directory), os.Symlink(secrets, directory)); err != nil {
		t.Fatal(err)
	}
	conn.Close() // which ends its command
	a := <-asked
	if a.status != http.StatusForbidden || !strings.Contains(d.problem(a).Detail, "symbolic link") || strings.Contains(string(a.body), "secret") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
