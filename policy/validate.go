package policy

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FieldError is a problem with one field of a Policy, a Document or a request. The field
// has its name from the policy file or the request, so that its author can find it.
type FieldError struct {
	// Field is a path like "limits.memory" or "walls.require".
	Field string
	// Item is the faulty element if the field is a list.
	Item string
	Err  error
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

// problems collects errors, so that all of them are reported at once.
type problems []*FieldError

func (ps *problems) add(field string, err error) {
	if err != nil {
		*ps = append(*ps, &FieldError{Field: field, Err: err})
	}
}

func (ps *problems) addItem(field, item, format string, args ...any) {
	*ps = append(*ps, &FieldError{Field: field, Item: item, Err: fmt.Errorf(format, args...)})
}

// err joins the problems with errors.Join, whose Unwrap returns each of them.
func (ps problems) err() error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errors.Join(errs...)
}

// Validate runs every check and returns all failures as joined FieldErrors.
func (p Policy) Validate() error { return p.problems().err() }

func (p Policy) problems() problems {
	var found problems
	resolved := p.Resolved()
	for _, check := range checks {
		check.run(resolved, &found)
	}
	return found
}

var checks = []struct {
	name string
	run  func(Policy, *problems)
}{
	{"trust", func(p Policy, found *problems) {
		_, err := ParseTrust(string(p.Trust))
		found.add("trust", err)
	}},
	{"third_party", func(p Policy, found *problems) {
		if p.ThirdParty != "" && p.ThirdParty != TierProcess {
			found.add("third_party", fmt.Errorf("%s cannot be given to third-party code: write %s, or leave the key out", quote(string(p.ThirdParty)), TierProcess))
		}
	}},
	{"on_output_limit", func(p Policy, found *problems) {
		_, err := ParseOutputAction(string(p.OnOutputLimit))
		found.add("on_output_limit", err)
	}},
	{"limits", func(p Policy, found *problems) {
		if field, negative := p.Limits.Negative(); negative {
			found.add("limits."+field, errors.New("is negative"))
		} else if field, got, limit, above := p.Limits.Above(p.Maxima); above {
			found.add("limits."+field, fmt.Errorf("the default of %v is above the maximum of %v: lower it, or raise maxima.%s too", got, limit, field))
		}
	}},
	{"maxima", func(p Policy, found *problems) {
		if field, negative := p.Maxima.Negative(); negative {
			found.add("maxima."+field, errors.New("is negative"))
			return
		}
		field, err := p.Maxima.aboveCeiling()
		found.add("maxima."+field, err)
	}},
	{"floor", func(p Policy, found *problems) {
		if _, negative := p.Limits.Negative(); negative {
			return // reported by the check of limits
		}
		field, err := p.Limits.belowFloor()
		found.add("limits."+field, err)
	}},
	{"walls", func(p Policy, found *problems) {
		for _, list := range []struct {
			field string
			walls []Wall
		}{{"walls.require", p.Require}, {"walls.prefer", p.Prefer}} {
			for _, w := range list.walls {
				if !w.Known() {
					found.addItem(list.field, string(w), "%s is not a wall: the walls are %s, %s, %s, %s",
						quote(string(w)), join(Walls()), WallFilesystem, WallNetwork, WallLanguage)
				}
			}
		}
		if slices.Contains(p.Prefer, WallLanguage) {
			found.addItem("walls.prefer", string(WallLanguage), "the language rules cannot be preferred: require them, or leave them to each request")
		}
		for _, w := range p.Prefer {
			if slices.Contains(p.Require, w) {
				found.addItem("walls.prefer", string(w), "%s is both required and preferred: keep one", quote(string(w)))
			}
		}
	}},
	{"read", func(p Policy, found *problems) { checkGrants("read", p.Read, found) }},
	{"write", func(p Policy, found *problems) { checkGrants("write", p.Write, found) }},
	{"allow_net", func(p Policy, found *problems) {
		for _, text := range p.AllowNet {
			if _, err := ParseNetGrant(text); err != nil {
				found.addItem("allow_net", text, "%w", err)
			}
		}
	}},
	{"egress", func(p Policy, found *problems) {
		_, err := ParseEgress(string(p.Egress))
		found.add("egress", err)
	}},
	{"jail", func(p Policy, found *problems) {
		_, err := ParseJailBackend(string(p.Jail))
		found.add("jail", err)
	}},
	{"python", func(p Policy, found *problems) {
		if p.Python != "" {
			found.add("python", checkPath(p.Python))
		}
	}},
	{"preload", func(p Policy, found *problems) {
		for _, m := range p.Preload {
			if !isModuleName(m) {
				found.addItem("preload", m, "%s is not a module name: write one like os.path", quote(m))
			}
		}
	}},
	{"language", func(p Policy, found *problems) {
		if preset := p.ScriptRules(); preset != LanguageStandard && preset != LanguageAgent {
			found.addItem("language.preset", string(preset), "%s is not a preset for scripts: write %s or %s", quote(string(preset)), LanguageStandard, LanguageAgent)
		}
		for _, m := range p.Language.Modules {
			if !isModuleName(m) {
				found.addItem("language.modules", m, "%s is not a module name: write one like os.path", quote(m))
			}
		}
		for _, b := range p.Language.Builtins {
			if !isModuleName(b) || strings.Contains(b, ".") {
				found.addItem("language.builtins", b, "%s is not the name of a builtin: write one like input", quote(b))
			}
		}
	}},
	{"module_rules", checkModuleRules},
}

func checkGrants(field string, paths []string, found *problems) {
	for _, path := range paths {
		if err := checkPath(path); err != nil {
			found.addItem(field, path, "%w", err)
		} else if opensWall(path) {
			found.addItem(field, path, "%s cannot be granted: /, /proc, /sys, /dev and /tmp belong to the sandbox (paths below /tmp and /dev/shm can be granted)", quote(path))
		}
	}
}

// checkPath requires a clean absolute path, so that a grant, a mount and a Landlock
// rule can be compared as text, and refuses bytes that a message or a YAML file
// cannot show.
func checkPath(path string) error {
	switch {
	case !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl):
		return fmt.Errorf("%s has bytes that are not printable text", quote(path))
	case !filepath.IsAbs(path):
		return fmt.Errorf("%s is not an absolute path: begin it with /", quote(path))
	case filepath.Clean(path) != path:
		return fmt.Errorf("%s is not a clean path: write %s", quote(path), quote(filepath.Clean(path)))
	}
	return nil
}

// opensWall reports whether granting path would undo a wall: the whole host, the
// trees of the kernel, and the directories that are private to each guest. Files below
// the host's /tmp and /dev/shm are ordinary and are mounted into the guest's.
func opensWall(path string) bool {
	if strings.HasPrefix(path, "/dev/shm/") {
		return false
	}
	for _, tree := range []string{"/proc", "/sys", "/dev"} {
		if path == tree || strings.HasPrefix(path, tree+"/") {
			return true
		}
	}
	return path == "/" || path == "/tmp"
}

func isModuleName(s string) bool {
	if s == "" {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		for i, r := range part {
			letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
			if !letter && (i == 0 || r < '0' || r > '9') {
				return false
			}
		}
		if part == "" {
			return false
		}
	}
	return true
}
