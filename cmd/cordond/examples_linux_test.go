package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/policyfile"
	tokens "github.com/cordon-sandbox/cordon/internal/token"
)

// example is a fenced block of a document.
type example struct {
	file     string
	line     int
	language string
	text     string
}

func (e example) String() string { return fmt.Sprintf("%s:%d", e.file, e.line) }

// prose are blocks that are not commands, by their beginning, with the reason. Any other
// block without a language is treated as commands.
var prose = map[string]string{
	" your program (Go, trusted)": "a drawing", " binary ─▶": "a drawing", " python-wasm.zip ─▶": "a drawing",
	"control socket": "a drawing", "event: started": "a stream, see TestStream", `"violations": [`: "a part of a Result",
	`{"type": "urn:cordon:error`: "an answer, see TestBadRequests", "It ran out of memory": "texts, see TestTranscripts",
	"write_file  {": "calls of an agent, see TestTranscripts", "%%cordon": "a cell of a notebook, see python/tests/test_notebook.py",
	"Python on tier process": "a terminal, see TestSessionAtATerminal", "[Service]": "a unit", "OTEL_EXPORTER": "an environment", "jail: mount proc": "subjects of commits",
}

// elsewhere are programs that tests must not run, with the reason.
var elsewhere = map[string]string{
	"make": "builds; CI runs it", "pip": "installs; TestPackage does so", "brew": "macOS", "limactl": "macOS",
	"systemctl": "changes the host", "install": "changes the host", "groupadd": "changes the host", "chgrp": "changes the host", "chmod": "changes the host",
	"source": "changes the shell; cmd/cordon: completion.txtar does so",
}

// flagsOnly are commands of which only the flags are checked, because they need what the
// block does not show. Commands without a shown output are checked like this too.
var flagsOnly = map[string]string{
	"cordon mcp install":               "changes configurations; internal/mcpclient tests it",
	"cordon doctor --prove":            "takes minutes; TestContainment",
	"cordon audit":                     "needs a log; testdata/script/audit_*.txtar",
	"cordon check":                     "cmd/cordon: TestDocumentedChecks",
	"cordon run --file":                "cmd/cordon: TestDocumentedFiles",
	"cordon exec --workspace . -- cat": "names a directory of the reader's",
}

// TestDocumentedExamples runs the examples in the documents, or parses them as strictly
// as cordon does.
func TestDocumentedExamples(t *testing.T) {
	found := examples(t)
	if len(found) < 60 {
		t.Fatalf("only %d examples", len(found))
	}
	var snippets []example
	for _, e := range found {
		switch e.language {
		case "go":
			switch program := strings.HasPrefix(e.text, "package main"); {
			case program && e.file == "README.md":
				t.Run(e.String(), func(t *testing.T) { checkGoProgram(t, e) })
			case !program: // other programs: cmd/cordon: TestDocumentedModules
				snippets = append(snippets, e)
			}
		case "yaml":
			t.Run(e.String(), func(t *testing.T) { checkYAML(t, e) })
		case "json":
			text := strings.ReplaceAll(e.text, "\n", " ")
			if !json.Valid([]byte(text)) {
				t.Errorf("%s is not JSON", e)
			}
			if strings.Contains(e.text, `"mcpServers"`) {
				t.Run(e.String(), func(t *testing.T) { checkMCPServers(t, e) })
			}
		case "python":
			t.Run(e.String(), func(t *testing.T) { checkPython(t, e) })
		case "c": // cmd/cordon: TestDocumentedModules
		case "", "sh":
			if !isProse(e) {
				t.Run(e.String(), func(t *testing.T) { checkShell(t, e) })
			}
		default:
			t.Errorf("%s: nobody checks %q", e, e.language)
		}
	}
	t.Run("go", func(t *testing.T) { checkGo(t, snippets) })
}

