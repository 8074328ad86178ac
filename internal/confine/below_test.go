package confine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
)

func TestBelowAny(t *testing.T) {
	set := map[string]bool{"/a": true, "/b/c": true}
	for path, want := range map[string]bool{
		"/a": false, "/a/x": true, "/a/x/y": true, "/ab": false, "/a-b/c": false, "/b": false, "/b/c": false, "/b/c/d": true, "/": false,
	} {
		if got := belowAny(set, path); got != want {
			t.Errorf("%s: %v; want %v", path, got, want)
		}
	}
	if !belowAny(map[string]bool{"/": true}, "/x") {
		t.Error("nothing is below the root")
	}
}

// A name that sorts between a directory and its contents must not hide the directory.
func TestReadableLeavesOutWhatIsBelow(t *testing.T) {
	got := readable(Inputs{Policy: policy.Policy{Read: []string{"/x/a/b", "/x/a-b", "/x/a", "/x/a/b/c", "/x/a"}}})
	got = slices.DeleteFunc(got, func(path string) bool { return slices.Contains(Devices, path) })
	if want := []string{"/x/a", "/x/a-b"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v; want %v", got, want)
	}
}
