package command

import (
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// Scope describes the files that a command sees inside. Paths are absolute, and the same
// inside and on the host. The zero Scope shows nothing, so that no command is found.
type Scope struct {
	Workspace string   // canonical, empty for none
	Dir       string   // the command's working directory; empty means the root
	Read      []string // grants, canonical
	Write     []string
	System    []string // directories and files of the host's system, e.g. /usr, /bin, /etc/ssl
	Scratch   string   // a private directory: nothing below it is a file of the host
	Path      []string // the guest's PATH as directories

	AllowInterpreters bool
}

// visibility classifies a path as the guest sees it.
type visibility int

const (
	outside  visibility = iota // does not exist inside
	skeleton                   // a directory that exists only as the parent of something visible
	scratch                    // in the private directory
	device                     // a harmless file of the kernel, or the guest's own
	system                     // the host's system, read-only
	granted                    // the workspace, or a path granted by read or write
)

// view is a Scope that has been checked.
type view struct {
	Scope
	grants []string
	dir    string // Dir, with links resolved

	*budget
	directories map[string]string // directories of the PATH, with links resolved; filled on demand
	heads       map[string]head   // by path, of the files read so far
}

func newView(s Scope) (*view, error) {
	v := &view{Scope: s, grants: slices.Concat(s.Read, s.Write), budget: &budget{}, directories: map[string]string{}, heads: map[string]head{}}
	if s.Workspace != "" {
		v.grants = append([]string{s.Workspace}, v.grants...)
	}
	if v.Dir == "" {
		v.Dir = "/"
	}
	for _, p := range slices.Concat(v.grants, s.System, []string{v.Dir}) {
		if !path.IsAbs(p) || strings.ContainsRune(p, 0) {
			return nil, run.Errorf(run.Invalid, "%s is not an absolute path; every path that a command may see must be absolute", show(p))
		}
	}
	v.Dir = path.Clean(v.Dir)
	r := v.walk("/", v.Dir)
	if r.visibility == outside || r.visibility == device {
		return nil, run.Errorf(run.Invalid, "the working directory %s is not visible inside; visible are %s", show(v.Dir), strings.Join(v.visible(), ", "))
	}
	v.dir = r.path
	return v, nil
}

// where returns the visibility of a clean absolute path. If several directories contain it,
// the innermost one counts, as with mounts: a workspace below /tmp is the workspace, and
// /usr is the system's even if / is granted.
func (v *view) where(p string) visibility {
	if ownedByKernel(p) {
		return v.whereInKernel(p)
	}
	if where := v.innermost(p); where != outside {
		return where
	}
	if p == "/" {
		return skeleton
	}
	for _, list := range [][]string{v.grants, v.System, {v.Scratch}} {
		for _, q := range list {
			if hostpath.Under(q, p) {
				return skeleton
			}
		}
	}
	return outside
}

func (v *view) innermost(p string) visibility {
	longest, where := 0, outside
	for _, q := range v.grants {
		if len(q) > longest && hostpath.Under(p, q) {
			longest, where = len(q), granted
		}
	}
	for _, q := range v.System {
		if len(q) > longest && hostpath.Under(p, q) {
			longest, where = len(q), system
		}
	}
	if len(v.Scratch) > longest && hostpath.Under(p, v.Scratch) {
		where = scratch
	}
	return where
}

// visible lists the visible paths for error messages.
func (v *view) visible() []string {
	all := slices.Concat(v.grants, v.System)
	if v.Scratch != "" {
		all = append(all, v.Scratch)
	}
	return slices.Compact(all)
}

func underAny(name string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return hostpath.Under(name, dir) })
}
