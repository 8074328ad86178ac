package mcpclient

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cordon-sandbox/cordon/internal/golden"
	"github.com/cordon-sandbox/cordon/run"
)

var (
	byCommand = How{Command: []string{"/usr/local/bin/cordon", "mcp"}, Home: "/home/u", System: "linux"}
	byURL     = How{URL: "http://127.0.0.1:8734/mcp", Token: "secret", Home: "/home/u", System: "linux"}
)

// TestConfig pins the configuration of each client, with a command and with a URL and a
// token.
func TestConfig(t *testing.T) {
	var all txtar.Archive
	all.Comment = []byte("What `cordon mcp config CLIENT` prints, by command and by URL.\n")
	for _, name := range Clients {
		for _, how := range []How{byCommand, byURL} {
			f, err := Config(name, how)
			switch {
			case run.ClassOf(err) == run.Unsupported && err != nil:
				f.Path, f.Content = "no URL", []byte(err.Error()+"\n")
			case err != nil:
				t.Fatalf("%s: %v", name, err)
			}
			all.Files = append(all.Files, txtar.File{Name: name + ": " + f.Path, Data: f.Content})
		}
	}
	golden.Check(t, "testdata/config.txtar", string(txtar.Format(&all)))
}

func TestPaths(t *testing.T) {
	for _, row := range []struct{ name, system, project, want string }{
		{"claude-desktop", "darwin", "", "/home/u/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "windows", "", "/home/u/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"vscode", "darwin", "", "/home/u/Library/Application Support/Code/User/mcp.json"},
		{"vscode", "linux", "/p", "/p/.vscode/mcp.json"},
		{"claude-code", "linux", "/p", "/p/.mcp.json"},
		{"cursor", "linux", "/p", "/p/.cursor/mcp.json"},
		{"zed", "windows", "", "/home/u/AppData/Roaming/Zed/settings.json"},
	} {
		how := byCommand
		how.System, how.Project = row.system, row.project
		f, err := Config(row.name, how)
		if err != nil || filepath.ToSlash(f.Path) != row.want {
			t.Errorf("%s on %s: %s (%v)", row.name, row.system, f.Path, err)
		}
	}
}

// TestMerge installs into files that exist. Each txtar has a file before and after; its name
// begins with that of the client.
func TestMerge(t *testing.T) {
	files, err := filepath.Glob("testdata/merge/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, rest, _ := strings.Cut(filepath.Base(file), "--")
			how := byCommand
			how.Env = map[string]string{"CORDON_POLICY": "strict"}
			if strings.HasPrefix(rest, "url") {
				how = byURL
			}
			how.Home = t.TempDir()
			f, err := Config(name, how)
			if err != nil {
				t.Fatal(err)
			}
			before := archive.Files[0].Data
			write(t, f.Path, before)
			done, err := Install(name, how)
			after, readErr := os.ReadFile(f.Path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			refusal := ""
			if err != nil {
				refusal = strings.ReplaceAll(err.Error(), how.Home, "HOME") + "\n"
				if !bytes.Equal(before, after) {
					t.Error("Install failed and changed the file")
				}
			} else {
				checkDone(t, name, how, done, before, after)
			}
			archive.Files = []txtar.File{archive.Files[0], {Name: "after", Data: after}}
			if refusal != "" {
				archive.Files[1] = txtar.File{Name: "refused", Data: []byte(refusal)}
			}
			golden.Check(t, file, string(txtar.Format(archive)))
		})
	}
}

// checkDone checks that the backup has the old file, and that a second Install changes
// nothing.
func checkDone(t *testing.T, name string, how How, done Done, before, after []byte) {
	t.Helper()
	if done.Changed == bytes.Equal(before, after) {
		t.Errorf("Changed is %v", done.Changed)
	}
	if done.Changed {
		if kept, err := os.ReadFile(done.Backup); err != nil || !bytes.Equal(kept, before) {
			t.Errorf("the backup is %q (%v)", kept, err)
		}
	}
	again, err := Install(name, how)
	if err != nil || again.Changed {
		t.Errorf("the second time: %+v, %v", again, err)
	}
	if twice, err := os.ReadFile(done.Path); err != nil || !bytes.Equal(twice, after) {
		t.Errorf("the second time the file is %s (%v)", twice, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(done.Path), ".cordon-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o640); err != nil {
		t.Fatal(err)
	}
}

func TestInstallMakesWhatIsMissing(t *testing.T) {
	for _, name := range Clients {
		how := byCommand
		how.Home = t.TempDir()
		done, err := Install(name, how)
		if err != nil || !done.Changed || done.Backup != "" {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		want, err := Config(name, how)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(done.Path)
		if err != nil || !bytes.Equal(got, want.Content) {
			t.Errorf("%s: %s (%v)", name, got, err)
		}
		if state, err := os.Stat(done.Path); err != nil || state.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others: %v (%v)", name, state.Mode(), err)
		}
	}
}

func TestInstallKeepsModeAndLink(t *testing.T) {
	how := byCommand
	how.Home = t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "dotfiles.json")
	write(t, elsewhere, []byte(`{"a": 1}`))
	link := filepath.Join(how.Home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Install("cursor", how); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != elsewhere {
		t.Errorf("the link points to %q (%v)", to, err)
	}
	state, err := os.Stat(elsewhere)
	if err != nil || state.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v (%v)", state.Mode(), err)
	}
}

