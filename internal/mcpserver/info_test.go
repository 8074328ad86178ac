package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/mcpserver"
	"github.com/cordon-sandbox/cordon/internal/observe"
	"github.com/cordon-sandbox/cordon/internal/service"
)

// A model plans with the packages that there are, which not every client shows it if they are
// in the structured answer alone.
func TestInfoNamesPackages(t *testing.T) {
	s := fakeServer(t, func(o *service.Options, _ *mcpserver.Options) { o.Runner = ableRunner{} })
	got := startStdio(t, s).asking(t)("sandbox_info", given{})
	if !strings.Contains(got.remark(), "Scripts may import what the interpreter has: Python 3.13 with matplotlib 3.11.2, numpy 2.4.6.") || !strings.Contains(string(got.StructuredContent), `"packages":["matplotlib 3.11.2","numpy 2.4.6"]`) {
		t.Errorf("%s\n%s", got.remark(), got.StructuredContent)
	}
}

type ableRunner struct{ fakeRunner }

func (ableRunner) Abilities() observe.Abilities {
	return observe.Abilities{Python: "3.13", Packages: []string{"matplotlib 3.11.2", "numpy 2.4.6"}}
}
