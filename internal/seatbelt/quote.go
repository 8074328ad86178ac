package seatbelt

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/run"
)

// checkPath refuses paths that cannot be written unambiguously. Profiles are programs in a
// small Scheme, and the meaning of a control character in its strings is not documented.
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
			return run.Errorf(run.Invalid, "seatbelt: %s is a link on macOS, and rules match real paths: write /private%s", link, name)
		}
	}
	return nil
}

// quote returns a string of the profile language. Only two characters have a meaning inside a
// string; parentheses and semicolons do not.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func literal(name string) string { return "(literal " + quote(name) + ")" }

func subpath(name string) string { return "(subpath " + quote(name) + ")" }
