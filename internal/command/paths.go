package command

import (
	"os"
	"os/user"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Names of the rules, as violations have them.
const (
	rulePath        = "path"
	ruleInterpreter = "interpreter"
)

// refusalsMost is how many arguments are named; a list of thousands helps nobody.
const refusalsMost = 16

// advice is the hint about an argument.
type advice struct {
	code run.HintCode
	data hints.Data
}

// arguments refuses those that name a file which is not there inside.
func (v *view) arguments(args []string) (refusals []run.Violation) {
	more := 0
	elsewhere := v.enters(args)
	for i, arg := range args {
		detail, hint := v.argument(arg)
		if detail != "" && elsewhere != nil {
			detail, hint = elsewhere.argument(arg)
		}
		if v.over() {
			break // what was found out last may be wrong
		}
		if detail == "" {
			continue
		}
		if len(refusals) == refusalsMost {
			more++
			continue
		}
		refusals = append(refusals, hints.Give(run.Violation{
			Wall: policy.WallCommand, Op: rulePath, Count: 1, Allowed: v.visible(),
			Detail: "argument " + strconv.Itoa(i+1) + ": " + detail,
		}, hint.code, hint.data))
	}
	if more > 0 {
		last := &refusals[len(refusals)-1]
		last.Detail += ", and " + strconv.Itoa(more) + " more arguments like that"
		last.Count += more
	}
	return refusals
}

// enters gives the view from the directory into which git, make, tar and others go
// before they read their other arguments (-C, --directory), or nil if there is
// none. An argument that stays inside from either is let pass.
func (v *view) enters(args []string) *view {
	there := *v
	for i, arg := range args {
		name, glued := strings.CutPrefix(arg, "--directory=")
		switch {
		case glued:
		case (arg == "-C" || arg == "--directory") && i+1 < len(args):
			name = args[i+1]
		case strings.HasPrefix(arg, "-C") && !strings.HasPrefix(arg, "--"):
			name = arg[2:]
		default:
			continue
		}
		if detail, _ := there.argument(name); name == "" || detail != "" {
			continue
		}
		if path.IsAbs(name) {
			there.dir = path.Clean(name)
		} else {
			there.dir = path.Join(there.dir, name)
		}
	}
	if there.dir == v.dir {
		return nil
	}
	return &there
}

// argument says what is wrong with one, in words, or "".
func (v *view) argument(arg string) (detail string, hint advice) {
	exists := func(name string) bool {
		if len(name) >= pathMost || !v.spend(1, name) {
			return false
		}
		_, err := os.Lstat(path.Join(v.dir, name))
		return err == nil
	}
	for _, text := range readings(arg, exists, v.effort) {
		if len(text) >= pathMost || v.over() {
			continue
		}
		if text[0] == '~' {
			detail, hint = v.home(text, exists)
		} else {
			detail, hint = v.file(text)
		}
		if detail == "" {
			continue
		}
		if text != arg {
			detail = show(arg) + " names " + detail
		}
		return detail, hint
	}
	return "", advice{}
}

// file judges a text as the name of a file.
func (v *view) file(text string) (detail string, hint advice) {
	absolute := path.IsAbs(text)
	switch {
	case absolute && !v.firstExists(text) && !v.firstExists(path.Clean(text)):
		// "/foo/" and "/p": nothing of that name is in the root, so that it
		// is a regular expression or a sed script.
		return "", advice{}
	case !absolute && isSubstitution(text, v.dir):
		return "", advice{}
	}
	// The kernel follows links first, and many programs take ".." away first.
	// Neither may lead out.
	r := v.walk(v.dir, text)
	if v.ok(r, absolute) {
		lexical := path.Clean(text)
		if !absolute {
			lexical = path.Join(v.dir, text)
		}
		if lexical == r.path || !strings.Contains(text, "..") {
			return "", advice{}
		}
		if r = v.walk("/", lexical); v.ok(r, absolute) {
			return "", advice{}
		}
	}
	target, prose := v.onHost(r.path)
	if prose {
		return "", advice{}
	}
	return v.explain(text, r, target)
}

// ok reports whether a path stays inside. A directory above the workspace exists
// inside too, but is empty: a command that names it means the host's. "/" is
// allowed: it is the private root, and often only a separator for tr, cut or sort.
func (v *view) ok(r resolved, absolute bool) bool {
	switch r.visibility {
	case granted, system, device:
		return true
	case scratch:
		return v.okScratch(r, absolute)
	case skeleton:
		return absolute && r.path == "/"
	}
	// A link of the host's system that dangles inside. Nothing can be read through
	// it, and it does not come from the workspace.
	l, ok := r.left()
	return ok && l.visibility == system
}

// okScratch judges a path in the private /tmp. An absolute path there means the
// guest's /tmp. A ".." or a link from the workspace, which may itself be below the
// host's /tmp, means a file of the host beside it.
func (v *view) okScratch(r resolved, absolute bool) bool {
	if r.path == v.Scratch {
		return true
	}
	if l, linked := r.left(); linked && l.visibility == granted {
		_, err := os.Lstat(r.path)
		return err != nil
	}
	return absolute || v.where(v.dir) == scratch
}

func (v *view) explain(text string, r resolved, target string) (detail string, hint advice) {
	detail = show(text)
	switch l, linked := r.left(); {
	case linked:
		detail += " goes through the link " + show(l.at) + " to " + show(target)
	case target != text:
		detail += " is " + show(target)
	}
	detail += ", which is not visible inside"
	if v.where(target) == granted {
		return detail, advice{hints.PathInside, hints.Data{"path": show(target)}}
	}
	hint = advice{run.HintGrantPath, hints.Data{"path": show(target)}}
	if v.Workspace != "" {
		hint.data["workspace"] = show(v.Workspace)
	}
	return detail, hint
}

// home judges ~ and ~user. No shell is there to expand them, but git and
// others do so themselves, and nobody who writes them means a file named "~".
// ~1.2.3 is a version.
func (v *view) home(text string, exists func(string) bool) (detail string, hint advice) {
	name, _, _ := strings.Cut(text[1:], "/")
	if exists("~" + name) {
		return v.file(text)
	}
	if name != "" {
		if !v.spend(userEffort, "") {
			return "", advice{}
		}
		if _, err := user.Lookup(name); err != nil {
			return v.file(text)
		}
	}
	return show(text) + " means a home directory, which is not visible inside",
		advice{run.HintGrantPath, hints.Data{"path": "PATH", "expand": "~"}}
}

// firstExists reports whether the first component of an absolute path is there
// on the host.
func (v *view) firstExists(p string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(p, "/"), "/")
	switch first {
	case "", ".", "..":
		return true
	}
	if !v.spend(1, first) {
		return false
	}
	_, err := os.Lstat("/" + first)
	return err == nil
}

