package text

import (
	"strconv"
	"unicode/utf8"
)

// ellipsis shows that text was cut.
const ellipsis = "…"

// quotedMost is how much Quote shows: enough to recognize a value, and not the whole file
// that somebody put into a field.
const quotedMost = 60

// Cut returns the start of s, at most so many bytes, without a broken character at its
// end.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// Shorten is Cut with an ellipsis behind what was cut.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return Cut(s, most) + ellipsis
}

// Quote shows the start of a value as a Go string.
func Quote(s string) string { return strconv.Quote(Shorten(s, quotedMost)) }

// FirstInvalid is the offset of the first byte of s that is not UTF-8, or its length.
func FirstInvalid(s string) int {
	for i, r := range s {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
			return i
		}
	}
	return len(s)
}
