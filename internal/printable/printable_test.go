package printable

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "grün": "grün", "a\tb": `a\tb`, "\x1b[2J": `\x1b[2J`, "\xff": `\xff`, "\u202e": `\u202e`, "\ufffd": "\ufffd", "it's": "it's", "'\n'": `'\n'`,
	} {
		if got := Line(in); got != want {
			t.Errorf("%q is %q; want %q", in, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"", "plain", "a\nb", "\x1b[2J", "\xff\xfe", "\u202e", "\u2028", "\U000e0001", strings.Repeat("é\x00", 40)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, shown := range []string{Line(s), Clip(s, 40), JSON([]byte(s))} {
			if strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(shown) {
				t.Errorf("%q is shown as %q", s, shown)
			}
		}
		if got := Clip(s, 40); len(got) > 40 {
			t.Errorf("%q is %d bytes", got, len(got))
		}
		// A text in JSON is the same text however it is shown.
		quoted, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var plain, shown string
		if err := errors.Join(json.Unmarshal(quoted, &plain), json.Unmarshal([]byte(JSON(quoted)), &shown)); err != nil || plain != shown {
			t.Errorf("%q became %q, %v", plain, shown, err)
		}
	})
}
