package deploy_test

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/run"
)

const binaryVariable = "CORDON_TEST_BINARY"

func TestMain(m *testing.M) {
	hosttest.Enter()
	os.Exit(m.Run())
}

// instruction is an instruction of a Dockerfile.
type instruction struct{ word, rest string }

func dockerfile(t *testing.T) (all []instruction) {
	t.Helper()
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(read(t, "docker/Dockerfile")), "")
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word != "" {
			all = append(all, instruction{word, strings.Join(strings.Fields(rest), " ")})
		}
	}
	return all
}

func last(t *testing.T, all []instruction, word string) string {
	t.Helper()
	for _, i := range slices.Backward(all) {
		if i.word == word {
			return i.rest
		}
	}
	t.Fatalf("the Dockerfile has no %s", word)
	return ""
}

func TestImageIsSmallAndRunsAsNobody(t *testing.T) {
	all := dockerfile(t)
	if got := last(t, all, "USER"); got != "65532:65532" {
		t.Errorf("it runs as %s", got)
	}
	if got := last(t, all, "FROM"); !strings.HasSuffix(got, "-slim") {
		t.Errorf("its base image is %s", got)
	}
	wanted := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(read(t, "../go.mod")))[1]
	if all[0].word != "FROM" || !strings.HasPrefix(all[0].rest, "golang:"+wanted+"-") {
		t.Errorf("it is built with %s, and go.mod needs %s", all[0].rest, wanted)
	}
	var entry, args []string
	for word, into := range map[string]*[]string{"ENTRYPOINT": &entry, "CMD": &args} {
		if err := json.Unmarshal([]byte(last(t, all, word)), into); err != nil {
			t.Errorf("%s uses a shell, which would get the signals: %v", word, err)
		}
	}
	if copied := last(t, all, "COPY"); len(entry) == 0 || !strings.HasSuffix(copied, filepath.Dir(entry[0])+"/") || !strings.Contains(copied, "/out/cordon /out/cordond ") {
		t.Errorf("%v is not what was copied: %s", entry, copied)
	}
	if port := last(t, all, "EXPOSE"); len(args) < 3 || args[0] != "serve" || !strings.HasSuffix(args[2], ":"+port) {
		t.Errorf("%v does not listen on %s", args, port)
	}
	if !slices.Contains(args, "--tokens") {
		t.Error("it listens on all addresses without tokens")
	}
}

// Runs the programs, built as in the Dockerfile, as its user where a container runtime denies
// namespaces.
func TestProgramsOfImageRunInDefaultContainer(t *testing.T) {
	hosttest.Slow(t, "long: it builds the program")
	directory := imageDirectory(t)
	binary := build(t, directory, "cordon")
	t.Setenv(binaryVariable, binary)
	t.Setenv("HOME", directory)
	t.Setenv("PATH", "/usr/local/bin:/usr/bin:/bin") // as in the image: the test's PATH may have directories below a home
	uid := os.Geteuid()
	if uid == 0 {
		uid = 65532
	}
	hosttest.RunDegraded(t, "TestRunsInsideAContainer", uid)
}

// imageDirectory returns a directory for the parts of an image, which the image's user can
// read.
func imageDirectory(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "cordon-image-") // others cannot reach t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	return directory
}

// build builds a program as the Dockerfile does.
func build(t *testing.T, directory, name string) string {
	t.Helper()
	binary := filepath.Join(directory, name)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "../cmd/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	static(t, binary)
	return binary
}

func static(t *testing.T, binary string) {
	t.Helper()
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		t.Error("the program is not static: it needs a loader and the image's C library")
	}
}

func TestRunsInsideAContainer(t *testing.T) {
	if !hosttest.Degraded() {
		t.Skip("runs inside TestProgramsOfImageRunInDefaultContainer")
	}
	cmd := exec.CommandContext(t.Context(), os.Getenv(binaryVariable), "run", "--json", "-c", "import os\nresult = [6 * 7, os.getuid()]")
	cmd.Dir = "/"
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, errs.String(), out)
	}
	var result run.Result
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatal(err)
	}
	if result.Outcome != run.Succeeded || !strings.HasPrefix(string(result.ValueOrNull()), "[42") {
		t.Errorf("%s: %s %s", result.Outcome, result.ValueOrNull(), result.Error)
	}
	walls := result.Enforcement.Walls
	if !walls["seccomp"].Enforced() || !walls["landlock"].Enforced() {
		t.Errorf("walls %v", walls)
	}
	if walls["userns"].Enforced() {
		t.Errorf("a namespace is reported as enforced where none is possible: %v", walls)
	}
}
