package run

import (
	"strings"
	"testing"
)

func TestParseObject(t *testing.T) {
	var hook HookSpec
	if err := ParseObject([]byte(`{"script": "pass", "limits": {"wall_time": "2s"}, "workers": 3}`), &hook); err != nil || hook.Script != "pass" || hook.Limits.WallTime == 0 || hook.Workers != 3 {
		t.Errorf("%+v, %v", hook, err)
	}
	var call struct {
		Args []any `json:"args"`
	}
	for _, test := range []struct {
		name, text, words string
		into              any
	}{
		{"unknown", `{"script": "pass", "scirpt": ""}`, `unknown field "scirpt"`, new(HookSpec)},
		{"twice", `{"script": "a", "script": "b"}`, `field "script" is there twice`, new(Check)},
		{"another case", `{"SCRIPT": "a"}`, `unknown field "SCRIPT"`, new(Check)},
		{"of the wrong kind", `{"args": {}}`, `field "args": expected a list, got a JSON object`, &call},
		{"no object", `[]`, "expected a JSON object", &call},
		{"two objects", `{} {}`, "more data after the JSON object", &call},
	} {
		if err := ParseObject([]byte(test.text), test.into); err == nil || ClassOf(err) != Invalid || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v, want %q", test.name, err, test.words)
		}
	}
}
