package deploy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// TestImageServes builds the parts of the Dockerfile's last stage: its user, its
// directories, its programs, an interpreter. bubblewrap makes a root from them. Inside, where
// a container runtime's filter denies namespaces, the image's own command has to answer a
// run.
func TestImageServes(t *testing.T) {
	hosttest.Slow(t, "it builds both programs")
	hosttest.Needs(t, "bwrap")
	if os.Geteuid() != 0 {
		hosttest.Lacks(t, "only root can make directories for the user of the image")
	}
	directory := imageDirectory(t)
	programs, config, state := filepath.Join(directory, "bin"), filepath.Join(directory, "etc"), filepath.Join(directory, "state")
	for _, made := range []string{programs, config, state, filepath.Join(directory, "docker")} {
		if err := os.Mkdir(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	build(t, programs, "cordon")
	build(t, programs, "cordond")
	// Also what this test needs inside; the image's user must be able to read it.
	copyFile(t, self(t), filepath.Join(directory, "test"))
	copyFile(t, "docker/Dockerfile", filepath.Join(directory, "docker", "Dockerfile"))
	secret, hash := token.New()
	tokens := filepath.Join(config, "tokens")
	if err := os.WriteFile(tokens, fmt.Appendf(nil, "tokens:\n- name: ci\n  sha256: %s\n", hash), 0o600); err != nil {
		t.Fatal(err)
	}
	const user = 65532 // as in TestImageIsSmallAndRunsAsNobody
	for _, path := range []string{tokens, state} {
		if err := os.Chown(path, user, user); err != nil {
			t.Fatal(err)
		}
	}
	line := []string{
		"--unshare-all", "--die-with-parent", "--uid", fmt.Sprint(user), "--gid", fmt.Sprint(user), "--clearenv",
		"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--ro-bind", programs, "/usr/local/bin", "--ro-bind", config, "/etc/cordon", "--bind", state, "/var/lib/cordon",
		"--ro-bind", filepath.Join(directory, "test"), "/test", "--ro-bind", filepath.Join(directory, "docker"), "/docker", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
		"--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/var/lib/cordon", "--chdir", "/var/lib/cordon",
		"--setenv", secretVariable, secret, "--setenv", "CORDON_TEST_DEGRADED", "enter",
		"/test", "-test.run=^TestInsideTheImage$", "-test.v",
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, hosttest.FindProgram("bwrap"), line...)
	// bubblewrap maps the image's user to its own id, so the files belong to the user.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestInsideTheImage ") {
		t.Errorf("%v\n%s", err, out)
	}
	if log, err := os.ReadFile(filepath.Join(state, "audit.log")); err != nil || !strings.Contains(string(log), `"caller":"ci"`) {
		t.Errorf("the audit log: %v\n%s", err, log)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = hosttest.WriteProgram(to, text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

const secretVariable = "CORDON_TEST_SECRET"

// self returns the path of this program.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInsideTheImage(t *testing.T) {
	if !hosttest.Degraded() || os.Getenv(secretVariable) == "" {
		t.Skip("runs inside TestImageServes")
	}
	t.Chdir("/") // where the Dockerfile is
	all := dockerfile(t)
	var entry, args, healthy []string
	_, health, _ := strings.Cut(last(t, all, "HEALTHCHECK"), " CMD ")
	for text, into := range map[string]*[]string{
		last(t, all, "ENTRYPOINT"): &entry, last(t, all, "CMD"): &args, health: &healthy,
	} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), entry[0], append(entry[1:], args...)...)
	cmd.Dir = last(t, all, "WORKDIR")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at := "http://127.0.0.1:" + last(t, all, "EXPOSE")
	for deadline := time.Now().Add(5 * time.Minute); ; <-time.After(10 * time.Millisecond) {
		if response, err := http.Get(at + "/readyz"); err == nil {
			response.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not listen: %s", log.String())
		}
	}
	if out, err := exec.CommandContext(t.Context(), healthy[0], healthy[1:]...).CombinedOutput(); err != nil {
		t.Errorf("HEALTHCHECK: %v\n%s", err, out)
	}
	result := ask(t, at+"/v1/runs", `{"script": "import os\nresult = [6 * 7, os.getuid()]"}`)
	if result.Outcome != run.Succeeded || string(result.ValueOrNull()) != "[42, 65532]" && string(result.ValueOrNull()) != "[42,65532]" {
		t.Errorf("%s: %s %s", result.Outcome, result.ValueOrNull(), result.Error)
	}
	walls := result.Enforcement.Walls
	if !walls["seccomp"].Enforced() || !walls["landlock"].Enforced() || walls["userns"].Enforced() {
		t.Errorf("walls %v", walls)
	}
	for name, script := range map[string]string{
		"the tokens":    `open("/etc/cordon/tokens")`,
		"the audit log": `open("/var/lib/cordon/audit.log", "a")`,
		"the network":   `import socket; socket.create_connection(("127.0.0.1", 8734))`,
		"the service":   `import os, signal; os.kill(os.getppid(), signal.SIGKILL)`,
	} {
		body, err := json.Marshal(map[string]string{"script": script})
		if err != nil {
			t.Fatal(err)
		}
		if result := ask(t, at+"/v1/runs", string(body)); result.Outcome != run.Raised {
			t.Errorf("a guest reaches %s: %s %s", name, result.Outcome, result.Error)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it exited with %v: %s", err, log.String())
	}
}

func ask(t *testing.T, url, body string) (result run.Result) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+os.Getenv(secretVariable))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", response.Status, text, err)
	}
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatal(err)
	}
	return result
}
