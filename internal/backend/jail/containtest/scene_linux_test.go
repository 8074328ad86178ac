package containtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// eachBackend runs a test for each backend that can build a sandbox.
func eachBackend(t *testing.T, test func(t *testing.T, suite *suite)) {
	t.Setenv("TMPDIR", shortDirectory(t))
	for _, jail := range containBackends() {
		before := captureHost(t)
		t.Run(string(jail), func(t *testing.T) { test(t, newSuite(t, jail)) })
		before.compare(t) // the test has released all its resources
	}
}

// containBackends returns the backends to test. A list in the environment, such as
// CORDON_TEST_JAIL=native,bwrap, selects others.
func containBackends() []policy.JailBackend {
	names := os.Getenv("CORDON_TEST_JAIL")
	if names == "" {
		return []policy.JailBackend{policy.JailNative, policy.JailBwrap}
	}
	var all []policy.JailBackend
	for name := range strings.SplitSeq(names, ",") {
		all = append(all, policy.JailBackend(name))
	}
	return all
}

// shortDirectory returns a directory that is open to all users, with a path that is short
// enough for sockets.
func shortDirectory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cdn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(t, dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// removeAll also removes directories without any permissions, and those that are too deep for
// a path.
func removeAll(t testing.TB, dir string) {
	t.Helper()
	_ = exec.Command("chmod", "-R", "u+rwX", dir).Run()
	if text, err := exec.Command("rm", "-rf", dir).CombinedOutput(); err != nil {
		t.Errorf("cannot clean up: %v\n%s", err, truncate(string(text)))
	}
}

// copyProgram copies this binary, so that changes to the copy do not affect the running one.
func copyProgram(t testing.TB, to string) {
	t.Helper()
	if err := hosttest.CopyOfTest(to); err != nil {
		t.Fatal(err)
	}
}

// write creates a file of the scene.
func (s *scene) write(t testing.TB, path, text string, mode os.FileMode) string {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.directory, path)
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), hosttest.WriteProgram(path, []byte(text)), os.Chmod(path, mode)) // some are programs
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// runNaked makes the attempt in a plain process, without a sandbox.
func (s *scene) runNaked(t *testing.T, a attempt) run.Result {
	t.Helper()
	argv, env := s.command(a)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = s.workspace, os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if uid := a.proof.uid; uid != 0 && os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
		if err := os.Chown(s.workspace, uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	r := run.Result{Outcome: run.Succeeded}
	if err := cmd.Run(); err != nil {
		r.Outcome, r.Error = run.Exited, err.Error()
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 { // a killed process has no exit code
		r.ExitCode = &code
	}
	r.Stdout, r.Stderr = out.String(), errs.String()
	return r
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error() // the attempt cannot decode this, and is broken
	}
	return string(text)
}

// show formats a result in a few lines.
func show(r run.Result) string {
	text := fmt.Sprintf("%s %q signal %q\nstdout: %s\nstderr: %s", r.Outcome, r.Error, r.Signal, truncate(r.Stdout), truncate(r.Stderr))
	for _, v := range r.Violations {
		text += fmt.Sprintf("\nviolation: %s %s %s ×%d", v.Wall, v.Op, v.Detail, v.Count)
	}
	return text
}

func truncate(text string) string {
	if len(text) > 1500 {
		return text[:1500] + "…"
	}
	return text
}

// tree describes all files in a directory: names, modes, owners, sizes, times, link targets,
// attributes and contents.
func tree(t testing.TB, directory string) string {
	t.Helper()
	var text strings.Builder
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var stat unix.Stat_t
		if err := unix.Lstat(path, &stat); err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s %o %d:%d links %d size %d mtime %d", path, stat.Mode, stat.Uid, stat.Gid, stat.Nlink, stat.Size, stat.Mtim.Nano())
		names := make([]byte, 4096)
		if n, err := unix.Llistxattr(path, names); err == nil && n > 0 {
			fmt.Fprintf(&text, " attributes %q", names[:n])
		}
		if target, err := os.Readlink(path); err == nil {
			fmt.Fprintf(&text, " to %q", target)
		}
		if entry.Type().IsRegular() && stat.Size < 1<<16 {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&text, " %q", data)
		}
		text.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}
