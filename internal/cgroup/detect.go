package cgroup

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	remedyBoot = "boot with the memory controller on: remove cgroup_disable=memory from the kernel's command line, " +
		"or add cgroup_enable=memory where the distribution turns it off"
	remedyOuter = "let whoever made this container delegate the memory controller to it " +
		"(rootless engines: Delegate=memory for user@.service)"
	remedyMount = "mount the cgroup file system (mount -t cgroup2 none /sys/fs/cgroup), " +
		"or start the container with a private cgroup namespace"
	remedyReadOnly = "give the container a writable cgroup of its own " +
		"(Docker: --security-opt writable-cgroups=true or --privileged; containerd: cgroup_writable = true)"
	remedyDelegate = "run it delegated: systemd-run --user --scope -p Delegate=yes cordon …; " +
		"in a service: Delegate=yes and DelegateSubgroup=main"
	remedyLeaf = "start cordon in a group of its own below this one: in a service Delegate=yes and DelegateSubgroup=main; " +
		"in a container, before cordon: mkdir /sys/fs/cgroup/main && echo 0 > /sys/fs/cgroup/main/cgroup.procs"
	remedyV1 = "start cordon in a memory cgroup that its user owns (as root: mkdir, chown, write the pid to cgroup.procs)"
)

// Detect decides where memory groups can be created, and where processes can be counted.
// It changes nothing: Open (v2: +memory) and the first Lease that needs it (+pids) turn
// controllers on.
//
// The memory controller is in one hierarchy only. v1 is checked first, because a hybrid
// host also has a "0::" line, for a v2 tree without the controller.
func Detect(h Host) Features {
	if own, ok := ownGroup(h.Cgroup, "memory"); ok {
		return detectV1(h, own)
	}
	if own, ok := ownGroup(h.Cgroup, ""); ok {
		return detectV2(h, own)
	}
	return Features{Reason: "the kernel has no memory cgroups", Remedy: remedyBoot}
}

func detectV1(h Host, own string) Features {
	missing := func(reason, remedy string) Features {
		return Features{Version: 1, Reason: reason, Remedy: remedy}
	}
	m, reason, remedy := h.visible(own, "memory", ofV1("memory"))
	if reason != "" {
		return missing(reason, remedy)
	}
	if !h.exists(m.dir, "memory.limit_in_bytes") {
		return missing("no memory controller in "+m.dir, remedyBoot)
	}
	if err := h.Writable(m.dir); err != nil {
		return missing("no permission to make groups in "+m.dir+": "+err.Error(), remedyV1)
	}
	return h.counting(Features{Version: 1, Parent: m.dir}, m)
}

func detectV2(h Host, own string) Features {
	missing := func(reason, remedy string) Features {
		return Features{Version: 2, Reason: reason, Remedy: remedy}
	}
	m, reason, remedy := h.visible(own, "memory", func(m mount) bool { return m.fstype == "cgroup2" })
	if reason != "" {
		return missing(reason, remedy)
	}
	if !slices.Contains(h.words(m.dir, "cgroup.controllers"), "memory") {
		if !slices.Contains(h.words(m.point, "cgroup.controllers"), "memory") {
			f := Features{Reason: "the memory controller is not in " + path.Join(m.point, "cgroup.controllers"), Remedy: remedyBoot}
			if h.exists(m.point, "cgroup.type") {
				// This is not the root of the hierarchy, but of the container's view.
				f.Remedy = remedyOuter
			}
			return f
		}
		// Our own group does not have it, but the one above may, which is enough for
		// a sibling.
	}
	reason, remedy = h.mayHost(m.dir, m)
	if reason == "" {
		return h.counting(Features{Version: 2, Parent: m.dir}, m)
	}
	if m.isRoot() {
		// No group above is visible.
		return missing(reason, remedy)
	}
	above := path.Dir(m.dir)
	if also, _ := h.mayHost(above, m); also != "" {
		return missing(reason+"; "+also, remedy)
	}
	return h.counting(Features{Version: 2, Parent: above}, m)
}

// mayHost returns why dir cannot have a group with a memory limit, or "".
func (h Host) mayHost(dir string, m mount) (reason, remedy string) {
	// Moving a worker also needs write access to cgroup.procs of the nearest common
	// group above its old and its new group.
	for _, p := range []string{dir, path.Join(dir, "cgroup.procs"), path.Join(dir, "cgroup.subtree_control")} {
		if err := h.Writable(p); err != nil {
			return "no permission to make groups in " + dir + ": " + err.Error(), remedyDelegate
		}
	}
	// Only the root of the hierarchy has no type. A threaded group cannot have
	// children with memory limits.
	kind := strings.Join(h.words(dir, "cgroup.type"), " ")
	if kind != "" && kind != "domain" {
		return dir + " is a " + kind + " cgroup", remedyDelegate
	}
	return h.mayHandOut(dir, m, "memory")
}

