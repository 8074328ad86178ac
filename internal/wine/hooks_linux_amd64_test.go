package wine

import "testing"

// TestHooks checks the hooks of cordon.exe, with CPython for Windows.
func TestHooks(t *testing.T) {
	w := setUp(t)
	for _, c := range []struct {
		name           string
		args           []string
		code           int
		stdout, stderr string
	}{
		{"state and config", []string{"--state", `{"gold": 4}`, "--config", `{"rate": 0.5}`, "-c", "result['output'] = game_state['gold'] * mod_config['rate']"}, 0, "2.0\n", ""},
		{"a function", []string{"--call", "add", "--arg", "40", "--arg", "2", "-c", "def add(a, b): return a + b"}, 0, "42\n", ""},
		{"calls that share a process", []string{"--trust", "platform", "--repeat", "50", "--state", "1", "-c", "import json\nprint('called')\nresult['output'] = [game_state, math.pi > 3]"}, 0, "[1,true]\n", "called\n"},
		{"a process for each call", []string{"--repeat", "3", "--json", "-c", "result['output'] = 7"}, 0, `"tier":"process"`, ""},
		{"enforcement", []string{"--trust", "platform", "--json", "-c", "result['output'] = 7"}, 0, `"tier":"hook"`, ""},
		{"an exception", []string{"-c", "x = 1\nresult['output'] = game_state['silver']"}, 1, "", "KeyError: 'silver' (line 2)"},
		{"language rules", []string{"-c", "import os"}, 2, "", "import of module 'os' is not allowed"},
		{"an endless loop", []string{"-t", "1s", "--trust", "platform", "-c", "while True: pass"}, 124, "", "wall time limit of 1s"},
		{"too much memory", []string{"-m", "64MiB", "--trust", "platform", "-c", "x = 'a' * (300 << 20)\nwhile True: pass"}, 137, "", "memory limit of 64MiB"},
		{"too much output", []string{"-o", "4KiB", "--trust", "platform", "-c", "print('x' * 100000)\nresult['output'] = 7"}, 0, "7\n", "xxx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w.run(t, "", w.cordon, append([]string{"hook", "--policy", w.policy, "--python", w.python}, c.args...)...).check(t, c.code, c.stdout, c.stderr)
		})
	}
}
