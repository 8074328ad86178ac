package cgroup

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// group adds a v2 group to a tree; an empty kind makes it the hierarchy's root.
func group(tree fstest.MapFS, dir, kind, controllers, subtree, procs string) {
	add := func(name, content string) {
		tree[relative(path.Join(dir, name))] = &fstest.MapFile{Data: []byte(content + "\n")}
	}
	if kind != "" {
		add("cgroup.type", kind)
	}
	add("cgroup.controllers", controllers)
	add("cgroup.subtree_control", subtree)
	add("cgroup.procs", procs)
}

func treeFS(build func(fstest.MapFS)) fstest.MapFS {
	t := fstest.MapFS{}
	build(t)
	return t
}

// pidsOff has the pids controller, but not turned on for groups below.
var pidsOff = treeFS(func(t fstest.MapFS) {
	group(t, sys, "", all, all, "")
	group(t, sys+"/a", "domain", all, "memory", "")
	group(t, sys+"/a/main", "domain", "memory", "", "77")
})

// v1group has the minimum files of a v1 memory group.
func v1group(dir string) fstest.MapFS {
	return fstest.MapFS{
		relative(dir) + "/cgroup.procs":          {},
		relative(dir) + "/memory.limit_in_bytes": {},
	}
}

// v1both has a group in each of the two hierarchies.
func v1both(memory, pids string) fstest.MapFS {
	t := v1group(memory)
	t[relative(pids)+"/cgroup.procs"] = &fstest.MapFile{}
	return t
}

const (
	v1Pids    = "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
	v1Memory  = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	unified   = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	hybridV2  = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
	all       = "cpuset cpu io memory pids"
	sys       = "/sys/fs/cgroup"
	service   = sys + "/system.slice/cordon.service"
	noControl = "cpu pids"
)

