package command

import (
	"strconv"
	"unicode/utf8"
)

// showMost is how much of a text is shown.
const showMost = 200

// show makes a guest's text fit for a sentence: a terminal must not be told
// what to do by a file's name.
func show(s string) string { return printable(s, false) }

// showLine is show for a line of text, in which spaces need no quotes.
func showLine(s string) string { return printable(s, true) }

func printable(s string, spaces bool) string {
	if len(s) > showMost {
		cut := showMost
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	plain := s != ""
	for _, r := range s {
		plain = plain && strconv.IsPrint(r) && (r != ' ' || spaces) && r != '"' && r != utf8.RuneError
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}
