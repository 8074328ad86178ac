package command

import "github.com/cordon-sandbox/cordon/internal/text"

// maxShown bounds the length of a text in a message.
const maxShown = 200

// show puts text from the guest into a sentence: a file's name must not control a
// terminal.
func show(s string) string { return text.Word(s, maxShown) }

// showLine is show for a line of text, in which spaces need no quotes.
func showLine(s string) string { return text.Phrase(s, maxShown) }
