package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

// ValueForm is what help texts say about a flag that takes a value.
const ValueForm = "JSON, @FILE, or - for standard input"

// Value reads a flag that takes a value: JSON, @ and the name of a file with JSON, or -
// for standard input. It stays text, so that numbers arrive exactly as written.
func Value(flag, value string, stdin io.Reader) (json.RawMessage, error) {
	path, isFile := strings.CutPrefix(value, "@")
	if !isFile && value != Stdin {
		return parseValue(flag, "", []byte(value))
	}
	if path == "" {
		return nil, run.Errorf(run.Invalid, "%s: the name of a file is missing after @", flag)
	}
	data, err := ReadFile(path, run.MaxPayload, stdin)
	if err != nil {
		return nil, run.Errorf(run.ClassOf(err), "%s: %w", flag, err)
	}
	if path == Stdin {
		path = "standard input"
	}
	return parseValue(flag, path, bytes.TrimPrefix(data, []byte("\ufeff")))
}

// Text reads a flag that takes a line of text which is not JSON: the text itself, @ and
// the name of a file, or - for standard input.
func Text(flag, value string, stdin io.Reader) (string, error) {
	path, isFile := strings.CutPrefix(value, "@")
	if !isFile && value != Stdin {
		return value, nil
	}
	data, err := ReadFile(path, run.MaxPayload, stdin)
	if err != nil {
		return "", run.Errorf(run.Invalid, "%s: %w", flag, err)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// parseValue parses the value of a flag, which is in a file unless that is empty.
func parseValue(flag, file string, data []byte) (json.RawMessage, error) {
	var value json.RawMessage
	var syntax *json.SyntaxError
	err := json.Unmarshal(data, &value)
	switch {
	case err == nil:
		return value, nil
	case len(bytes.TrimSpace(data)) == 0 && file == "":
		return nil, run.Errorf(run.Invalid, "%s: is empty: write a JSON value, like {\"a\": 41}", flag)
	case len(bytes.TrimSpace(data)) == 0:
		return nil, run.Errorf(run.Invalid, "%s: %s is empty: it needs a JSON value, like {\"a\": 41}", flag, file)
	case !errors.As(err, &syntax):
		return nil, run.Errorf(run.Invalid, "%s: %w", flag, err)
	}
	line, column := jsonform.Position(data, syntax)
	what := jsonform.ExplainSyntax(data, syntax)
	if file != "" {
		return nil, run.Errorf(run.Invalid, "%s: %s:%d:%d: not valid JSON: %s", flag, file, line, column, what)
	}
	at := fmt.Sprintf("column %d", column)
	if line > 1 {
		at = fmt.Sprintf("line %d, %s", line, at)
	}
	return nil, run.Errorf(run.Invalid, "%s: not valid JSON at %s: %s%s", flag, at, what, suggest(string(data)))
}

// maxSuggested is how much of a value a suggestion repeats.
const maxSuggested = 60

// suggest adds what the author of a value probably meant: a file, or JSON whose double
// quotes the shell has removed.
func suggest(value string) string {
	info, err := os.Stat(value)
	if err == nil && info.Mode().IsRegular() || strings.ContainsAny(value, "./") && !strings.ContainsAny(value, " \n{[\"'") {
		return fmt.Sprintf(", or @%s for the file", text.Shorten(value, maxSuggested))
	}
	if strings.HasPrefix(strings.TrimSpace(value), "{") && !strings.ContainsAny(value, `"'`) {
		return ", and put single quotes around the whole value for the shell"
	}
	return ""
}