var detectTests = []struct {
	name      string
	cgroup    string
	mounts    string
	fs        fstest.MapFS
	readable  []string // read-only paths
	delegated string
	version   int
	parent    string
	reason    string // part of it
	remedy    string // part of it
	// If parent is set: where processes are counted, or why they are not.
	processes string
	uncounted string // part of the reason
	repair    string // part of the remedy
}{
	{
		name:    "v1: processes in a hierarchy of their own",
		cgroup:  "8:pids:/other\n4:memory:/user.slice\n0::/\n",
		mounts:  v1Memory + v1Pids,
		fs:      v1both(sys+"/memory/user.slice", sys+"/pids/other"),
		version: 1, parent: sys + "/memory/user.slice", processes: sys + "/pids/other",
	}, {
		name:    "v1: processes and memory mounted together",
		cgroup:  "4:memory,pids:/a\n",
		mounts:  "35 31 0:32 / /cg rw - cgroup cgroup rw,memory,pids\n",
		fs:      v1group("/cg/a"),
		version: 1, parent: "/cg/a", processes: "/cg/a",
	}, {
		name:    "v1: a kernel that counts no processes",
		cgroup:  "4:memory:/\n0::/\n",
		mounts:  v1Memory,
		fs:      v1group(sys + "/memory"),
		version: 1, parent: sys + "/memory", uncounted: "in no hierarchy of v1", repair: "CONFIG_CGROUP_PIDS",
	}, {
		name:    "v1: the pids hierarchy is not mounted",
		cgroup:  "8:pids:/\n4:memory:/\n",
		mounts:  v1Memory,
		fs:      v1group(sys + "/memory"),
		version: 1, parent: sys + "/memory", uncounted: "pids controller is not mounted", repair: "-o pids",
	}, {
		name:     "v1: the pids hierarchy may not be written",
		cgroup:   "8:pids:/a\n4:memory:/a\n",
		mounts:   v1Memory + v1Pids,
		fs:       v1both(sys+"/memory/a", sys+"/pids/a"),
		readable: []string{sys + "/pids/a"},
		version:  1, parent: sys + "/memory/a", uncounted: "no permission", repair: "pids cgroup that its user owns",
	}, {
		name:    "v1: the pids hierarchy is mounted read-only",
		cgroup:  "8:pids:/\n4:memory:/\n",
		mounts:  v1Memory + strings.Replace(v1Pids, " rw,relatime", " ro,relatime", 1),
		fs:      v1both(sys+"/memory", sys+"/pids"),
		version: 1, parent: sys + "/memory", uncounted: "mounted read-only", repair: "writable-cgroups",
	}, {
		name:     "v1: processes could be counted, but memory cannot",
		cgroup:   "8:pids:/\n4:memory:/\n",
		mounts:   v1Memory + v1Pids,
		fs:       v1both(sys+"/memory", sys+"/pids"),
		readable: []string{sys + "/memory"},
		version:  1, reason: "no permission", remedy: "memory cgroup that its user owns",
	}, {
		name:   "v2: processes in the same groups",
		cgroup: "0::/\n", mounts: unified,
		fs:      treeFS(func(t fstest.MapFS) { group(t, sys, "", all, "memory", "1\n2") }),
		version: 2, parent: sys, processes: sys,
	}, {
		name:   "v2: the pids controller is not delegated",
		cgroup: "0::/a/main\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, sys+"/a", "domain", "memory", "memory", "")
			group(t, sys+"/a/main", "domain", "memory", "", "77")
		}),
		delegated: sys + "/a",
		version:   2, parent: sys + "/a", uncounted: "pids controller is not delegated to " + sys + "/a", repair: "Delegate=yes",
	}, {
		name:   "v2: the pids controller is off, and not ours to turn on",
		cgroup: "0::/a/main\n", mounts: unified,
		fs:      pidsOff,
		version: 2, parent: sys + "/a", uncounted: "pids controller is off below " + sys + "/a", repair: "Delegate=yes",
	}, {
		name:   "v2: the same, ours to turn on",
		cgroup: "0::/a/main\n", mounts: unified,
		fs:        pidsOff,
		delegated: sys + "/a",
		version:   2, parent: sys + "/a", processes: sys + "/a",
	}, {
		name:   "hybrid: memory is on v2, processes are on v1",
		cgroup: "8:pids:/x\n0::/\n",
		mounts: hybridV2 + v1Pids,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys+"/unified", "", "memory", "memory", "1")
			t[relative(sys+"/pids/x/cgroup.procs")] = &fstest.MapFile{}
		}),
		version: 2, parent: sys + "/unified", processes: sys + "/pids/x",
	}, {
		name:    "v1: below the own group",
		cgroup:  "5:cpu,cpuacct:/a\n4:memory:/user.slice\n1:name=systemd:/x\n",
		mounts:  v1Memory,
		fs:      v1group(sys + "/memory/user.slice"),
		version: 1, parent: sys + "/memory/user.slice",
	}, {
		name:    "v1: memory mounted together with others",
		cgroup:  "4:cpu,memory:/\n",
		mounts:  "35 31 0:32 / /cg rw - cgroup cgroup rw,cpu,memory\n",
		fs:      v1group("/cg"),
		version: 1, parent: "/cg",
	}, {
		name:    "v1: a container sees its part of the tree",
		cgroup:  "4:memory:/docker/abc/inner\n",
		mounts:  "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
		fs:      v1group(sys + "/memory/inner"),
		version: 1, parent: sys + "/memory/inner",
	}, {
		name:    "v1: mounted from elsewhere",
		cgroup:  "4:memory:/docker/abcdef\n",
		mounts:  "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
		fs:      v1group(sys + "/memory"),
		version: 1, reason: "outside the part that is mounted", remedy: "cgroup namespace",
	}, {
		name:    "v1: container with a read-only cgroupfs",
		cgroup:  "4:memory:/docker/abc\n",
		mounts:  "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\n",
		fs:      v1group(sys + "/memory"),
		version: 1, reason: "mounted read-only", remedy: "writable-cgroups",
	}, {
		name:     "v1: no permission",
		cgroup:   "4:memory:/user.slice\n",
		mounts:   v1Memory,
		fs:       v1group(sys + "/memory/user.slice"),
		readable: []string{sys + "/memory/user.slice"},
		version:  1, reason: "no permission", remedy: "its user owns",
	}, {
		name:    "v1: not mounted",
		cgroup:  "4:memory:/\n",
		mounts:  "23 1 0:1 / / rw - ext4 /dev/vda rw\nrubbish\n",
		version: 1, reason: "not mounted", remedy: "mount",
	}, {
		name:    "hybrid: memory is on v1 and the unified tree lies idle",
		cgroup:  "9:name=systemd:/\n4:memory:/service/e59f\n3:cpuset:/\n0::/\n",
		mounts:  v1Memory + hybridV2,
		fs:      v1group(sys + "/memory/service/e59f"),
		version: 1, parent: sys + "/memory/service/e59f",
	}, {
		name:   "hybrid: memory is on v2",
		cgroup: "3:cpuset:/\n0::/\n",
		mounts: hybridV2,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys+"/unified", "", "memory hugetlb", "memory", "1\n2")
		}),
		version: 2, parent: sys + "/unified",
	}, {
		name:   "hybrid: no hierarchy has it",
		cgroup: "3:cpuset:/\n0::/\n",
		mounts: hybridV2,
		fs:     treeFS(func(t fstest.MapFS) { group(t, sys+"/unified", "", "hugetlb", "", "1") }),
		reason: "not in /sys/fs/cgroup/unified/cgroup.controllers", remedy: "cgroup_disable=memory",
	}, {
		name:   "v2: 0::/ at the hierarchy's root, to which the rule does not apply",
		cgroup: "0::/\n", mounts: unified,
		fs:      treeFS(func(t fstest.MapFS) { group(t, sys, "", all, "", "1\n2") }),
		version: 2, parent: sys,
	}, {
		name:   "v2: 0::/ in a container, whose processes are in the way",
		cgroup: "0::/\n", mounts: unified,
		fs:      treeFS(func(t fstest.MapFS) { group(t, sys, "domain", all, "", "1\n2") }),
		version: 2, reason: "has processes of its own", remedy: "/sys/fs/cgroup/main/cgroup.procs",
	}, {
		name:   "v2: a container whose processes have gone into a subgroup",
		cgroup: "0::/main\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "domain", all, "", "")
			group(t, sys+"/main", "domain", "", "", "1\n2")
		}),
		version: 2, parent: sys,
	}, {
		name:   "v2: a container with a read-only cgroupfs",
		cgroup: "0::/\n", mounts: strings.Replace(unified, " rw,nosuid", " ro,nosuid", 1),
		fs:      treeFS(func(t fstest.MapFS) { group(t, sys, "domain", all, "", "1") }),
		version: 2, reason: "mounted read-only", remedy: "writable-cgroups",
	}, {
		name:   "v2: a container without the memory controller",
		cgroup: "0::/\n", mounts: unified,
		fs:     treeFS(func(t fstest.MapFS) { group(t, sys, "domain", noControl, "", "1") }),
		reason: "memory controller is not in", remedy: "delegate the memory controller",
	}, {
		name:   "v2: a service with Delegate= and DelegateSubgroup=",
		cgroup: "0::/system.slice/cordon.service/main\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, service, "domain", all, "", "")
			group(t, service+"/main", "domain", "", "", "77")
		}),
		delegated: service,
		version:   2, parent: service,
	}, {
		name:   "v2: the same, turned on by somebody already",
		cgroup: "0::/system.slice/cordon.service/main\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, service, "domain", all, "memory", "")
			group(t, service+"/main", "domain", "memory", "", "77")
		}),
		version: 2, parent: service,
	}, {
		name:   "v2: root could turn it on, but the group is not delegated",
		cgroup: "0::/system.slice/cordon.service/main\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, service, "domain", all, "", "")
			group(t, service+"/main", "domain", "", "", "77")
		}),
		version: 2, reason: "not ours to change", remedy: "Delegate=yes",
	}, {
		name:   "v2: Delegate= alone, unprivileged",
		cgroup: "0::/system.slice/cordon.service\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, path.Dir(service), "domain", all, all, "")
			group(t, service, "domain", all, "", "77")
		}),
		readable: []string{path.Dir(service)}, delegated: service,
		version: 2, reason: "has processes of its own", remedy: "DelegateSubgroup=main",
	}, {
		name:   "v2: systemd --user, a scope in a slice of the user's",
		cgroup: "0::/user.slice/user@1000.service/app.slice/run-1.scope\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, sys+"/user.slice/user@1000.service/app.slice", "domain", "memory pids", "memory pids", "")
			group(t, sys+"/user.slice/user@1000.service/app.slice/run-1.scope", "domain", "memory pids", "", "77")
		}),
		version: 2, parent: sys + "/user.slice/user@1000.service/app.slice",
	}, {
		name:   "v2: a login session: no permission anywhere",
		cgroup: "0::/user.slice/session-3.scope\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, sys+"/user.slice", "domain", all, all, "")
			group(t, sys+"/user.slice/session-3.scope", "domain", all, "", "77")
		}),
		readable: []string{sys + "/user.slice", sys + "/user.slice/session-3.scope"},
		version:  2, reason: "no permission", remedy: "systemd-run --user",
	}, {
		name:   "v2: the directory was given away, moving processes was not",
		cgroup: "0::/a/main\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, sys+"/a", "domain", all, "memory", "")
			group(t, sys+"/a/main", "domain", all, "", "77")
		}),
		readable: []string{sys + "/a/cgroup.procs"},
		version:  2, reason: "no permission", remedy: "DelegateSubgroup",
	}, {
		name:   "v2: a threaded group",
		cgroup: "0::/a/b\n", mounts: unified,
		fs: treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, sys+"/a", "domain threaded", all, "memory", "")
			group(t, sys+"/a/b", "threaded", "cpu", "", "77")
		}),
		version: 2, reason: "threaded", remedy: "Delegate=yes",
	}, {
		name:   "v2: above its own cgroup namespace",
		cgroup: "0::/../other\n", mounts: unified,
		fs:      treeFS(func(t fstest.MapFS) { group(t, sys, "domain", all, "memory", "") }),
		version: 2, reason: "outside the part that is mounted", remedy: "cgroup namespace",
	}, {
		name:   "v2: the own group is gone",
		cgroup: "0::/a (deleted)\n", mounts: unified,
		fs:      treeFS(func(t fstest.MapFS) { group(t, sys, "", all, all, "") }),
		version: 2, reason: "has been removed", remedy: "Delegate=yes",
	}, {
		name:   "v2: a group with a colon, a mount point with a blank",
		cgroup: "0::/x:y\n", mounts: strings.Replace(unified, sys, `/my\040cg`, 1),
		fs: treeFS(func(t fstest.MapFS) {
			group(t, "/my cg", "", all, "memory", "")
			group(t, "/my cg/x:y", "domain", "memory", "", "77")
		}),
		version: 2, parent: "/my cg",
	}, {
		name:   "v2: a later mount covers it, another shows it",
		cgroup: "0::/\n", mounts: strings.Replace(unified, sys, "/other", 1) + unified,
		fs:      treeFS(func(t fstest.MapFS) { group(t, "/other", "", all, "memory", "1") }),
		version: 2, parent: "/other",
	}, {
		name: "a kernel without cgroups", cgroup: "", mounts: "",
		reason: "no memory cgroups", remedy: "cgroup_enable=memory",
	},
}

