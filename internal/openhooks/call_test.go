package openhooks

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// fakeHook answers with its arguments.
type fakeHook struct{}

func (fakeHook) Call(_ context.Context, state, config any) (run.Result, error) {
	return run.Result{Stdout: string(must(state)) + string(must(config))}, nil
}

func (fakeHook) CallFunction(_ context.Context, name string, args ...any) (run.Result, error) {
	return run.Result{Stdout: name + strconv.Itoa(len(args))}, nil
}

func (fakeHook) Close() error { return nil }

func must(value any) []byte {
	raw, _ := value.(interface{ MarshalJSON() ([]byte, error) })
	b, _ := raw.MarshalJSON()
	return b
}

func TestHookCall(t *testing.T) {
	for _, tt := range []struct {
		call    HookCall
		want    string
		invalid bool
	}{
		{HookCall{}, "{}{}", false},
		{HookCall{State: []byte("null")}, "null{}", false},
		{HookCall{State: []byte("1"), Config: []byte("2")}, "12", false},
		{HookCall{Function: "f", Args: []any{1, 2}}, "f2", false},
		{HookCall{Function: "f", Config: []byte("1")}, "", true},
		{HookCall{Args: []any{1}}, "", true},
	} {
		if err := tt.call.Validate(); errors.Is(err, run.ErrInvalid) != tt.invalid {
			t.Errorf("%+v: %v", tt.call, err)
		}
		if tt.invalid {
			continue
		}
		if got, err := tt.call.Do(t.Context(), fakeHook{}); err != nil || got.Stdout != tt.want {
			t.Errorf("%+v: %s, %v", tt.call, got.Stdout, err)
		}
	}
}
