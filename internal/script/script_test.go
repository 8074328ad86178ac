package script_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/script"
)

// The part that all systems share must not depend on where it runs, and each of its
// imports costs every start.
func TestSourceIsIndependentOfSystem(t *testing.T) {
	for _, word := range []string{"posix", "CHANNEL", "_cordon", "send("} {
		if strings.Contains(script.Source(), word) {
			t.Errorf("it names %s", word)
		}
	}
	var imported []string
	for _, m := range regexp.MustCompile(`(?m)^(?:import|from) (\w+)`).FindAllStringSubmatch(script.Source(), -1) {
		imported = append(imported, m[1])
	}
	slices.Sort(imported)
	if want := []string{"marshal", "sys"}; !slices.Equal(slices.Compact(imported), want) {
		t.Errorf("it imports %q, want %q", imported, want)
	}
}
