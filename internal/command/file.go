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
	typed      string // as somebody wrote it
	path       string // as the guest will name it
	real       string // with links followed
	info       fs.FileInfo
	visibility visibility
	met        []link
}

// isSystem reports whether it lies where no guest writes. A workspace may
// contain the system's directories, but not the other way round.
func (f file) isSystem() bool { return f.visibility == system }

// names are those that tell something: the file's own, and those of the links
// of the system that led to it (sh -> busybox).
func (f file) names() []string {
	all := []string{path.Base(f.real)}
	for _, l := range f.met {
		if l.visibility == system {
			all = append(all, path.Base(l.at))
		}
	}
	return all
}

// called is how a sentence names it: by the file that is meant, or as written
// where that is the same.
func (f file) called() string {
	if f.isSystem() || len(f.met) > 0 {
		return show(f.real)
	}
	return show(f.typed)
}

// locate finds a regular file by its path.
func (v *view) locate(dir, name string) (file, error) {
	r := v.walk(dir, name)
	f := file{typed: name, path: path.Clean(name), real: r.path, info: r.info, visibility: r.visibility, met: r.met}
	if !path.IsAbs(name) {
		f.path = path.Join(dir, name)
	}
	if slices.Contains(strings.Split(name, "/"), "..") {
		// Taking ".." out of the text would be wrong behind a link.
		directory, base := path.Split(name)
		f.path = path.Join(v.walk(dir, directory).path, base)
	}
	via := ""
	if l, ok := r.left(); ok || len(r.met) > 0 && r.info == nil {
		if !ok {
			l = r.met[len(r.met)-1] // dangling
		}
		via = ": the link " + show(l.at) + " leads to " + show(r.path)
	}
	switch {
	case len(name) >= pathMost:
		return f, run.Errorf(run.NotFound, "%s has %d bytes, and no path has more than %d", show(name), len(name), pathMost-1)
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

// executable finds a program by its path and wants it to be one.
func (v *view) executable(dir, name string) (file, error) {
	f, err := v.locate(dir, name)
	if err == nil && f.info.Mode()&0o111 == 0 {
		return f, run.Errorf(run.NotExecutable, "%s is not executable; chmod +x would make it so", show(name))
	}
	return f, err
}

// directory follows the links to a directory of the PATH, once for each Check: every
// name that is looked up asks for the same few.
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

// find looks a command up as execvp does: by its path if it has a slash, else
// in the directories. What may not be executed is passed over, and is the answer
// only when there is nothing else.
func (v *view) find(dir, name string, directories []string) (file, error) {
	if strings.Contains(name, "/") {
		return v.executable(dir, name)
	}
	var first error
	for _, directory := range directories {
		if !v.spend(lookupEffort, "") {
			return file{}, run.Errorf(run.NotFound, "%s is in one of too many directories", show(name))
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