func TestDetect(t *testing.T) {
	for _, tt := range detectTests {
		t.Run(tt.name, func(t *testing.T) {
			files := tt.fs
			if files == nil {
				files = fstest.MapFS{}
			}
			got := Detect(Host{
				Cgroup: tt.cgroup, Mountinfo: tt.mounts, FS: files,
				Writable: func(p string) error {
					for _, r := range tt.readable {
						if p == r {
							return fs.ErrPermission
						}
					}
					if _, err := fs.Stat(files, relative(p)); err != nil {
						return err
					}
					return nil
				},
				Delegated: func(dir string) bool { return dir == tt.delegated },
			})
			if got.Version != tt.version || got.Parent != tt.parent {
				t.Errorf("version %d, parent %q, want %d, %q (reason %q)", got.Version, got.Parent, tt.version, tt.parent, got.Reason)
			}
			if !strings.Contains(got.Reason, tt.reason) || !strings.Contains(got.Remedy, tt.remedy) {
				t.Errorf("reason %q, remedy %q, want %q, %q in them", got.Reason, got.Remedy, tt.reason, tt.remedy)
			}
			if tt.parent != "" && tt.processes == "" && tt.uncounted == "" {
				// The case tests something else.
				tt.processes, tt.uncounted = got.ProcessParent, got.ProcessReason
			}
			if got.ProcessParent != tt.processes || got.CountsProcesses() != (tt.processes != "") {
				t.Errorf("processes are counted in %q, want %q", got.ProcessParent, tt.processes)
			}
			if !strings.Contains(got.ProcessReason, tt.uncounted) || !strings.Contains(got.ProcessRemedy, tt.repair) {
				t.Errorf("reason %q, remedy %q, want %q, %q in them", got.ProcessReason, got.ProcessRemedy, tt.uncounted, tt.repair)
			}
			checkCounting(t, got)
			// An unusable host has a reason and a remedy; a usable one has neither.
			if unusable := !got.Usable(); (got.Reason != "") != unusable || (got.Remedy != "") != unusable {
				t.Errorf("usable %v with reason %q, remedy %q", !unusable, got.Reason, got.Remedy)
			}
		})
	}
}

