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

// Grant is a directory or file of the host, and its path in the guest.
type Grant struct {
	// Host is a path of this system. Guest is absolute, with slashes.
	Host, Guest string
	// Write allows changes of it and below it.
	Write bool
}

// Roots are the opened grants of a policy. Guests share them. A grant refers to the directory
// or file at the time of Open, even if its path is replaced later.
type Roots struct {
	mountPoints []*mountPoint
	opened      []*os.Root
	// escapes is os.Root's error for a path that leads out, which package os does not export.
	escapes error
}

// mountPoint is a mount as all guests share it.
type mountPoint struct {
	guest string
	// directory is nil where only files are granted.
	directory *os.Root
	write     bool
	// files are the single granted files, by their name in the directory.
	files map[string]grantedFile
}

// grantedFile is a file in a directory that is not granted.
type grantedFile struct {
	root  *os.Root
	name  string
	write bool
}

// Open opens all grants. The error names a grant that cannot be opened.
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
	slices.SortFunc(r.mountPoints, func(a, b *mountPoint) int { return cmp.Compare(a.guest, b.guest) })
	return r, nil
}

// Close closes the grants. Sets of r cannot be used afterward.
func (r *Roots) Close() error {
	var errs []error
	for _, root := range r.opened {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// cannot returns an error that names the path once: package os would repeat it.
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
				return fmt.Errorf("cannot grant %q: %q is already at %s", g.Host, same.directory.Name(), g.Guest)
			}
			same.write = same.write || g.Write
			continue
		}
		root, err := r.keep(os.OpenRoot(g.Host))
		if err != nil {
			return cannot(g, err)
		}
		r.mountPoints = append(r.mountPoints, &mountPoint{guest: g.Guest, directory: root, write: g.Write})
	}
	for _, p := range r.mountPoints {
		info, err := p.directory.Stat(".")
		if err != nil {
			return cannot(Grant{Host: p.directory.Name()}, err)
		}
		p.write = p.write || r.grants(p.guest, info, true)
	}
	return nil
}

// addFiles adds each file to the mount of its directory. A guest's library uses the longest
// mount that contains a path, so a new mount must show everything that a shorter one would
// show.
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
			at = &mountPoint{guest: path.Dir(g.Guest)}
			if cover := r.around(g.Guest); cover != nil {
				// Open it in the covering root, so that a link on the path does not widen
				// the grant. A link that leads out is not followed, as for guests of that
				// root.
				if directory, err := r.keep(cover.directory.OpenRoot(filepath.FromSlash(path.Dir(below(g.Guest, cover.guest))))); err == nil {
					at.directory = directory
				}
				at.write = cover.write
			}
			r.mountPoints = append(r.mountPoints, at)
		}
		if at.files == nil {
			at.files = map[string]grantedFile{}
		}
		name := path.Base(g.Guest)
		at.files[name] = grantedFile{root: root, name: filepath.Base(resolved), write: g.Write || at.files[name].write}
	}
	return nil
}

// grants reports whether a granted directory above the path already includes the file. It
// compares files, not paths: a link on the path may lead out, and its target is not granted by
// the directory.
func (r *Roots) grants(guest string, found fs.FileInfo, write bool) bool {
	return slices.ContainsFunc(r.mountPoints, func(p *mountPoint) bool {
		if p.directory == nil || !isBelow(guest, p.guest) || write && !p.write {
			return false
		}
		same, err := p.directory.Stat(filepath.FromSlash(below(guest, p.guest)))
		return err == nil && os.SameFile(same, found)
	})
}

// around returns the innermost granted directory that contains a path.
func (r *Roots) around(guest string) *mountPoint {
	var innermost *mountPoint
	for _, p := range r.mountPoints {
		if p.directory != nil && isBelow(guest, p.guest) && (innermost == nil || len(p.guest) > len(innermost.guest)) {
			innermost = p
		}
	}
	return innermost
}

func (r *Roots) at(guest string) *mountPoint {
	for _, p := range r.mountPoints {
		if p.guest == guest {
			return p
		}
	}
	return nil
}

// keep records a root for Close. It first checks that os.Root refuses "..", on which all walls
// of this package depend.
func (r *Roots) keep(root *os.Root, err error) (*os.Root, error) {
	if err != nil {
		return nil, err
	}
	r.opened = append(r.opened, root)
	_, err = root.Lstat("..")
	if err == nil {
		return nil, errors.New("os.Root follows .. out of its directory")
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		r.escapes = inner
	}
	return root, nil
}
