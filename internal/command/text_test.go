package command

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestShow(t *testing.T) {
	for _, test := range [][3]string{
		{"/usr/bin/ls", "/usr/bin/ls", "/usr/bin/ls"}, {"", `""`, `""`}, {"a b", `"a b"`, "a b"}, {"\x1b[31m", `"\x1b[31m"`, `"\x1b[31m"`}, {"\xff", `"\xff"`, `"\xff"`},
		{"a\nb", `"a\nb"`, `"a\nb"`}, {`"`, `"\""`, `"\""`}, {"ä…", "ä…", "ä…"}, {"\u202e", `"\u202e"`, `"\u202e"`},
	} {
		if got := show(test[0]); got != test[1] {
			t.Errorf("%q: %s; want %s", test[0], got, test[1])
		}
		if got := showLine(test[0]); got != test[2] {
			t.Errorf("%q: %s; want %s", test[0], got, test[2])
		}
	}
	if got := show(strings.Repeat("ä", 1000)); len(got) > maxShown+10 || !utf8.ValidString(got) {
		t.Errorf("%d bytes", len(got))
	}
}
