package jsonform

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

func TestExplainSyntax(t *testing.T) {
	for data, want := range map[string]string{
		`{"a": `:              `1:6 the JSON ends too early: } is missing`,
		`[{"a": [1, 2]}`:      `1:14 the JSON ends too early: ] is missing`,
		`"text`:               `1:5 the JSON ends too early: a " is missing`,
		`tru`:                 `1:1 a text has double quotes: write "tru"`,
		`{"a": NaN}`:          `1:7 JSON has no NaN: write null`,
		`[-Infinity]`:         `1:2 JSON has no -Infinity: write null`,
		`None`:                `1:1 JSON has no None: write null`,
		`[True]`:              `1:2 JSON has no True: write true`,
		`{'a': 1}`:            `1:2 a name has double quotes: write "a"`,
		`{a: 1}`:              `1:2 a name has double quotes: write "a"`,
		`{1: 2}`:              `1:2 a name has double quotes: write "1"`,
		`['it is']`:           `1:2 a text has double quotes: write "it is"`,
		`hello`:               `1:1 a text has double quotes: write "hello"`,
		`./state.json`:        `1:1 a text has double quotes: write "./state.json"`,
		`truth`:               `1:1 a text has double quotes: write "truth"`,
		`nul`:                 `1:1 a text has double quotes: write "nul"`,
		`[1,]`:                `1:4 remove the comma before ]`,
		`{"a": 1,}`:           `1:9 remove the comma before }`,
		`[,1]`:                `1:2 "," where a value should be`,
		`{"a": }`:             `1:7 "}" where a value should be`,
		`{"a" 1}`:             `1:6 "1" where a colon should be`,
		`{"a": 1 "b": 2}`:     `1:9 "\"" where a comma or } should be`,
		"[1\n 2]":             `2:2 "2" where a comma or ] should be`,
		`1 2`:                 `1:3 there is more text after the value`,
		"\"a\nb\"":            `1:3 "\n" cannot be in a text as it is: write \n`,
		"\"ü\x00\"":           `1:3 "\x00" cannot be in a text as it is: write \u0000`,
		`"a\x"`:               `1:4 after \ there can only be one of "\/bfnrt, or u and four digits`,
		`"\u00g0"`:            `1:6 after \ there can only be one of "\/bfnrt, or u and four digits`,
		`[.5]`:                `1:2 .5 is not a number of JSON, which has numbers like 10, -1.5 and 2e3`,
		`[1.]`:                `1:2 1. is not a number of JSON, which has numbers like 10, -1.5 and 2e3`,
		`+1`:                  `1:1 +1 is not a number of JSON, which has numbers like 10, -1.5 and 2e3`,
		`é`:                   `1:1 a text has double quotes: write "é"`,
		"{\n  \"a\": 1;\n}\n": `2:9 ";" where a comma or } should be`,
	} {
		var value any
		var syntax *json.SyntaxError
		if err := json.Unmarshal([]byte(data), &value); !errors.As(err, &syntax) {
			t.Fatalf("%q: %v", data, err)
		}
		line, column := Position([]byte(data), syntax)
		if got := fmt.Sprintf("%d:%d %s", line, column, ExplainSyntax([]byte(data), syntax)); got != want {
			t.Errorf("%q: %s; want %s", data, got, want)
		}
	}
}

func FuzzExplainSyntax(f *testing.F) {
	f.Add([]byte(`{"a": nope}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var value any
		var syntax *json.SyntaxError
		if !errors.As(json.Unmarshal(data, &value), &syntax) {
			return
		}
		line, column := Position(data, syntax)
		if ExplainSyntax(data, syntax) == "" || line < 1 || column < 1 {
			t.Errorf("%q: %q at %d:%d", data, ExplainSyntax(data, syntax), line, column)
		}
	})
}
