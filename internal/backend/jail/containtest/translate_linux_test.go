package containtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// TestContainUntranslatableOwners checks that root can run commands on file systems that cannot
// map owners: ramfs, and tmpfs before Linux 6.3.
func TestContainUntranslatableOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("commands of other users run as themselves")
	}
	eachBackend(t, func(t *testing.T, suite *suite) {
		for _, test := range []struct {
			name     string
			uid      int
			mode     os.FileMode
			readOnly bool
			sh       string
			want     string // the error; empty if it is allowed
		}{
			{"an ordinary user's", 1234, 0o700, false, `echo text > f && cat f && id -u`, ""},
			{"root's, open to everybody", 0, 0o777, false, `echo text > f && cat f`, ""},
			{"root's, read-only", 0, 0o755, true, `ls && ! touch f 2>/dev/null`, ""},
			{"root's", 0, 0o755, false, `true`, "chown"},
			{"root's, closed and read-only", 0, 0o700, true, `true`, "chown"},
		} {
			t.Run(test.name, func(t *testing.T) {
				s := suite.scene(t, attempt{}, suite.guarded)
				hosttest.Mount(t, "ramfs", s.workspace, "")
				if err := os.Chown(s.workspace, test.uid, test.uid); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(s.workspace, test.mode); err != nil {
					t.Fatal(err)
				}
				s.request.Command.WorkspaceReadOnly = test.readOnly
				r, err := s.try(t, attempt{sh: test.sh})
				if test.want != "" {
					if run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), test.want) {
						t.Errorf("want %q: %v", test.want, err)
					}
					return
				}
				if err != nil || r.Outcome != run.Succeeded {
					t.Fatalf("%v\n%s", err, show(r))
				}
				if test.uid != 0 {
					checkOwner(t, filepath.Join(s.workspace, "f"), test.uid)
					if said := r.Enforcement.Walls[policy.WallUID]; !strings.Contains(said.Detail, "uid 1234") {
						t.Errorf("the result says %q", said)
					}
				}
			})
		}
	})
}

func checkOwner(t *testing.T, path string, uid int) {
	t.Helper()
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	if int(stat.Uid) != uid {
		t.Errorf("%s belongs to uid %d", path, stat.Uid)
	}
}