func isProse(e example) bool {
	for begin := range prose {
		if strings.HasPrefix(strings.TrimPrefix(e.text, "\n"), begin) {
			return true
		}
	}
	return strings.ContainsAny(e.text, "┌│║▶") // a drawing
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func examples(t *testing.T) (found []example) {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md", "../../python/README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range fence.FindAllSubmatchIndex(text, -1) {
			found = append(found, example{
				file: strings.TrimPrefix(page, "../../"), line: 1 + bytes.Count(text[:at[0]], []byte("\n")),
				language: string(text[at[2]:at[3]]), text: string(text[at[4]:at[5]]),
			})
		}
	}
	return found
}

// checkYAML reads a policy, or serves with a token file.
func checkYAML(t *testing.T, e example) {
	if !strings.HasPrefix(e.text, "tokens:") {
		if _, err := policyfile.Parse(e.file, []byte(e.text)); err != nil {
			t.Error(err)
		}
		return
	}
	secret, hash := tokens.New()
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	text := regexp.MustCompile("sha256: [0-9a-f]{64}").ReplaceAllString(e.text, "sha256: "+hash)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "--tokens", file)
	if status, answer := r.ask("POST", "/v1/runs", `{"script": "result = 42"}`, "Authorization: Bearer "+secret); status != 200 || !strings.Contains(answer, `"result":42`) {
		t.Errorf("%d %s", status, answer)
	}
}

