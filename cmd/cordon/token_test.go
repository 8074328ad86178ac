package main

import "testing"

func TestTokensWith(t *testing.T) {
	const entry = "- name: b\n  sha256: x\n"
	for _, tt := range []struct{ name, old, want string }{
		{"no file", "", "tokens:\n  - name: b\n    sha256: x\n"},
		{"an empty list", "# who\ntokens: []\n", "# who\ntokens:\n  - name: b\n    sha256: x\n"},
		{"an indented list", "tokens:\n    - name: a\n      sha256: y\n\n", "tokens:\n    - name: a\n      sha256: y\n    - name: b\n      sha256: x\n"},
		{"a list that is not indented", "tokens:\n- name: a\n  sha256: y", "tokens:\n- name: a\n  sha256: y\n- name: b\n  sha256: x\n"},
	} {
		if got := string(tokensWith([]byte(tt.old), entry)); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}
