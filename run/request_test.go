package run

import (
	"errors"
	"strings"
	"testing"
)

func TestRequestValidate(t *testing.T) {
	for _, tt := range []struct {
		req   Request
		words string
	}{
		{Request{}, "script: there is nothing to run"},
		{Request{Script: Script{Source: " \n"}}, "script: there is nothing to run"},
		{Request{Script: Script{Source: strings.Repeat("#", MaxScript+1)}}, "script: 16777217 bytes are above the maximum of 16777216"},
		{Request{Script: Script{Source: "a\xff"}}, "script: not valid UTF-8 (first bad byte at offset 1)"},
		{Request{Script: Script{Source: "a\x00"}}, "script: a NUL byte at offset 1"},
		{Request{Script: Script{Source: "pass", Name: "a\nb"}}, `name: "a\nb" is not printable text`},
		{Request{Script: Script{Source: "pass", Name: "\x1b[2J"}}, "is not printable text"},
		{Request{Script: Script{Source: "pass", Name: "\xff"}}, "is not printable text"},
		{Request{Script: Script{Source: "pass"}, Stdin: strings.Repeat("x", MaxPayload+1)}, "stdin: 67108865 bytes"},
		{Request{Script: Script{Source: "pass", Variables: []string{"x", "a b"}}}, `variables: "a b" is not a name`},
		{Request{Script: Script{Source: "pass", Variables: []string{""}}}, `variables: "" is not a name`},
		{Request{Script: Script{Source: "pass", Variables: []string{"3d"}}}, `variables: "3d" is not a name`},
		{Request{Script: Script{Source: "pass"}, Tier: "moon"}, `tier "moon" does not exist: the tiers are wasm, `},
		{Request{Script: Script{Source: "pass"}, Trust: "god"}, `trust "god" does not exist`},
		{Request{Script: Script{Source: "pass"}, OnOutputLimit: "cry"}, `on_output_limit "cry" does not exist`},
	} {
		err := tt.req.Validate()
		if err == nil || !strings.Contains(err.Error(), tt.words) || !errors.Is(err, ErrInvalid) {
			t.Errorf("error %v; want %q", err, tt.words)
		}
	}
	if err := (Request{Script: Script{Source: "pass", Name: "überall.py", Variables: []string{"x", "_y1", "größe"}}}).Validate(); err != nil {
		t.Error(err)
	}
}
