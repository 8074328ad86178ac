package jsonform

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/internal/text"
)

// maxWrongWord bounds a wrong word in an explanation.
const maxWrongWord = 30

// notJSON maps words of Python and JavaScript to their JSON equivalents.
var notJSON = map[string]string{
	"None": "null", "undefined": "null", "True": "true", "False": "false",
	"NaN": "null", "nan": "null", "Infinity": "null", "inf": "null",
}

// ExplainSyntax describes a syntax error in data and how to fix it.
func ExplainSyntax(data []byte, syntax *json.SyntaxError) string {
	words := syntax.Error()
	rest := string(data[min(len(data), max(0, int(syntax.Offset)-1)):])
	word := firstWord(rest)
	has := func(part string) bool { return strings.Contains(words, part) }
	switch {
	case has("unexpected end"):
		return "the JSON ends too early: " + missing(data)
	case has("max depth"):
		return "it is nested too deeply"
	case has("after top-level value"):
		return "there is more text after the value"
	case has("beginning of object key") && rest[0] == '}', has("beginning of value") && strings.ContainsRune("]}", rune(rest[0])) && afterComma(data, syntax.Offset):
		return fmt.Sprintf("remove the comma before %c", rest[0])
	case has("beginning of object key"):
		return fmt.Sprintf("a name has double quotes: write %s", quoted(word))
	case has("beginning of value") && rest[0] == '\'':
		return fmt.Sprintf("a text has double quotes: write %s", quoted(word))
	case has("beginning of value") && word != "":
		return explainWord(word)
	case has("beginning of value"):
		return fmt.Sprintf("%q where a value should be", first(rest))
	case isWord(syntax):
		// The offset is inside the word.
		return explainWord(firstWord(string(data[wordStart(data, syntax.Offset):])))
	case has("after object key:value pair"):
		return fmt.Sprintf("%q where a comma or } should be", first(rest))
	case has("after object key"):
		return fmt.Sprintf("%q where a colon should be", first(rest))
	case has("after array element"):
		return fmt.Sprintf("%q where a comma or ] should be", first(rest))
	case has("in string literal"):
		return fmt.Sprintf("%q cannot be in a text as it is: write %s", first(rest), escaped(rest[0]))
	case has("in string escape"), has(`in \u hexadecimal`):
		return `after \ there can only be one of "\/bfnrt, or u and four digits`
	}
	return words
}

func explainWord(word string) string {
	if instead := notJSON[strings.TrimLeft(word, "+-")]; instead != "" {
		return fmt.Sprintf("JSON has no %s: write %s", word, instead)
	}
	if digits := strings.TrimLeft(word, "+-."); digits != "" && unicode.IsDigit(rune(digits[0])) {
		return fmt.Sprintf("%s is not a number of JSON, which has numbers like 10, -1.5 and 2e3", text.Shorten(word, maxWrongWord))
	}
	return fmt.Sprintf("a text has double quotes: write %s", quoted(word))
}

// quoted returns a word as a JSON string.
func quoted(word string) string {
	quoted, err := json.Marshal(text.Shorten(strings.Trim(word, "'"), maxWrongWord))
	if err != nil || word == "" {
		return `"…"`
	}
	return string(quoted)
}

// firstWord returns the word at the beginning of s, or a text in single quotes.
func firstWord(s string) string {
	if strings.HasPrefix(s, "'") {
		word, _, _ := strings.Cut(s[1:], "'")
		return word
	}
	end := strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.+-/$@\\", r)
	})
	if end < 0 {
		end = len(s)
	}
	return s[:end]
}

// isWord reports whether an error is inside a word or a number.
func isWord(syntax *json.SyntaxError) bool {
	words := syntax.Error()
	return strings.Contains(words, "in literal") || strings.Contains(words, "in numeric literal")
}

// wordStart returns the beginning of the word that has an error at offset.
func wordStart(data []byte, offset int64) int {
	at := min(len(data), max(0, int(offset)-1))
	for at > 0 && !strings.ContainsRune(" \t\r\n,:[]{}\"", rune(data[at-1])) {
		at--
	}
	return at
}

// afterComma reports whether the last character before an error is a comma.
func afterComma(data []byte, offset int64) bool {
	before := strings.TrimRight(string(data[:max(0, int(offset)-1)]), " \t\r\n")
	return strings.HasSuffix(before, ",")
}

// missing returns what an incomplete text lacks.
func missing(data []byte) string {
	var open []byte
	inText, escape := false, false
	for _, c := range data {
		switch {
		case escape:
			escape = false
		case inText && c == '\\':
			escape = true
		case c == '"':
			inText = !inText
		case inText:
		case c == '{':
			open = append(open, '}')
		case c == '[':
			open = append(open, ']')
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if inText {
		return `a " is missing`
	}
	if len(open) == 0 {
		return "the value is not complete"
	}
	return fmt.Sprintf("%c is missing", open[len(open)-1])
}

// escaped returns the JSON escape of a control character.
func escaped(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\u%04x`, c)
}

func first(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return s[:size]
}

// Position returns the line and the column of a syntax error, both from 1. A column counts
// characters. For a wrong word it is the position of its first character.
func Position(data []byte, syntax *json.SyntaxError) (line, column int) {
	at := min(len(data), max(0, int(syntax.Offset)-1))
	if isWord(syntax) {
		at = wordStart(data, syntax.Offset)
	}
	before := string(data[:at])
	line = 1 + strings.Count(before, "\n")
	column = 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return line, column
}
