package seatbelt

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/run"
)

// checkPath refuses paths that cannot be written down so that everybody reads the same.
// Profiles are programs in a small Scheme; what a string of it makes of a control
// character is nowhere promised.
func checkPath(name string) error {
	switch {
	case !utf8.ValidString(name):
		return run.Errorf(run.Invalid, "seatbelt: the path %q is not valid UTF-8, as paths of macOS are", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return run.Errorf(run.Invalid, "seatbelt: the path %q has a control character, which a profile cannot name safely: rename it", name)
	case !path.IsAbs(name) || path.Clean(name) != name:
		return run.Errorf(run.Invalid, "seatbelt: the path %q is not absolute and clean", name)
	}
	for _, link := range links {
		if under(name, link) {
			return run.Errorf(run.Invalid, "seatbelt: %s is a link on macOS, and rules go by real paths: write /private%s", link, name)
		}
	}
	return nil
}

// quote writes a string of the profile language. Two characters mean something inside of
// one; parentheses and semicolons do not.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func literal(name string) string { return "(literal " + quote(name) + ")" }

func subpath(name string) string { return "(subpath " + quote(name) + ")" }
