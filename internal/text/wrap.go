package text

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks s at spaces into lines of at most width characters. Lines after the first
// begin with indent. A word that is longer than a line keeps a line to itself: a path
// must stay one that can be copied. A width of zero or less breaks nothing.
func Wrap(s string, width int, indent string) string {
	if width <= 0 || utf8.RuneCountInString(s) <= width {
		return s
	}
	var b strings.Builder
	// Spaces at the start are an indentation of the caller's.
	rest := strings.TrimLeft(s, " ")
	start := s[:len(s)-len(rest)]
	b.WriteString(start)
	column, fresh := utf8.RuneCountInString(start), true
	for word := range strings.SplitSeq(rest, " ") {
		length := utf8.RuneCountInString(word)
		switch {
		case fresh:
		case column+1+length > width:
			b.WriteString("\n" + indent)
			column = utf8.RuneCountInString(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column, fresh = column+length, false
	}
	return b.String()
}