func TestRefused(t *testing.T) {
	for _, row := range []struct {
		name, client string
		change       func(*How)
		want         string
	}{
		{"no such client", "emacs", func(*How) {}, `no client is called "emacs": use one of claude-code, claude-desktop, cursor`},
		{"neither", "cursor", func(h *How) { h.Command = nil }, "give a command or a URL"},
		{"both", "cursor", func(h *How) { h.URL = "http://x" }, "give a command or a URL"},
		{"a command by its name", "cursor", func(h *How) { h.Command = []string{"cordon"}; h.System = "" }, "not an absolute path"},
		{"another kind of URL", "cursor", func(h *How) { h.Command, h.URL = nil, "file:///x" }, "does not begin with http://"},
		{"a name with a dot", "codex", func(h *How) { h.Name = "a.b" }, "letters, digits"},
		{"a variable with a line", "codex", func(h *How) { h.Env = map[string]string{"A\nB": ""} }, "environment variable"},
		{"no projects there", "claude-desktop", func(h *How) { h.Project = "/p" }, "no configuration files in projects"},
		{"no URLs there", "claude-desktop", func(h *How) { h.Command, h.URL = nil, "http://x" }, "use a command"},
	} {
		how := byCommand
		row.change(&how)
		if _, err := Install(row.client, how); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

func TestUnreadableFileIsSaidAndLeft(t *testing.T) {
	how := byCommand
	how.Home = t.TempDir()
	path := filepath.Join(how.Home, ".cursor", "mcp.json")
	if err := os.MkdirAll(path, 0o700); err != nil { // a directory
		t.Fatal(err)
	}
	if _, err := Install("cursor", how); err == nil || !strings.Contains(err.Error(), "cannot read the configuration of Cursor") {
		t.Error(err)
	}
}

// FuzzJSON checks that each text is refused, or gets the entry and keeps everything else.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"mcpServers":{}}`, "{\n  // c\n  \"a\": [1, {\"b\": null},],\n}\n", `{"mcpServers":{"cordon":{"command":"x","url":"y","z":1}}}`, "\uFEFF{ }", `{"mcpServers":{"cordon":3}}`} {
		f.Add([]byte(seed))
	}
	entry := []field{{"command", "/c"}, {"args", []string{"mcp"}}, {"env", []field{{"A", "b"}}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		after, err := jsonFormat.merge(text, "mcpServers", "cordon", entry, nil)
		if err != nil {
			return
		}
		v, err := parseJSON(after)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, after, err)
		}
		plain, err := v.plain()
		if err != nil {
			t.Fatal(err)
		}
		got, _ := plain.(map[string]any)
		servers, _ := got["mcpServers"].(map[string]any)
		mine, _ := servers["cordon"].(map[string]any)
		if env, _ := mine["env"].(map[string]any); mine["command"] != "/c" || env["A"] != "b" || mine["url"] != nil {
			t.Fatalf("%q became %q", text, after)
		}
		again, err := jsonFormat.merge(after, "mcpServers", "cordon", entry, nil)
		if err != nil || !bytes.Equal(after, again) {
			t.Fatalf("%q became %q at first, and then %q (%v)", text, after, again, err)
		}
		// Strict JSON stays strict, and keeps its other members.
		var before, now map[string]any
		if json.Unmarshal(text, &before) == nil && before != nil {
			if err := json.Unmarshal(after, &now); err != nil {
				t.Fatalf("%q became %q: %v", text, after, err)
			}
			delete(before, "mcpServers")
			delete(now, "mcpServers")
			if diff := cmp.Diff(before, now); diff != "" {
				t.Fatalf("%q lost something: %s", text, diff)
			}
		}
	})
}