// checkPython runs a program; docs/python.md is a doctest of the package's own.
func checkPython(t *testing.T, e example) {
	if strings.HasPrefix(e.text, ">>>") || e.file == "docs/language.md" || e.file == "docs/scripts.md" || isPlot(e) {
		return // python/tests/test_docs.py; cmd/cordon: TestDocumentedChecks and TestDocumentedFiles; TestPlot
	}
	source, err := filepath.Abs("../../python/src")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", e.text)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+source, "CORDON_BIN="+filepath.Join(programDirectory(t), "cordon"))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "42\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// checkGoProgram runs a whole program.
func checkGoProgram(t *testing.T, e example) {
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(e.text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", file)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "42\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// checkMCPServers starts each server of a client's configuration and calls it.
func checkMCPServers(t *testing.T, e example) {
	var configuration struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte(e.text), &configuration); err != nil {
		t.Fatal(err)
	}
	for name, server := range configuration.Servers {
		cmd := exec.CommandContext(t.Context(), filepath.Join(programDirectory(t), server.Command), server.Args...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(in, hello+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_python","arguments":{"code":"print(6 * 7)"}}}`+"\n")
		if err != nil {
			t.Error(err)
		}
		// Its end of input would end the run.
		answers := bufio.NewScanner(out)
		for answers.Scan() && !strings.Contains(answers.Text(), `"id":2`) {
		}
		if !strings.Contains(answers.Text(), `42\n`) {
			t.Errorf("%s: %s", name, answers.Text())
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// checkShell runs commands whose output is shown, and compares it: … is anything. Of others
// the flags are checked.
func checkShell(t *testing.T, e example) {
	dir := sandboxDir(t)
	if e.language == "sh" {
		text, want := e.text, ""
		if strings.Contains(text, "curl ") { // of one service, for the whole block
			text = strings.ReplaceAll(text, "curl ", "curl --fail --unix-socket "+start(t).socket+" ")
			want = `"result":42`
		}
		if out, err := shell(t, dir, "set -e\n"+text); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	text := strings.ReplaceAll(e.text, "\\\n", "")
	transcript := strings.Contains("\n"+text, "\n$ ")
	var command, want string
	finish := func() {
		if command != "" {
			checkCommand(t, dir, command, want)
		}
		command, want = "", ""
	}
	for line := range strings.Lines(text) {
		switch prompt, isPrompt := strings.CutPrefix(line, "$ "); {
		case isPrompt:
			finish()
			command = strings.TrimSpace(prompt)
		case transcript:
			want += line
		default:
			finish()
			command = strings.TrimSpace(line)
		}
	}
	finish()
}

var comment = regexp.MustCompile(`\s+# .*$`)

func checkCommand(t *testing.T, dir, command, want string) {
	t.Helper()
	command = comment.ReplaceAllString(command, "")
	if _, asked, ok := strings.Cut(command, "& curl"); ok {
		checkFlags(t, dir, "cordon serve")
		command = "curl" + asked
	}
	name, _, _ := strings.Cut(command, " ")
	switch {
	case elsewhere[name] != "":
		return
	case name == "curl":
		r := start(t)
		command = strings.Replace(command, "curl ", "curl --unix-socket "+r.socket+" ", 1)
		if want == "" {
			want = "…\"result\":42,…"
		}
	case want == "" && (name == "openssl" || strings.HasPrefix(command, "cordon wasm ")):
		if out, err := shell(t, dir, command); err != nil {
			t.Errorf("$ %s: %v\n%s", command, err, out)
		}
		return
	case want == "" || isFlagsOnly(command):
		checkFlags(t, dir, command)
		return
	}
	out, _ := shell(t, dir, command) // its exit code is shown where it matters
	want = strings.ReplaceAll(want, " …", "…")
	if !regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", "(?s:.*)") + "$").MatchString(strings.TrimSpace(out)) {
		t.Errorf("$ %s\n%s\nthe document shows:\n%s", command, out, want)
	}
}

func isFlagsOnly(command string) bool {
	for begin := range flagsOnly {
		if strings.HasPrefix(command, begin) {
			return true
		}
	}
	return false
}

var rest = regexp.MustCompile(` -- | \| | > | && |;`)

// checkFlags adds --help to a command: all its flags are parsed before that takes effect.
func checkFlags(t *testing.T, dir, command string) {
	t.Helper()
	if name, _, _ := strings.Cut(command, " "); name != "cordon" {
		t.Errorf("$ %s: nobody checks %s: say where it is tested, or show its output", command, name)
		return
	}
	if at := rest.FindStringIndex(command); at != nil {
		command = command[:at[0]]
	}
	if out, err := shell(t, dir, command+" --help"); err != nil {
		t.Errorf("$ %s: %v\n%s", command, err, out)
	}
}

// sandboxDir returns a directory with the files that examples name.
func sandboxDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	score, err := os.ReadFile("../../examples/score.wasm")
	if err != nil {
		t.Fatal(err)
	}
	// Modules that return at once, and that never do.
	const begin = "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00\x05\x03\x01\x00\x01\x07\x13\x02\x06memory\x02\x00\x06_start\x00\x00"
	const plugin, spin = begin + "\x0a\x04\x01\x02\x00\x0b", begin + "\x0a\x09\x01\x07\x00\x03\x40\x0c\x00\x0b\x0b"
	for name, text := range map[string]string{
		"Makefile": "test:\n\t@echo ok\n", "examples/score.wasm": string(score), "score.wasm": string(score), "spin.wasm": spin, "plugin.wasm": plugin, "data/x": "x",
		"state.json": `{"gold": 21}`, "sales.csv": "year,cents\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // guests read it
			t.Fatal(err)
		}
	}
	return dir
}

func shell(t *testing.T, dir, command string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", "exec 2>&1\n"+command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+programDirectory(t)+":"+os.Getenv("PATH"))
	out, err := cmd.Output()
	return string(out), err
}

// checkGo type-checks snippets. Undeclared names are allowed; wrong uses of this module
// are not.
func checkGo(t *testing.T, snippets []example) {
	const module = "github.com/cordon-sandbox/cordon"
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", module, "encoding/json")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[path] = file
	}
	files := token.NewFileSet()
	load := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, e := range snippets {
		source := fmt.Sprintf("package example\nimport (\"context\"; \"encoding/json\"; %q; %q; %q)\nfunc example() error {\n%s\nreturn nil }\n",
			module, module+"/policy", module+"/run", e.text)
		parsed, err := parser.ParseFile(files, e.String(), source, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", e, err)
			continue
		}
		checker := types.Config{Importer: load, Error: func(err error) {
			words := err.Error()
			_, undefined, _ := strings.Cut(words, "undefined: ")
			missing := undefined != "" && !strings.Contains(undefined, ".")
			if !missing && !strings.Contains(words, "not used") && !strings.Contains(words, "no new variables") {
				t.Errorf("%s: %v", e, err)
			}
		}}
		_, _ = checker.Check("example", files, []*ast.File{parsed}, nil) // Error hears of all
	}
}
