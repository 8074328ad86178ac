package confine

import (
	"path"
	"slices"
	"strings"
)

// A guest has a /tmp of its own, and other names for it, where the host has
// directories of the same names. What the guest is given of those is mounted into
// its own, at the host's path. Nothing else of them is visible: their files belong
// to everybody, and their names are the easiest to guess.

// Scratch is where the guest may write.
const Scratch = "/tmp"

// Arrange completes the list of a root's mounts and puts it in order. A symlink
// gives way to what is mounted at its path or below. Between the scratch space and
// what is mounted deep inside of it come directories that the guest cannot change,
// or it could rename one, and put its own files where others expect the host's.
func Arrange(root []Mount) []Mount {
	var arranged []Mount
	for _, m := range root {
		if m.Kind == Symlink {
			var stays bool
			if m, stays = yield(m, root); !stays {
				continue
			}
		}
		arranged = append(arranged, m)
	}
	for _, m := range slices.Clone(arranged) {
		if m.Kind == Tmpfs || m.Kind == ScratchView {
			arranged = append(arranged, parentsIn(m.Path, arranged)...)
		}
	}
	sortMounts(arranged)
	return arranged
}

// yield gives what becomes of a symlink among other mounts.
func yield(link Mount, root []Mount) (Mount, bool) {
	there, below := false, false
	for _, m := range root {
		there = there || m.Path == link.Path && m.Kind != Symlink
		below = below || isBelow(m.Path, link.Path)
	}
	switch {
	case there:
		return link, false
	case !below:
		return link, true
	case link.Target != Scratch:
		return link, false
	case slices.ContainsFunc(root, func(m Mount) bool { return m.Path == Scratch && m.Kind == EmptyDir }):
		return Mount{Path: link.Path, Kind: EmptyDir}, true // mounted for each worker, as Scratch is
	}
	return Mount{Path: link.Path, Kind: ScratchView}, true
}

// parentsIn lists the directories in a scratch space that lead to mounts.
func parentsIn(scratch string, root []Mount) (parents []Mount) {
	for _, m := range root {
		top, deeper := topIn(scratch, m.Path)
		isTop := func(other Mount) bool { return other.Path == top }
		if deeper && !slices.ContainsFunc(root, isTop) && !slices.ContainsFunc(parents, isTop) {
			parents = append(parents, Mount{Path: top, Kind: ParentDir, Target: "mode=0755,size=64k"})
		}
	}
	return parents
}

// topIn gives the entry of a directory that has the path in it, and says whether
// the path is yet below it. The entry is empty for a path that lies elsewhere.
func topIn(dir, name string) (top string, deeper bool) {
	rest, inside := strings.CutPrefix(name, dir+"/")
	if !inside {
		return "", false
	}
	first, _, deeper := strings.Cut(rest, "/")
	return dir + "/" + first, deeper
}

// sortMounts puts what lies below another mount behind it, and the scratch space
// before its other names.
func sortMounts(root []Mount) {
	slices.SortStableFunc(root, func(a, b Mount) int {
		if (a.Path == Scratch) != (b.Path == Scratch) {
			if a.Path == Scratch {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
}

func isBelow(name, dir string) bool { return strings.HasPrefix(name, dir+"/") }

// PrivateDir is a directory that each worker of a fork server gets anew, with the
// entries that a mount of its own would hide.
type PrivateDir struct {
	Path    string
	Entries []Mount // of which the paths are names
}

// PrivateDirs lists those that have entries: the fork server mounts them into the
// new one. What is deeper inside comes with them.
func (p Plan) PrivateDirs() (dirs []PrivateDir) {
	for _, private := range p.Root {
		if private.Kind != EmptyDir {
			continue
		}
		dir := PrivateDir{Path: private.Path}
		for _, m := range p.Root {
			top, deeper := topIn(private.Path, m.Path)
			if top == "" {
				continue
			}
			entry := Mount{Path: path.Base(top), Kind: BindDir}
			if !deeper {
				entry.Kind, entry.Target = m.Kind, m.Target
			}
			same := func(other Mount) bool { return other.Path == entry.Path }
			if !slices.ContainsFunc(dir.Entries, same) {
				dir.Entries = append(dir.Entries, entry)
			}
		}
		if len(dir.Entries) > 0 {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// throughPrivate takes a host's symlinks away that lie where the guest has a
// directory of its own, such as /tmp, which some hosts have elsewhere. What they
// lead to is mounted by both names.
func throughPrivate(files []Mount, private ...string) []Mount {
	var kept []Mount
	for _, m := range files {
		if m.Kind != Symlink || !slices.Contains(private, m.Path) {
			kept = append(kept, m)
		}
	}
	for _, link := range files {
		if link.Kind != Symlink || !slices.Contains(private, link.Path) {
			continue
		}
		target := follow(files, link)
		for _, m := range slices.Clone(kept) {
			if isBelow(m.Path, target) {
				if m.Kind != Symlink && m.Source == "" {
					m.Source = m.Path
				}
				m.Path = link.Path + strings.TrimPrefix(m.Path, target)
				kept = append(kept, m)
			}
		}
	}
	return kept
}

// follow gives the path to which a symlink leads, through the others of the list.
func follow(files []Mount, link Mount) string {
	target := absolute(link)
	const most = 40 // as the kernel
	for range most {
		next := slices.IndexFunc(files, func(m Mount) bool {
			return m.Kind == Symlink && (m.Path == target || isBelow(target, m.Path))
		})
		if next < 0 {
			break
		}
		target = path.Join(absolute(files[next]), strings.TrimPrefix(target, files[next].Path))
	}
	return target
}

func absolute(link Mount) string {
	if path.IsAbs(link.Target) {
		return path.Clean(link.Target)
	}
	return path.Join(path.Dir(link.Path), link.Target)
}
