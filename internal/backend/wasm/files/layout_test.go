package files

import (
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// A grant of the root directory replaces the directory above all mounts.
func TestRootIsMountedOnce(t *testing.T) {
	for _, granted := range [][]string{{"/data"}, {"/"}, {"/data", "/"}} {
		l, err := NewLayout(nil, granted)
		if err != nil {
			t.Fatal(err)
		}
		mounts := l.Mounts()
		if slices.Sort(mounts); len(slices.Compact(mounts)) != len(l.Mounts()) || mounts[0] != "/" {
			t.Errorf("granted %q: mounted are %q", granted, l.Mounts())
		}
	}
}

// A file in /tmp itself would replace the script's own /tmp.
func TestFileInTmpIsRefused(t *testing.T) {
	if _, err := NewLayout(nil, []string{"/data", "/tmp"}); run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "/tmp itself") {
		t.Errorf("%v", err)
	}
	if _, err := NewLayout(nil, []string{"/data", "/tmp/x"}); err != nil {
		t.Error(err)
	}
}

// What the policy grants at /work is what a script finds there.
func TestWork(t *testing.T) {
	for _, test := range []struct {
		granted []string
		work    string
		mounted bool
	}{
		{nil, "/work", true},
		{[]string{"/data", "/worker"}, "/work", true},
		{[]string{"/work"}, "/tmp/work", true},
		{[]string{"/work/data"}, "/tmp/work", false},
		{[]string{"/"}, "/tmp/work", false},
	} {
		l, err := NewLayout(nil, test.granted)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Work(); got != test.work {
			t.Errorf("%q: %s, want %s", test.granted, got, test.work)
		}
		if mounted := slices.Contains(l.Mounts(), "/work"); mounted != test.mounted {
			t.Errorf("%q: the mounts are %q", test.granted, l.Mounts())
		}
	}
}
