package jsonform

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Encode writes the same JSON as MarshalJSON for any Result.
func TestEncode(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Map(rapid.IntRange(0, 9), func(n int) string {
		return strings.Repeat("x", pieceSize-n) + strings.Repeat("\u20ac\U0001f600\xff\xe2\x82", 5) + "<&>"
	}))
	value := rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage("null"), json.RawMessage(`{"a":[1,"<x>"]}`), json.RawMessage("[1,\n 2]")})
	rapid.Check(t, func(t *rapid.T) {
		r := run.Result{
			ID: text.Draw(t, "id"), Status: run.StatusOK, Outcome: run.Succeeded, Value: value.Draw(t, "value"), Error: text.Draw(t, "error"),
			Stdout: text.Draw(t, "stdout"), Stderr: text.Draw(t, "stderr"),
			Variables: map[string]json.RawMessage{"b": value.Draw(t, "b"), text.Draw(t, "name"): json.RawMessage("1")},
			Usage:     run.Usage{Output: 5, Result: 7}, Enforcement: run.Enforcement{Tier: policy.TierProcess},
			Traffic: []run.Traffic{{Host: "a.example", Module: text.Draw(t, "module")}},
			Modules: []run.ModuleUse{{Module: text.Draw(t, "user"), Files: []string{text.Draw(t, "file")}, Threads: 1}},
		}
		if rapid.Bool().Draw(t, "is a step") {
			r.Step = &run.Step{Number: 3, Omitted: rapid.IntRange(0, 2).Draw(t, "omitted"), Display: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) run.Display {
				return run.Display{Forms: map[string]string{"text/plain": text.Draw(t, "shown"), "image/png": "eHg="}, Value: rapid.Bool().Draw(t, "is the value")}
			}), 0, 2).Draw(t, "display")}
		}
		want, err := r.MarshalJSON()
		var got, brief bytes.Buffer
		if encodeErr := Encode(&got, r); err != nil || encodeErr != nil || got.String() != string(want)+"\n" {
			t.Fatalf("%v, %v\n%s\n%s", err, encodeErr, got.Bytes(), want)
		}
		var whole, part map[string]json.RawMessage
		if err := errors.Join(EncodeBrief(&brief, r), json.Unmarshal(want, &whole), json.Unmarshal(brief.Bytes(), &part)); err != nil {
			t.Fatalf("%v: %s", err, brief.Bytes())
		}
		for _, name := range []string{"usage", "traffic", "modules", "enforcement"} {
			delete(whole, name)
		}
		if !reflect.DeepEqual(part, whole) {
			t.Fatalf("brief: %s, want %s", part, whole)
		}
	})
}

// Nothing copies a large value or file.
func TestEncodeHoldsNoCopy(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 32<<20)
	r := run.Result{
		Value: slices.Concat([]byte(`"`), large, []byte(`"`)), Stdout: strings.Repeat("x", 1<<20), Artifacts: []run.Artifact{{Data: large}},
	}
	for name, encode := range map[string]func(io.Writer) error{
		"result": func(w io.Writer) error { return Encode(w, r) },
		"file":   func(w io.Writer) error { return EncodeFile(w, struct{ ID string }{"a"}, run.FileInfo{}, large) },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := encode(pieceChecker{t}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		// The allocations are pieces of the output, together smaller than the value.
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 24<<20 {
			t.Errorf("%s: %d MiB were allocated", name, taken>>20)
		}
	}
}

// pieceChecker checks that the output is written in pieces.
type pieceChecker struct{ t *testing.T }

func (b pieceChecker) Write(p []byte) (int, error) {
	if len(p) > 8*pieceSize && p[0] != '"' {
		b.t.Errorf("a piece of %d bytes", len(p))
	}
	return len(p), nil
}
