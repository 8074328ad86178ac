package containtest

import (
	"os"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

func TestMain(m *testing.M) {
	hosttest.Enter()
	os.Exit(m.Run())
}
