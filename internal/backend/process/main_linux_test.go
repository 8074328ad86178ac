package process

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

func TestMain(m *testing.M) {
	hosttest.Enter()
	goleak.VerifyTestMain(m)
}
