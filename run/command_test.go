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
		{"a command", Request{Command: Command{Args: command, Workspace: "/w", WorkspaceReadOnly: true, Env: map[string]string{"A": "b=c"}}}, ""},
		{"a script and a command", Request{Command: Command{Args: command}, Script: Script{Source: "pass"}}, "script: this is for scripts, and the request is for commands"},
		{"context", Request{Command: Command{Args: command}, Script: Script{Context: 1}}, "context: this is for scripts"},
		{"variables", Request{Command: Command{Args: command}, Script: Script{Variables: []string{"x"}}}, "variables: this is for scripts"},
		{"restricted", Request{Command: Command{Args: command}, Script: Script{Restricted: true}}, "restricted: this is for scripts"},
		{"name", Request{Command: Command{Args: command}, Script: Script{Name: "x"}}, "name: this is for scripts"},
		{"no program", Request{Command: Command{Args: []string{"", "x"}}}, "command[0]: empty"},
		{"NUL", Request{Command: Command{Args: []string{"ls", "a\x00b"}}}, "command[1]: a NUL byte"},
		{"NUL in the workspace", Request{Command: Command{Args: command, Workspace: "a\x00b"}}, "workspace: a NUL byte"},
		{"read-only nothing", Request{Command: Command{Args: command, WorkspaceReadOnly: true}}, "there is no workspace"},
		{"env without a name", Request{Command: Command{Args: command, Env: map[string]string{"": "x"}}}, "env: "},
		{"env with an equals sign", Request{Command: Command{Args: command, Env: map[string]string{"A=B": "x"}}}, "env: "},
		{"env with NUL", Request{Command: Command{Args: command, Env: map[string]string{"A": "x\x00"}}}, "env: "},
		{"a script's workspace", Request{Script: Script{Source: "pass"}, Command: Command{Workspace: "/w"}}, "workspace: this is for commands"},
		{"a script's environment", Request{Script: Script{Source: "pass"}, Command: Command{Env: map[string]string{"A": "b"}}}, "env: this is for commands, and the request is for scripts"},
	} {
		err := test.request.Validate()
		if test.words == "" && err != nil || test.words != "" && (err == nil || !strings.Contains(err.Error(), test.words) || !errors.Is(err, ErrInvalid)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.words)
		}
	}
}
