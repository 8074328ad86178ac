package command

import "testing"

func TestWhatIsAProgram(t *testing.T) {
	for _, tt := range []struct {
		system, head string
		want         bool
	}{
		{"linux", "\x7fELF\x02", true},
		{"linux", "\xcf\xfa\xed\xfe\x0c", false},
		{"linux", "#!/bin/sh", false},
		{"darwin", "\x7fELF\x02", false},
		{"darwin", "\xcf\xfa\xed\xfe\x0c", true},
		{"darwin", "\xca\xfe\xba\xbe\x00", true},
		{"darwin", "\xca\xfe\xba\xbf\x00", true},
		{"darwin", "", false},
		{"darwin", "\xcf", false},
	} {
		if isProgram(tt.system, tt.head) != tt.want {
			t.Errorf("%q on %s", tt.head, tt.system)
		}
	}
}
