package jobobject

import (
	"slices"
	"testing"
)

func TestCapabilitiesOfAccess(t *testing.T) {
	if got := (Access{}).capabilities(); len(got) != 0 {
		t.Errorf("no access holds %q", got)
	}
	read := Access{Read: []string{`C:\data`}}.capabilities()
	for name, other := range map[string]Access{
		"to write":          {Write: []string{`C:\data`}},
		"another directory": {Read: []string{`C:\data2`}},
		"a directory in it": {Read: []string{`C:\data\x`}},
	} {
		if slices.Equal(other.capabilities(), read) {
			t.Errorf("%s is the same capability", name)
		}
	}
	if got := (Access{Read: []string{`c:\DATA`}}).capabilities(); !slices.Equal(got, read) {
		t.Error("names of files know no case, capabilities do")
	}
	if got := (Access{Network: true}).capabilities(); !slices.Equal(got, networkCapabilities) {
		t.Errorf("the network is %q", got)
	}
}

func TestContainerNames(t *testing.T) {
	if pid, ours := makerOf(containerName(4711, "ABC")); pid != 4711 || !ours {
		t.Errorf("made by %d, %v", pid, ours)
	}
	for _, other := range []string{"", "cordon-", "cordon-x-ABC", "cordon-4711", "Microsoft.WindowsCalculator_8wekyb3d8bbwe"} {
		if _, ours := makerOf(other); ours {
			t.Errorf("%q would be removed", other)
		}
	}
	// Windows takes no name that is longer.
	if name := containerName(1<<31, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"); len(name) > 64 {
		t.Errorf("%s has %d characters", name, len(name))
	}
}

func TestOutermost(t *testing.T) {
	for _, c := range []struct{ paths, want []string }{
		{nil, nil},
		{[]string{`C:\py\python.exe`, `C:\py`, `C:\py\Lib`, `c:\PY\DLLs`}, []string{`C:\py`}},
		{[]string{`C:\py`, `C:\python`, `C:\p`}, []string{`C:\py`, `C:\python`, `C:\p`}},
		{[]string{`C:\a`, `c:\A`}, []string{`C:\a`}},
		{[]string{`D:\`, `D:\x`}, []string{`D:\`}},
	} {
		if got := outermost(c.paths); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, not %q", c.paths, got, c.want)
		}
	}
}
