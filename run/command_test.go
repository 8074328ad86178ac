package run

import (
	"errors"
	"strings"
	"testing"
)

func TestValidateCommands(t *testing.T) {
	command := []string{"ls", "-l"}
	for _, test := range []struct {
		name    string
		request Request
		words   string
	}{
		{"a command", Request{Command: command, Workspace: "/w", WorkspaceReadOnly: true, Env: map[string]string{"A": "b=c"}}, ""},
		{"both", Request{Command: command, Script: "pass"}, "script is for scripts, and this request is for commands"},
		{"context", Request{Command: command, Context: 1}, "context is for scripts"},
		{"variables", Request{Command: command, Variables: []string{"x"}}, "variables is for scripts"},
		{"restricted", Request{Command: command, Restricted: true}, "restricted is for scripts"},
		{"name", Request{Command: command, Name: "x"}, "name is for scripts"},
		{"no program", Request{Command: []string{"", "x"}}, "command[0] is empty"},
		{"NUL", Request{Command: []string{"ls", "a\x00b"}}, "command[1] has a NUL byte"},
		{"NUL in the workspace", Request{Command: command, Workspace: "a\x00b"}, "workspace has a NUL byte"},
		{"read-only nothing", Request{Command: command, WorkspaceReadOnly: true}, "there is no workspace"},
		{"env without a name", Request{Command: command, Env: map[string]string{"": "x"}}, "env has"},
		{"env with an equals sign", Request{Command: command, Env: map[string]string{"A=B": "x"}}, "env has"},
		{"env with NUL", Request{Command: command, Env: map[string]string{"A": "x\x00"}}, "env has"},
		{"a script's workspace", Request{Script: "pass", Workspace: "/w"}, "workspace is for commands"},
		{"a script's environment", Request{Script: "pass", Env: map[string]string{"A": "b"}}, "env is for commands and modules"},
	} {
		err := test.request.Validate()
		if test.words == "" && err != nil || test.words != "" && (err == nil || !strings.Contains(err.Error(), test.words) || !errors.Is(err, ErrInvalid)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.words)
		}
	}
}

func TestParseCommand(t *testing.T) {
	r, err := ParseRequest([]byte(`{"command": ["ls", "-l"], "workspace": "/w", "workspace_read_only": true, "env": {"A": "b"}, "limits": {"processes": 3, "disk": "1MiB"}}`))
	if err != nil || len(r.Command) != 2 || r.Workspace != "/w" || !r.WorkspaceReadOnly || r.Env["A"] != "b" || r.Limits.Processes != 3 || r.Limits.Disk != 1<<20 {
		t.Errorf("%+v, %v", r, err)
	}
}
