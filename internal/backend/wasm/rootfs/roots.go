package rootfs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Grant is a directory or a file of the host, and where the guest sees it.
type Grant struct {
	// Host is a path of this system. Guest is absolute, with slashes.
	Host, Guest string
	// Write lets the guest change it, and below it.
	Write bool
}

// Roots are the opened grants of a policy. Guests share them: what stands behind
// a grant is what was there when it was opened, even if its path is replaced later.
type Roots struct {
	places []*place
	opened []*os.Root
	// escapes is os.Root's word for a path that leads out. It has no name there.
	escapes error
}

// place is one mount as all guests have it.
type place struct {
	guest string
	// directory is nil where only files are granted.
	directory *os.Root
	write     bool
	// files are the ones with a grant of their own, by their name in the directory.
	files map[string]single
}

// single is a granted file: a name in a directory that is not granted.
type single struct {
	root  *os.Root
	name  string
	write bool
}

// Open opens all grants, or says which cannot be.
func Open(grants []Grant) (*Roots, error) {
	r := &Roots{}
	var directories, files []Grant
	for _, g := range grants {
		info, err := checkGrant(g)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			directories = append(directories, g)
		} else {
			files = append(files, g)
		}
	}
	err := r.addDirectories(directories)
	if err == nil {
		err = r.addFiles(files)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	slices.SortFunc(r.places, func(a, b *place) int { return cmp.Compare(a.guest, b.guest) })
	return r, nil
}

// Close makes all sets useless that were made of r.
func (r *Roots) Close() error {
	var errs []error
	for _, root := range r.opened {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// cannot says the path once: package os would say it again.
func cannot(g Grant, err error) error {
	if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("cannot grant %q: %w", g.Host, err)
}

func checkGrant(g Grant) (fs.FileInfo, error) {
	if !path.IsAbs(g.Guest) || path.Clean(g.Guest) != g.Guest || strings.ContainsRune(g.Guest, 0) {
		return nil, fmt.Errorf("cannot grant %q: the guest's path %q must be absolute and without dots", g.Host, g.Guest)
	}
	info, err := os.Stat(g.Host)
	if err != nil {
		return nil, cannot(g, err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("cannot grant %q: it is neither a directory nor a file, but %v", g.Host, info.Mode().Type())
	}
	return info, nil
}

func (r *Roots) addDirectories(directories []Grant) error {
	for _, g := range directories {
		if same := r.at(g.Guest); same != nil {
			if filepath.Clean(same.directory.Name()) != filepath.Clean(g.Host) {
				return fmt.Errorf("cannot grant %q: %q is at %s already", g.Host, same.directory.Name(), g.Guest)
			}
			same.write = same.write || g.Write
			continue
		}
		root, err := r.keep(os.OpenRoot(g.Host))
		if err != nil {
			return cannot(g, err)
		}
		r.places = append(r.places, &place{guest: g.Guest, directory: root, write: g.Write})
	}
	for _, p := range r.places {
		info, err := p.directory.Stat(".")
		if err != nil {
			return cannot(Grant{Host: p.directory.Name()}, err)
		}
		p.write = p.write || r.grants(p.guest, info, true)
	}
	return nil
}

// addFiles puts each file into the mount of its directory. A guest's library looks
// for the longest mount that fits a path, so a new one must show what a shorter
// one would have shown.
func (r *Roots) addFiles(files []Grant) error {
	for _, g := range files {
		info, err := os.Stat(g.Host)
		if err != nil {
			return cannot(g, err)
		}
		if r.grants(g.Guest, info, g.Write) {
			continue
		}
		resolved, err := filepath.EvalSymlinks(g.Host)
		if err != nil {
			return cannot(g, err)
		}
		root, err := r.keep(os.OpenRoot(filepath.Dir(resolved)))
		if err != nil {
			return cannot(g, err)
		}
		at := r.at(path.Dir(g.Guest))
		if at == nil {
			at = &place{guest: path.Dir(g.Guest)}
			if cover := r.around(g.Guest); cover != nil {
				// In the covering root, so that a link in between does not widen it. One
				// that leads out is nothing for that root's guests, and nothing here.
				if directory, err := r.keep(cover.directory.OpenRoot(filepath.FromSlash(path.Dir(below(g.Guest, cover.guest))))); err == nil {
					at.directory = directory
				}
				at.write = cover.write
			}
			r.places = append(r.places, at)
		}
		if at.files == nil {
			at.files = map[string]single{}
		}
		name := path.Base(g.Guest)
		at.files[name] = single{root: root, name: filepath.Base(resolved), write: g.Write || at.files[name].write}
	}
	return nil
}

// grants says whether a directory around the path already grants what is there. It
// goes by what is found, not by words: a link on the way may lead out, and what is
// behind it is not granted by the directory.
func (r *Roots) grants(guest string, found fs.FileInfo, write bool) bool {
	return slices.ContainsFunc(r.places, func(p *place) bool {
		if p.directory == nil || !isBelow(guest, p.guest) || write && !p.write {
			return false
		}
		same, err := p.directory.Stat(filepath.FromSlash(below(guest, p.guest)))
		return err == nil && os.SameFile(same, found)
	})
}

// around is the innermost granted directory that a path is in.
func (r *Roots) around(guest string) *place {
	var innermost *place
	for _, p := range r.places {
		if p.directory != nil && isBelow(guest, p.guest) && (innermost == nil || len(p.guest) > len(innermost.guest)) {
			innermost = p
		}
	}
	return innermost
}

func (r *Roots) at(guest string) *place {
	for _, p := range r.places {
		if p.guest == guest {
			return p
		}
	}
	return nil
}

// keep remembers a root for Close, after a look at whether it holds: all walls of
// this package stand on that.
func (r *Roots) keep(root *os.Root, err error) (*os.Root, error) {
	if err != nil {
		return nil, err
	}
	r.opened = append(r.opened, root)
	_, err = root.Lstat("..")
	if err == nil {
		return nil, errors.New("os.Root lets .. pass")
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		r.escapes = inner
	}
	return root, nil
}
