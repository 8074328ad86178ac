package deploy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

func TestUnitsAreValid(t *testing.T) {
	hosttest.Needs(t, "systemd-analyze")
	directory := t.TempDir()
	// systemd-analyze checks that the program exists, and it is not installed here.
	text := strings.ReplaceAll(string(read(t, "systemd/cordon.service")), "/usr/local/bin/cordon ", "/bin/true ")
	for name, text := range map[string]string{"cordon.service": text, "cordon.socket": string(read(t, "systemd/cordon.socket"))} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), hosttest.FindProgram("systemd-analyze"), "verify", "./cordon.service", "./cordon.socket")
	cmd.Dir = directory
	out, err := cmd.CombinedOutput()
	// systemd before 254 does not know this setting, and ignores it.
	complaints := regexp.MustCompile(`(?m)^.*Unknown key (name )?'DelegateSubgroup'.*\n`).ReplaceAllString(string(out), "")
	if err != nil || strings.Contains(complaints, "cordon.") {
		t.Errorf("systemd-analyze verify: %v\n%s", err, complaints)
	}
	// The threshold is in tenths of a point, of ten points for everything that is left
	// open. Most of the rest is what the walls need. With one hardening setting less the
	// unit is above the threshold.
	cmd = exec.CommandContext(t.Context(), hosttest.FindProgram("systemd-analyze"), "security", "--offline=true", "--no-pager", "--threshold=48", "./cordon.service")
	cmd.Dir = directory
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out[bytes.LastIndexByte(bytes.TrimSpace(out), '\n')+1:])
	}
}

// Some settings would take away what the service needs to build walls.
func TestUnitDoesNotBlockWalls(t *testing.T) {
	text := string(read(t, "systemd/cordon.service"))
	for _, setting := range []string{
		"RestrictNamespaces", "PrivateUsers", "SystemCallFilter", "ProtectProc", "ProcSubset", "ProtectKernelTunables", "ProtectKernelLogs",
		"ProtectControlGroups", "ProtectHostname", "MemoryDenyWriteExecute", "PrivateNetwork", "User",
	} {
		if regexp.MustCompile(`(?m)^` + setting + `=`).MatchString(text) {
			t.Errorf("the unit sets %s", setting)
		}
	}
	for _, setting := range []string{"Type=notify", "Delegate=yes", "DelegateSubgroup=main", "DynamicUser=yes", "KillMode=mixed", "OOMPolicy=continue", "CapabilityBoundingSet="} {
		if !strings.Contains(text, "\n"+setting+"\n") {
			t.Errorf("the unit does not set %s", setting)
		}
	}
}
