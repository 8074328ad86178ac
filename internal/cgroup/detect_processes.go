package cgroup

const (
	notCounted      = "processes are not counted by a cgroup, so that only resource limits bound them: "
	remedyBootPids  = "boot a kernel with CONFIG_CGROUP_PIDS, and without cgroup_disable=pids on its command line"
	remedyMountPids = "mount it (mount -t cgroup -o pids none /sys/fs/cgroup/pids), " +
		"or start the container with a private cgroup namespace"
	remedyV1Pids = "start cordon in a pids cgroup that its user owns (as root: mkdir, chown, write the pid to cgroup.procs)"
)

// counting adds where processes are counted to the features of a host whose memory groups
// work; m is the mount of the memory groups. The pids controller is also in one hierarchy
// only.
func (h Host) counting(f Features, m mount) Features {
	var reason, remedy string
	if own, ok := ownGroup(h.Cgroup, "pids"); ok {
		f.ProcessParent, reason, remedy = h.countingV1(own)
	} else if f.Version == 1 {
		// It could be on v2, which has other rules for creating groups.
		reason, remedy = "the pids controller is in no hierarchy of v1", remedyBootPids
	} else if reason, remedy = h.mayHandOut(f.Parent, m, "pids"); reason == "" {
		f.ProcessParent = f.Parent
	}
	if reason != "" {
		f.ProcessReason, f.ProcessRemedy = notCounted+reason, remedy
	}
	return f
}

func (h Host) countingV1(own string) (parent, reason, remedy string) {
	m, reason, remedy := h.visible(own, "pids", ofV1("pids"))
	if reason != "" {
		if remedy == remedyMount {
			remedy = remedyMountPids
		}
		return "", reason, remedy
	}
	if err := h.Writable(m.dir); err != nil {
		return "", "no permission to make groups in " + m.dir + ": " + err.Error(), remedyV1Pids
	}
	return m.dir, "", ""
}
