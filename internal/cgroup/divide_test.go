package cgroup

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

func TestDivisible(t *testing.T) {
	const own = "0::/system.slice/cordon.service\n"
	unit := func(kind, controllers, procs string) fstest.MapFS {
		return treeFS(func(t fstest.MapFS) {
			group(t, sys, "", all, all, "")
			group(t, sys+"/system.slice", "domain", all, all, "")
			group(t, service, kind, controllers, "", procs)
			group(t, service+"/main", "domain", "memory", "", "77")
		})
	}
	for _, test := range []struct {
		name     string
		cgroup   string
		mounts   string
		fs       fstest.MapFS
		handed   string
		readable string
		want     string
	}{
		{name: "a unit with Delegate", cgroup: own, fs: unit("domain", all, "77"), handed: service, want: service},
		{name: "nobody has left it to us", cgroup: own, fs: unit("domain", all, "77")},
		{name: "left to the manager above", cgroup: own, fs: unit("domain", all, "77"), handed: sys + "/system.slice"},
		{name: "another process is in it", cgroup: own, fs: unit("domain", all, "77\n78"), handed: service},
		{name: "a process of another pid namespace is in it", cgroup: own, fs: unit("domain", all, "0\n77"), handed: service},
		{name: "we are in its subgroup already", cgroup: "0::/system.slice/cordon.service/main\n", fs: unit("domain", all, ""), handed: service},
		{name: "no memory controller to hand on", cgroup: own, fs: unit("domain", noControl, "77"), handed: service},
		{name: "threaded", cgroup: own, fs: unit("threaded", all, "77"), handed: service},
		{name: "the root of the hierarchy", cgroup: "0::/\n", fs: treeFS(func(t fstest.MapFS) { group(t, sys, "", all, all, "77") }), handed: sys},
		{name: "may not be written", cgroup: own, fs: unit("domain", all, "77"), handed: service, readable: service},
		{name: "may not be left", cgroup: own, fs: unit("domain", all, "77"), handed: service, readable: service + "/cgroup.procs"},
		{name: "may not hand out", cgroup: own, fs: unit("domain", all, "77"), handed: service, readable: service + "/cgroup.subtree_control"},
		{name: "memory is on v1", cgroup: "4:memory:/a\n" + own, fs: unit("domain", all, "77"), handed: service},
		{name: "not mounted", cgroup: own, mounts: v1Memory, fs: unit("domain", all, "77"), handed: service},
		{name: "outside of the namespace", cgroup: "0::/../other\n", fs: unit("domain", all, "77"), handed: service},
		{name: "no cgroups", fs: fstest.MapFS{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			mounts := unified
			if test.mounts != "" {
				mounts = test.mounts
			}
			got := Divisible(Host{
				Cgroup: test.cgroup, Mountinfo: mounts, FS: test.fs,
				Writable: func(p string) error {
					if p == test.readable {
						return fs.ErrPermission
					}
					return nil
				},
				Handed: func(dir string) bool { return dir == test.handed },
			}, 77)
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