// onHost follows what exists of a path on the host. It is prose when the first
// component that does not exist has spaces in it: "/etc/hosts is wrong".
func (v *view) onHost(p string) (target string, prose bool) {
	existing, rest := p, ""
	for existing != "/" && v.spend(1, existing) {
		if _, err := os.Lstat(existing); err == nil {
			break
		}
		existing, rest = path.Dir(existing), path.Join(path.Base(existing), rest)
	}
	first, _, _ := strings.Cut(rest, "/")
	if strings.ContainsAny(first, " \t\n") {
		return p, true
	}
	if real, err := filepath.EvalSymlinks(existing); err == nil {
		return path.Join(real, rest), false
	}
	return p, false
}

// isSubstitution knows sed's s/../../g, which as a path would lead out: it has
// three separators, flags or nothing at the end, and there is no directory "s".
func isSubstitution(text, dir string) bool {
	if len(text) < 4 || text[0] != 's' && text[0] != 'y' || text[1] != '/' || strings.Count(text, "/") != 3 {
		return false
	}
	flags := text[strings.LastIndexByte(text, '/')+1:]
	if strings.Trim(flags, "gpiImMe0123456789") != "" {
		return false
	}
	_, err := os.Lstat(path.Join(dir, text[:1]))
	return err != nil
}
