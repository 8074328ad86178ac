package script_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/script"
)

// What is the same wherever CPython runs must not know where it does; and what it
// imports is paid by every start.
func TestSourceKnowsNoPlace(t *testing.T) {
	for _, word := range []string{"posix", "CHANNEL", "_cordon", "send("} {
		if strings.Contains(script.Source(), word) {
			t.Errorf("it knows %s", word)
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