// checkCounting checks that a host with memory limits either counts processes or has a reason
// and a remedy, and that a host without them has neither.
func checkCounting(t *testing.T, f Features) {
	t.Helper()
	silent := f.CountsProcesses() || !f.Usable()
	if (f.ProcessReason == "") != silent || (f.ProcessRemedy == "") != silent || !f.Usable() && f.ProcessParent != "" {
		t.Errorf("usable %v, counted in %q with reason %q, remedy %q", f.Usable(), f.ProcessParent, f.ProcessReason, f.ProcessRemedy)
	}
	if f.ProcessReason != "" && !strings.HasPrefix(f.ProcessReason, "processes are not counted by a cgroup") {
		t.Errorf("reason %q", f.ProcessReason)
	}
}

func TestOpenRefusesWithTheReason(t *testing.T) {
	_, err := Open(Features{Version: 2, Reason: "it rains"})
	if !errors.Is(err, ErrUnsupported) {
		t.Fatalf("got %v, want ErrUnsupported", err)
	}
}

func FuzzDetect(f *testing.F) {
	for _, tt := range detectTests {
		f.Add(tt.cgroup, tt.mounts)
	}
	files := treeFS(func(t fstest.MapFS) { group(t, sys, "", all, all, "1") })
	f.Fuzz(func(t *testing.T, cgroup, mounts string) {
		got := Detect(Host{
			Cgroup: cgroup, Mountinfo: mounts, FS: files,
			Writable:  func(string) error { return nil },
			Delegated: func(string) bool { return true },
		})
		if got.Usable() == (got.Reason != "") {
			t.Fatalf("neither usable nor refused: %+v", got)
		}
		if strings.Contains(got.Parent, "..") || strings.Contains(got.ProcessParent, "..") {
			t.Fatalf("parent %q, of processes %q", got.Parent, got.ProcessParent)
		}
		checkCounting(t, got)
	})
}
