package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Values of flags stay JSON text, so that numbers arrive exactly as written.

// valueOrFile reads a flag that takes JSON or the name of a file. A value that begins
// like an object, a list or a string is JSON even if it is malformed: "no such file"
// would mislead its author.
func valueOrFile(flag, value string, stdin io.Reader) (json.RawMessage, error) {
	if strings.IndexAny(strings.TrimSpace(value), `{["`) == 0 || json.Valid([]byte(value)) {
		return parseValue(flag, []byte(value))
	}
	return readValue(flag, strings.TrimPrefix(value, "@"), stdin)
}

// valueOrAtFile reads a flag that takes JSON, or @ and the name of a file.
func valueOrAtFile(flag, value string, stdin io.Reader) (json.RawMessage, error) {
	if path, isFile := strings.CutPrefix(value, "@"); isFile {
		return readValue(flag, path, stdin)
	}
	return parseValue(flag, []byte(value))
}

// fromStdin reports whether a flag's value is read from standard input.
func fromStdin(value string) bool { return value == "-" || value == "@-" }

// readValue reads a file; - is standard input.
func readValue(flag, path string, stdin io.Reader) (json.RawMessage, error) {
	from := stdin
	if path != "-" {
		f, err := openInput(path)
		if err != nil {
			return nil, run.Errorf(run.ClassOf(err), "%s: %w", flag, err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, run.MaxPayload+1))
	switch {
	case err != nil:
		return nil, run.Errorf(run.Invalid, "%s: %w", flag, err)
	case len(text) > run.MaxPayload:
		return nil, run.Errorf(run.Invalid, "%s: larger than %v, the maximum", flag, policy.Bytes(run.MaxPayload))
	}
	return parseValue(flag, bytes.TrimPrefix(text, []byte("\ufeff")))
}

func parseValue(flag string, text []byte) (json.RawMessage, error) {
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, run.Errorf(run.Invalid, "%s: %s", flag, explainValue(text, err))
	}
	return value, nil
}

// explainValue gives the position of the error, and knows the words of Python and
// JavaScript that JSON does not have.
func explainValue(text []byte, err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err.Error()
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return "is empty: write a JSON value, like {\"a\": 41}"
	}
	words := "not valid JSON: " + syntax.Error()
	at := max(0, int(syntax.Offset)-1)
	if at < len(text) && !strings.Contains(words, "unexpected end") {
		rest := string(text[at:min(len(text), at+20)])
		words += " at byte " + strconv.Itoa(at+1)
		for word, instead := range map[string]string{
			"NaN": "null", "Infinity": "null", "-Infinity": "null", "nan": "null", "None": "null", "True": "true", "False": "false", "'": `"text"`,
		} {
			if strings.HasPrefix(rest, word) {
				words += ": JSON has no " + word + ", write " + instead
			}
		}
	}
	return words
}
