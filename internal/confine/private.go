package confine

import (
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A guest has its own /tmp, which also has other names, where the host has directories of
// the same names. Files of the host below these that a guest is granted are mounted into
// its own directory, at the host's path. Nothing else of them is visible: they belong to
// everybody, and their names are the easiest to guess.

// Scratch is the directory that the guest may write to. A script has its files in WorkName below
// it, to which Work is a link, unless the guest sees files of the host below that name.
const (
	Scratch  = "/tmp"
	Work     = "/work"
	WorkName = "work"
)

// Arrange completes the list of a root's mounts and sorts it. A symlink is replaced by
// what is mounted at its path or below. Directories between the scratch space and a mount
// deep inside it are read-only. Otherwise the guest could rename one, and put its own
// files where others expect the host's.
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

// yield returns what replaces a symlink among other mounts.
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
	there := map[string]bool{}
	for _, m := range root {
		there[m.Path] = true
	}
	for _, m := range root {
		if top, deeper := topIn(scratch, m.Path); deeper && !there[top] {
			parents = append(parents, Mount{Path: top, Kind: ParentDir, Target: "mode=0755,size=64k"})
			there[top] = true
		}
	}
	return parents
}

// topIn returns the entry of a directory that contains the path, and reports whether the
// path is below the entry. The entry is empty for a path outside the directory.
func topIn(dir, name string) (top string, deeper bool) {
	rest, inside := strings.CutPrefix(name, dir+"/")
	if !inside {
		return "", false
	}
	first, _, deeper := strings.Cut(rest, "/")
	return dir + "/" + first, deeper
}

// sortMounts puts each mount after the mount that contains it, and the scratch space
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

// LacksWork returns why guests can have no /work, or nil.
func (p Plan) LacksWork() error {
	if p.Root == nil {
		missing := p.Missing[policy.WallMount]
		return run.Errorf(run.Unsupported, "a script has no files on this host, because it has no private /tmp: %s", missing.Reason)
	}
	const work = Scratch + "/" + WorkName
	if slices.ContainsFunc(p.Root, func(m Mount) bool { return m.Path == work || isBelow(m.Path, work) }) {
		return run.Errorf(run.Unsupported, "a script has no files under this policy, which grants files of the host below %s", work)
	}
	return nil
}

func isBelow(name, dir string) bool { return strings.HasPrefix(name, dir+"/") }

// PrivateDir is a directory that each worker of a fork server gets new, with the entries
// that its mount would hide.
type PrivateDir struct {
	Path    string
	Entries []Mount // their paths are names
}

// PrivateDirs lists the private directories with entries, which the fork server mounts
// into the new ones, including everything below them.
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

// throughPrivate resolves symlinks of the host at paths where the guest has its own
// directory, such as /tmp, which is a symlink on some hosts. The target is mounted at
// both paths.
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

// follow returns the path that a symlink leads to, through other symlinks of the list.
func follow(files []Mount, link Mount) string {
	target := absolute(link)
	const maxLinks = 40 // as in the kernel
	for range maxLinks {
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
