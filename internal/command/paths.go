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

// Names of the rules, which violations carry in Op.
const (
	rulePath        = "path"
	ruleInterpreter = "interpreter"
)

// maxRefusals is how many arguments are reported one by one; a list of thousands helps
// nobody.
const maxRefusals = 16

// advice is the hint about an argument.
type advice struct {
	code run.HintCode
	data hints.Data
}

// checkArguments returns a refusal for each argument that names a file that does not exist
// inside.
func (v *view) checkArguments(args []string) (refusals []run.Violation) {
	more := 0
	changed := v.afterChdir(args)
	for i, arg := range args {
		detail, hint := v.checkArgument(arg)
		if detail != "" && changed != nil {
			detail, hint = changed.checkArgument(arg)
		}
		if v.exhausted() {
			break // the last answer may be wrong
		}
		if detail == "" {
			continue
		}
		if len(refusals) == maxRefusals {
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

// afterChdir returns the view from the directory that git, make, tar and others change to
// before they read their other arguments (-C, --directory), or nil if there is none. An
// argument passes if it stays inside from either directory.
func (v *view) afterChdir(args []string) *view {
	after := *v
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
		if detail, _ := after.checkArgument(name); name == "" || detail != "" {
			continue
		}
		if path.IsAbs(name) {
			after.dir = path.Clean(name)
		} else {
			after.dir = path.Join(after.dir, name)
		}
	}
	if after.dir == v.dir {
		return nil
	}
	return &after
}

// checkArgument returns a sentence about what is wrong with an argument, or "".
func (v *view) checkArgument(arg string) (detail string, hint advice) {
	exists := func(name string) bool {
		if len(name) >= maxPath || !v.spend(1, name) {
			return false
		}
		_, err := os.Lstat(path.Join(v.dir, name))
		return err == nil
	}
	for _, text := range pathCandidates(arg, exists, v.budget) {
		if len(text) >= maxPath || v.exhausted() {
			continue
		}
		if text[0] == '~' {
			detail, hint = v.checkHome(text, exists)
		} else {
			detail, hint = v.checkFile(text)
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

// checkFile checks a text as the name of a file.
func (v *view) checkFile(text string) (detail string, hint advice) {
	absolute := path.IsAbs(text)
	switch {
	case absolute && !v.firstExists(text) && !v.firstExists(path.Clean(text)):
		// "/foo/" and "/p": the root directory has no entry of that name, so
		// the text is a regular expression or a sed script.
		return "", advice{}
	case !absolute && isSubstitution(text, v.dir):
		return "", advice{}
	}
	// The kernel follows links before it applies "..", and many programs remove
	// ".." from the text first. Neither result may lie outside.
	r := v.walk(v.dir, text)
	if v.allowed(r, absolute) {
		lexical := path.Clean(text)
		if !absolute {
			lexical = path.Join(v.dir, text)
		}
		if lexical == r.path || !strings.Contains(text, "..") {
			return "", advice{}
		}
		if r = v.walk("/", lexical); v.allowed(r, absolute) {
			return "", advice{}
		}
	}
	target, prose := v.onHost(r.path)
	if prose {
		return "", advice{}
	}
	return v.explain(text, r, target)
}

// allowed reports whether a path stays inside. A directory above the workspace exists
// inside too, but is empty: a command that names it means the host's directory. "/" is
// allowed: it is the private root, and often only a separator for tr, cut or sort.
func (v *view) allowed(r resolved, absolute bool) bool {
	switch r.visibility {
	case granted, system, device:
		return true
	case scratch:
		return v.allowedScratch(r, absolute)
	case skeleton:
		return absolute && r.path == "/"
	}
	// A link in a system directory that dangles inside is allowed: nothing can be
	// read through it, and it does not come from the workspace.
	l, ok := r.exitLink()
	return ok && l.visibility == system
}

// allowedScratch reports whether a path into the private /tmp is allowed. An absolute path
// means the guest's /tmp. A ".." or a link that starts in the workspace means a file on
// the host next to the workspace, which may itself be below the host's /tmp.
func (v *view) allowedScratch(r resolved, absolute bool) bool {
	if r.path == v.Scratch {
		return true
	}
	if l, linked := r.exitLink(); linked && l.visibility == granted {
		_, err := os.Lstat(r.path)
		return err != nil
	}
	return absolute || v.where(v.dir) == scratch
}

func (v *view) explain(text string, r resolved, target string) (detail string, hint advice) {
	detail = show(text)
	switch l, linked := r.exitLink(); {
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

// checkHome checks ~ and ~user. No shell expands them, but git and other programs do so
// themselves, and nobody means a file named "~". ~1.2.3 is a version.
func (v *view) checkHome(text string, exists func(string) bool) (detail string, hint advice) {
	name, _, _ := strings.Cut(text[1:], "/")
	if exists("~" + name) {
		return v.checkFile(text)
	}
	if name != "" {
		if !v.spend(userCost, "") {
			return "", advice{}
		}
		if _, err := user.Lookup(name); err != nil {
			return v.checkFile(text)
		}
	}
	return show(text) + " means a home directory, which is not visible inside",
		advice{run.HintGrantPath, hints.Data{"path": "PATH", "expand": "~"}}
}

// firstExists reports whether the first component of an absolute path exists on the
// host.
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

// onHost resolves the existing part of a path on the host. The text is prose, not a path,
// if the first component that does not exist has spaces in it: "/etc/hosts is wrong".
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

// isSubstitution reports whether a text is a sed command such as s/../../g, which as a
// path would lead outside: it has three separators, only flags at the end, and there is
// no directory "s".
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
