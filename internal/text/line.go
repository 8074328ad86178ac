package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line shows s on one line, without characters that change what a terminal or a reader
// sees: no guest can write a line that looks like one of cordon's. Characters that are not
// printable are escaped as in Go source: \n for a new line, \x1b for an escape, \u202e for
// a change of direction.
func Line(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if isPrintable(r, size) {
			b.WriteString(s[i : i+size])
		} else {
			b.WriteString(escaped(r, size, s[i]))
		}
		i += size
	}
	return b.String()
}

// Clip is Line, cut to at most so many bytes.
func Clip(s string, most int) string {
	line := Line(Cut(s, most))
	if len(s) <= most && len(line) <= most {
		return line
	}
	return Cut(line, most-len(ellipsis)) + ellipsis
}

// JSON is Line for a line of JSON, which keeps its value: only strings have characters
// outside of ASCII, and strings can be escaped.
func JSON(line []byte) string {
	if isPlain(string(line)) {
		return string(line)
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		switch {
		case isPrintable(r, size):
			b.Write(line[i : i+size])
		case r > 0xffff:
			r -= 0x10000
			b.WriteString(`\u` + hex4(0xd800+r>>10) + `\u` + hex4(0xdc00+r&0x3ff))
		default:
			b.WriteString(`\u` + hex4(r))
		}
		i += size
	}
	return b.String()
}

// Word shows s as a word of a sentence, cut to at most so many bytes. It is quoted if a
// reader could not tell where it begins and ends, or what is in it.
func Word(s string, most int) string { return quotedUnless(s, most, isWordRune) }

// Phrase is Word for text in which spaces need no quotation marks.
func Phrase(s string, most int) string {
	return quotedUnless(s, most, func(r rune) bool { return r == ' ' || isWordRune(r) })
}

func quotedUnless(s string, most int, plain func(rune) bool) string {
	s = Shorten(s, most)
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return strconv.Quote(s)
}

func isWordRune(r rune) bool {
	return unicode.IsPrint(r) && r != ' ' && r != '"' && r != utf8.RuneError
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isPrintable is false for control characters, for those that change the direction of
// text or have no width, and for bytes that are not UTF-8.
func isPrintable(r rune, size int) bool {
	return unicode.IsPrint(r) && (r != utf8.RuneError || size > 1)
}

func escaped(r rune, size int, first byte) string {
	if r == utf8.RuneError && size == 1 {
		return `\x` + strconv.FormatUint(uint64(first)+0x100, 16)[1:]
	}
	return strings.Trim(strconv.QuoteRune(r), "'")
}

func hex4(r rune) string { return strconv.FormatInt(int64(r)+0x10000, 16)[1:] }
