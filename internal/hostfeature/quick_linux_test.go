package hostfeature

import "testing"

func TestMapped(t *testing.T) {
	for text, want := range map[string]bool{
		"         0          0 4294967295\n":                  true,
		"         0       1000          1\n":                  false,
		"         0       1000          1\n 1 100000 65536\n": true,
		"     65534       1000          1\n":                  true,
		"         0     100000      65534\n":                  false,
		"rubbish":                                             false, "": false,
	} {
		if got := mapped(text, nobody); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
