package text

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

func TestWordAndPhrase(t *testing.T) {
	for _, tt := range []struct{ in, word, phrase string }{
		{"plain", "plain", "plain"},
		{"grün", "grün", "grün"},
		{"", `""`, `""`},
		{"a b", `"a b"`, "a b"},
		{`a"b`, `"a\"b"`, `"a\"b"`},
		{"a\nb", `"a\nb"`, `"a\nb"`},
		{"\xff", `"\xff"`, `"\xff"`},
		{"\u202e", `"\u202e"`, `"\u202e"`},
		{strings.Repeat("x", 12), "xxxxxxxxxx…", "xxxxxxxxxx…"},
	} {
		if word, phrase := Word(tt.in, 10), Phrase(tt.in, 10); word != tt.word || phrase != tt.phrase {
			t.Errorf("%q is %s and %s; want %s and %s", tt.in, word, phrase, tt.word, tt.phrase)
		}
	}
}

func TestCutAndShorten(t *testing.T) {
	for _, tt := range []struct {
		in          string
		most        int
		cut, shorts string
	}{
		{"", 3, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc", "abc…"},
		{"aéé", 4, "aé", "aé…"},
		{"aéé", 2, "a", "a…"},
		{"é", 1, "", "…"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80", "\x80…"}, // no character to keep whole
	} {
		if cut, short := Cut(tt.in, tt.most), Shorten(tt.in, tt.most); cut != tt.cut || short != tt.shorts {
			t.Errorf("%q at %d is %q and %q; want %q and %q", tt.in, tt.most, cut, short, tt.cut, tt.shorts)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"64": `"64"`, "a\nb": `"a\nb"`, strings.Repeat("é", 31): `"` + strings.Repeat("é", 30) + `…"`,
	} {
		if got := Quote(in); got != want {
			t.Errorf("%q is %s; want %s", in, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		in, indent, want string
		width            int
	}{
		{"one two three", "", "one two three", 0},
		{"one two three", "", "one two three", 13},
		{"one two three", "", "one two\nthree", 12},
		{"one two three", "  ", "one\n  two\n  three", 6},
		{"a /very/long/path b", " ", "a\n /very/long/path\n b", 8},
		{"/very/long/path b", " ", "/very/long/path\n b", 8},
		{"    indented words stay", "    ", "    indented\n    words\n    stay", 12},
		{"grün grün", "", "grün grün", 9}, // characters are counted, not bytes
	} {
		if got := Wrap(tt.in, tt.width, tt.indent); got != tt.want {
			t.Errorf("%q at %d is %q; want %q", tt.in, tt.width, got, tt.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("one two  three ", 5)
	f.Add(" é\xff x", 1)
	f.Fuzz(func(t *testing.T, s string, width int) {
		// It changes spaces to line ends, and nothing else.
		if got := strings.ReplaceAll(Wrap(s, width, ""), "\n", " "); got != strings.ReplaceAll(s, "\n", " ") {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"", "plain", "a\nb", "\x1b[2J", "\xff\xfe", "\u202e", "\u2028", "\U000e0001", strings.Repeat("é\x00", 40)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, shown := range []string{Line(s), Clip(s, 40), JSON([]byte(s)), Quote(s), Word(s, 40), Phrase(s, 40)} {
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

func TestFirstInvalid(t *testing.T) {
	for s, want := range map[string]int{"": 0, "äb": 3, "a\xffb": 1, "\ufffd": 3, "\ufffd\xc3": 3, "\xed\xa0\x80": 0} {
		if got := FirstInvalid(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}
