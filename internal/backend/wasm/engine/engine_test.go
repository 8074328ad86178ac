package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// A panic of the engine becomes an error.
func TestRecoverMakesPanicsErrors(t *testing.T) {
	panicking := func() (err error) {
		defer Recover(&err)
		return fmt.Errorf("there is no %c", t.Name()[len(t.Name())])
	}
	if err := panicking(); run.ClassOf(err) != run.Internal || !strings.Contains(err.Error(), "the engine for WebAssembly failed") {
		t.Error(err)
	}
}
