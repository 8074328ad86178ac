package command

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// maxLinks is the kernel's limit on the links in one path.
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
	info       fs.FileInfo // nil if nothing exists there, or if it cannot be known
	links      []link
	exit       int // index in links, from 1, of the link that led out of the visible files; 0 for none
}

// exitLink returns the link that led out of the files that the guest sees. There is none if
// the text of the path itself led out, as with "..".
func (r resolved) exitLink() (link, bool) {
	if r.exit == 0 {
		return link{}, false
	}
	return r.links[r.exit-1], true
}

// walk resolves a path as the kernel will inside: link by link, but only where the guest
// sees the host's files. Everywhere else only the text is known, and ".." removes one
// component.
func (v *view) walk(from, name string) resolved {
	if len(name) >= maxPath || v.exhausted() {
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
	if w.info == nil && !w.missing && w.isHostFile(w.visibility) {
		if info, err := os.Lstat(w.path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
			w.info = info
		}
	}
	return w.resolved
}

type walker struct {
	*view
	resolved
	todo         []string
	own          int  // how many components at the end of todo come from the path itself, not from a link
	missing      bool // nothing exists at the path
	out          bool // the path is outside the host's visible files
	throughMagic bool // went through a magic link in /proc: the text does not tell where ".." leads from there
}

// isHostFile reports whether the guest sees the host's file at the path.
func (w *walker) isHostFile(p visibility) bool {
	return (p == granted || p == system) && !ownedByKernel(w.path)
}

func (w *walker) step(part string, own bool) {
	if w.throughMagic {
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
	w.throughMagic = isMagicLink(w.path)
	if w.missing || !w.isHostFile(where) {
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
	if err != nil || len(w.links) == maxLinks {
		w.missing = true // the kernel returns ELOOP
		return
	}
	w.links = append(w.links, link{w.path, where})
	w.out = false
	if w.path = path.Dir(w.path); path.IsAbs(target) {
		w.path = "/"
	}
	w.todo = append(strings.Split(target, "/"), w.todo...)
}

// leave records where the path leaves the host's visible files, and where it returns.
func (w *walker) leave(where visibility, own bool) {
	switch out := where != granted && where != system; {
	case !out:
		w.out, w.exit = false, 0
	case !w.out:
		if w.out = true; !own {
			w.exit = len(w.links)
		}
	}
}
