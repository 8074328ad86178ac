// Package printable shows text that a guest may have chosen: on one line, and without
// characters that change what a terminal or a reader sees. What it cannot show it
// escapes, so that no guest writes a line that looks like cordon's own.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line shows s on one line. What is not a printable character is written as in Go
// source: \n for a new line, \x1b for an escape, \u202e for a change of direction.
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
	text, whole := s, true
	if len(text) > most {
		end := most
		for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text, whole = text[:end], false
	}
	text = Line(text)
	if whole && len(text) <= most {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:min(len(text), most-len(more))], "") + more
}

// JSON is Line for a line of JSON, which stays the same value: outside of ASCII there
// is nothing but text in it, and text can be escaped.
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
