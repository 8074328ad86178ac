package guest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/backend/verdict"
)

func TestTrapOf(t *testing.T) {
	for _, tt := range []struct {
		name, words string
		want        verdict.Trap
	}{
		{"a trap", "wasm error: unreachable\nwasm stack trace:\n\tf()", verdict.Trap{Message: "unreachable", Trace: "wasm stack trace:\n\tf()"}},
		{"one word", "unreachable", verdict.Trap{Message: "unreachable"}},
		{
			"a panic of the host", "runtime error: index out of range (recovered by wazero)\nwasm stack trace:\n\tf()\n\nGo runtime stack trace:\ngoroutine 1",
			verdict.Trap{Message: "a host function was called with invalid arguments", Trace: "wasm stack trace:\n\tf()"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(&tt.want, trapOf(tt.words)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