// mayHandOut returns why groups in dir cannot have a v2 controller, or "".
func (h Host) mayHandOut(dir string, m mount, controller string) (reason, remedy string) {
	if slices.Contains(h.words(dir, "cgroup.subtree_control"), controller) {
		return "", ""
	}
	// It is off and would have to be turned on.
	if !slices.Contains(h.words(dir, "cgroup.controllers"), controller) {
		return "the " + controller + " controller is not delegated to " + dir, remedyDelegate
	}
	// Only the root of the hierarchy has no type.
	if h.exists(dir, "cgroup.type") && len(h.words(dir, "cgroup.procs")) > 0 {
		return dir + " has processes of its own, so it cannot hand the " + controller + " controller to groups below it", remedyLeaf
	}
	if dir != m.point && !h.Delegated(dir) {
		return "the " + controller + " controller is off below " + dir + ", which is not ours to change", remedyDelegate
	}
	return "", ""
}

// A mount is one line of mountinfo; dir is the path, below point, of the process's own
// group.
type mount struct {
	root, point, fstype string
	options, super      []string
	dir                 string
}

func (m mount) isRoot() bool { return m.dir == m.point }

// ofV1 returns a function that selects the mounts of the v1 hierarchy with a controller.
func ofV1(controller string) func(mount) bool {
	return func(m mount) bool { return m.fstype == "cgroup" && slices.Contains(m.super, controller) }
}

// visible finds the mount in which the group own is visible and writable. If there is
// none, it returns the reason for the best candidate.
func (h Host) visible(own, controller string, want func(mount) bool) (found mount, reason, remedy string) {
	reason, remedy = "the hierarchy of the "+controller+" controller is not mounted", remedyMount
	if strings.HasSuffix(own, " (deleted)") {
		return mount{}, "the group this process is in has been removed", remedyDelegate
	}
	for _, m := range parseMounts(h.Mountinfo) {
		if !want(m) {
			continue
		}
		rest, ok := below(own, m.root)
		if !ok {
			reason = "this process's group " + own + " is outside the part that is mounted at " + m.point
			continue
		}
		m.dir = path.Join(m.point, rest)
		if !h.exists(m.dir, "cgroup.procs") {
			// Another file system covers it, or a bind mount comes from another view
			// of the tree.
			reason = "this process's group is not visible at " + m.dir
			continue
		}
		if slices.Contains(m.options, "ro") || slices.Contains(m.super, "ro") {
			reason, remedy = m.point+" is mounted read-only", remedyReadOnly
			continue
		}
		return m, "", ""
	}
	return mount{}, reason, remedy
}

// below returns the part of own below root. The path of a group above the process's
// cgroup namespace begins with "/..", which no mount shows.
func below(own, root string) (string, bool) {
	if !path.IsAbs(own) || slices.Contains(strings.Split(own, "/"), "..") {
		return "", false
	}
	if own == root || root == "/" {
		return strings.TrimPrefix(own, root), true
	}
	return strings.CutPrefix(own, root+"/")
}

func (h Host) exists(dir, name string) bool {
	_, err := fs.Stat(h.FS, relative(path.Join(dir, name)))
	return err == nil
}

func (h Host) words(dir, name string) []string {
	b, err := fs.ReadFile(h.FS, relative(path.Join(dir, name)))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b))
}

// relative converts an absolute path to one for io/fs.
func relative(p string) string { return strings.TrimPrefix(p, "/") }

// ownGroup returns this process's group in the hierarchy of a v1 controller, or in the v2
// hierarchy for "". Group names may contain colons.
func ownGroup(cgroup, controller string) (string, bool) {
	for line := range strings.Lines(cgroup) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) == 3 && slices.Contains(strings.Split(f[1], ","), controller) && (controller != "" || f[0] == "0") {
			return f[2], true
		}
	}
	return "", false
}

// parseMounts parses the cgroup mounts of mountinfo, the latest first, because it hides
// earlier ones. It skips other mounts, often hundreds, without parsing them.
func parseMounts(mountinfo string) []mount {
	var all []mount
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		if !strings.HasPrefix(after, "cgroup") {
			continue
		}
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 6 || len(g) < 3 {
			continue
		}
		all = append(all, mount{
			root:    unescape.Replace(f[3]),
			point:   unescape.Replace(f[4]),
			options: strings.Split(f[5], ","),
			fstype:  g[0],
			super:   strings.Split(g[2], ","),
		})
	}
	slices.Reverse(all)
	return all
}

// unescape reverses the kernel's escaping of characters that would break mountinfo's
// columns.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
