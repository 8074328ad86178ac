package command

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// maxLinks is the kernel's own bound on the links in one path.
const maxLinks = 40

// link is a symbolic link and the visibility of its path.
type link struct {
	at         string
	visibility visibility
}

// resolved is where a path leads inside.
type resolved struct {
	path       string
	visibility visibility
	info       fs.FileInfo // of what is there; nil when nothing is, or when it cannot be known
	met        []link
	exit       int // the link in met by which it left the host's visible files, counted from 1
}

// left gives the link through which a path left what the guest sees. There is
// none when the path's own text did, as with "..".
func (r resolved) left() (link, bool) {
	if r.exit == 0 {
		return link{}, false
	}
	return r.met[r.exit-1], true
}

// walk follows a path as the kernel will inside: link by link, and only where
// the host's files are the guest's files. Everywhere else the text is all
// there is, and ".." takes one component away.
func (v *view) walk(from, name string) resolved {
	if len(name) >= pathMost || v.over() {
		return resolved{path: from, visibility: outside}
	}
	w := walker{view: v, resolved: resolved{path: from}, todo: strings.Split(name, "/")}
	if path.IsAbs(name) {
		w.path = "/"
	}
	w.own = len(w.todo)
	for len(w.todo) > 0 {
		if !v.spend(1, w.path) {
			return resolved{path: from, visibility: outside}
		}
		part := w.todo[0]
		own := len(w.todo) == w.own
		if w.todo = w.todo[1:]; own {
			w.own--
		}
		w.step(part, own)
	}
	w.visibility = v.where(w.path)
	// The last component may have been "..", or there was none.
	if w.info == nil && !w.missing && w.hosts(w.visibility) {
		if info, err := os.Lstat(w.path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			w.info = info
		}
	}
	return w.resolved
}

type walker struct {
	*view
	resolved
	todo    []string
	own     int  // how many at the end of todo are the path's own, and not a link's
	missing bool // nothing is there
	out     bool // not among the host's files
	leapt   bool // through a link of /proc: where ".." leads from there is not in the text
}

// hosts reports whether the host's file at the path is the guest's.
func (w *walker) hosts(p visibility) bool {
	return (p == granted || p == system) && !ownedByKernel(w.path)
}

func (w *walker) step(part string, own bool) {
	if w.leapt {
		w.path += "/" + part
		return
	}
	switch part {
	case "", ".":
		return
	case "..":
		w.path, w.info, w.missing = path.Dir(w.path), nil, false
		w.leave(w.where(w.path), own)
		return
	}
	w.path, w.info = strings.TrimSuffix(w.path, "/")+"/"+part, nil
	where := w.where(w.path)
	w.leave(where, own)
	w.leapt = isLeap(w.path)
	if w.missing || !w.hosts(where) {
		return
	}
	info, err := os.Lstat(w.path)
	if err != nil {
		w.missing = true
		return
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		w.info = info
		return
	}
	target, err := os.Readlink(w.path)
	if err != nil || len(w.met) == maxLinks {
		w.missing = true // the kernel says ELOOP, and so it leads nowhere
		return
	}
	w.met = append(w.met, link{w.path, where})
	w.out = false
	if w.path = path.Dir(w.path); path.IsAbs(target) {
		w.path = "/"
	}
	w.todo = append(strings.Split(target, "/"), w.todo...)
}

// leave notes how the path comes out of the host's files and back.
func (w *walker) leave(where visibility, own bool) {
	switch out := where != granted && where != system; {
	case !out:
		w.out, w.exit = false, 0
	case !w.out:
		if w.out = true; !own {
			w.exit = len(w.met)
		}
	}
}
