package command

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// file is a program as it was found inside.
type file struct {
	typed      string // as written in the command or the #! line
	path       string // the guest's path, links not followed
	real       string // with links followed
	info       fs.FileInfo
	visibility visibility
	links      []link
}

// isSystem reports whether the file is in a system directory, where no guest writes. A
// workspace may contain the system's directories, but not the other way round.
func (f file) isSystem() bool { return f.visibility == system }

// names returns the names that identify the program: the name of the file, and those of
// the system's links that lead to it (sh -> busybox).
func (f file) names() []string {
	all := []string{path.Base(f.real)}
	for _, l := range f.links {
		if l.visibility == system {
			all = append(all, path.Base(l.at))
		}
	}
	return all
}

// displayName returns the file's name for an error message: the resolved path, or the name as
// written if there were no links.
func (f file) displayName() string {
	if f.isSystem() || len(f.links) > 0 {
		return show(f.real)
	}
	return show(f.typed)
}

// locate finds a regular file by its path.
func (v *view) locate(dir, name string) (file, error) {
	r := v.walk(dir, name)
	f := file{typed: name, path: path.Clean(name), real: r.path, info: r.info, visibility: r.visibility, links: r.links}
	if !path.IsAbs(name) {
		f.path = path.Join(dir, name)
	}
	if slices.Contains(strings.Split(name, "/"), "..") {
		// Removing ".." from the text would be wrong after a link.
		directory, base := path.Split(name)
		f.path = path.Join(v.walk(dir, directory).path, base)
	}
	via := ""
	if l, ok := r.exitLink(); ok || len(r.links) > 0 && r.info == nil {
		if !ok {
			l = r.links[len(r.links)-1] // dangling
		}
		via = ": the link " + show(l.at) + " leads to " + show(r.path)
	}
	switch {
	case len(name) >= maxPath:
		return f, run.Errorf(run.NotFound, "%s is too long: it has %d bytes, and a path has at most %d", show(name), len(name), maxPath-1)
	case r.visibility == outside:
		return f, run.Errorf(run.NotFound, "%s is not visible inside%s; visible are %s", show(name), via, strings.Join(v.visible(), ", "))
	case r.visibility == scratch:
		return f, run.Errorf(run.NotFound, "%s does not exist inside: %s is private, and empty when a command starts", show(name), v.Scratch)
	case r.visibility == skeleton:
		return f, run.Errorf(run.NotExecutable, "%s is a directory", show(name))
	case r.visibility == device:
		return f, run.Errorf(run.NotExecutable, "%s is not a program", show(name))
	case r.info == nil:
		return f, run.Errorf(run.NotFound, "%s does not exist%s", show(name), via)
	case r.info.IsDir():
		return f, run.Errorf(run.NotExecutable, "%s is a directory", show(name))
	case !r.info.Mode().IsRegular():
		return f, run.Errorf(run.NotExecutable, "%s is not a regular file", show(name))
	}
	return f, nil
}

// executable finds a program by its path and checks that it is executable.
func (v *view) executable(dir, name string) (file, error) {
	f, err := v.locate(dir, name)
	if err == nil && f.info.Mode()&0o111 == 0 {
		return f, run.Errorf(run.NotExecutable, "%s is not executable; make it so with chmod +x", show(name))
	}
	return f, err
}

// directory resolves the links to a directory of the PATH, once for each Check: every
// lookup uses the same few directories.
func (v *view) directory(dir, name string) string {
	if !path.IsAbs(name) {
		name = path.Join(dir, name)
	}
	real, ok := v.directories[name]
	if !ok {
		real = v.walk("/", name).path
		v.directories[name] = real
	}
	return real
}

// find looks up a command as execvp does: by its path if it has a slash, otherwise in the
// directories. A file that is not executable is skipped; its error is returned only if no
// other directory has the command.
func (v *view) find(dir, name string, directories []string) (file, error) {
	if strings.Contains(name, "/") {
		return v.executable(dir, name)
	}
	var first error
	for _, directory := range directories {
		if !v.spend(lookupCost, "") {
			return file{}, run.Errorf(run.NotFound, "%s was not found: the PATH has too many directories to search", show(name))
		}
		real := v.directory(dir, directory)
		f, err := v.executable(real, name)
		if err == nil {
			if f.path = path.Join(directory, name); !path.IsAbs(directory) {
				f.path = path.Join(dir, f.path)
			}
			return f, nil
		}
		if first == nil && run.ClassOf(err) == run.NotExecutable {
			first = err
		}
	}
	if first != nil {
		return file{}, first
	}
	return file{}, run.Errorf(run.NotFound, "%s is not in the PATH of the command: %s", show(name), showLine(strings.Join(directories, ", ")))
}
