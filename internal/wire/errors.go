package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
)

// The classes of errors, for errors.Is.
var (
	ErrMalformed = errors.New("malformed message")
	ErrTooLarge  = errors.New("too large")
	ErrTooDeep   = errors.New("nested too deep")
	ErrValue     = errors.New("not a JSON value")

	// ErrAboveMax is the ErrTooLarge for the maximum that the caller passed. Other
	// maxima are those of this package.
	ErrAboveMax = fmt.Errorf("%w: above the maximum", ErrTooLarge)
)

// Error describes what is wrong with a value, and where.
type Error struct {
	Where   string // context.a[3].b on the way in, result['a'][3] on the way out
	Problem string
	Class   error // one of the sentinels
}

func (e *Error) Error() string {
	if e.Where == "" {
		return e.Problem
	}
	return e.Where + " " + e.Problem
}

func (e *Error) Unwrap() error { return e.Class }

// TypeError reports a value of the guest whose type JSON does not have.
type TypeError struct {
	Type  string // the Python name: bytes, set, complex
	Where string // result['a'][3]
	Key   bool   // the value is a key of the dict at Where
}

func (e *TypeError) Error() string {
	article := "a"
	if strings.ContainsRune("aeiouAEIOU", rune((e.Type + " ")[0])) {
		article = "an"
	}
	if e.Key {
		return fmt.Sprintf("%s has %s %s object as a key, which is not a JSON value (use keys of these types: str, int, float, bool, None)",
			e.Where, article, e.Type)
	}
	return fmt.Sprintf("%s is %s %s object, which is not a JSON value (convert it: str, int, float, bool, None, list, tuple, dict)",
		e.Where, article, e.Type)
}

// Is makes errors.Is(err, ErrValue) work.
func (e *TypeError) Is(target error) bool { return target == ErrValue }

func malformed(format string, args ...any) error {
	return &Error{Problem: fmt.Sprintf(format, args...), Class: ErrMalformed}
}

// path collects the steps to an error while the calls return, innermost first. Values
// without an error cost nothing.
type path []string

// locate sets the Where of err to root and the collected steps.
func (p path) locate(root string, err error) error {
	where := p.join(root)
	switch e := err.(type) {
	case *Error:
		e.Where = where
	case *TypeError:
		e.Where = where
	}
	return err
}

// maxSteps is the number of steps that an error shows at each end of a long path.
// Otherwise the path of a value that is nested too deep would fill the screen.
const maxSteps = 8

func (p path) join(root string) string {
	var b strings.Builder
	b.WriteString(root)
	for i := len(p) - 1; i >= 0; i-- {
		if len(p) > 2*maxSteps && i == len(p)-1-maxSteps {
			b.WriteString("…")
			i = maxSteps
			continue
		}
		b.WriteString(p[i])
	}
	return strings.TrimPrefix(b.String(), ".")
}

func indexStep(i int) string { return "[" + strconv.Itoa(i) + "]" }

// hostStep formats a key of the host's value: .name, or ["any other text"].
func hostStep(key string) string {
	if isName(key) {
		return "." + key
	}
	return "[" + strconv.Quote(shorten(key)) + "]"
}

// guestStep formats a str key as the guest would write it: ['name'].
func guestStep(key string) string {
	// Line escapes control characters, which could change the user's terminal.
	shown := text.Line(strings.ReplaceAll(shorten(key), `\`, `\\`))
	return "['" + strings.ReplaceAll(shown, "'", `\'`) + "']"
}

func isName(s string) bool {
	if s == "" || len(s) > maxKey {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// maxKey is the maximum length of a key in an error.
const maxKey = 48

func shorten(s string) string { return text.Shorten(s, maxKey) }
