package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

func TestWorkspaceByName(t *testing.T) {
	none := func(string) bool { return false }
	homes := []string{"/data/people/ann"}
	for _, test := range []struct{ path, why string }{
		{"/root", "home directory"}, {"/home", "others"}, {"/home/ann", "home directory"}, {"/Users/ann", "home directory"}, {"/Users", "others"},
		{"/var/home/ann", "home directory"}, {"/var/home", "others"}, {"/export/home/ann", "home directory"}, {"/mnt/c/Users/ann", "home directory"}, {"/mnt/c", "others"},
		{"/data/people/ann", "home directory"}, {"/data/people", "is in it"}, {"/data", "is in it"}, {"/data/people/ann/.config", "passwords"},
		{"/usr", "system"}, {"/usr/local/src/x", "system"}, {"/etc", "system"}, {"/etc/ssl", "system"}, {"/bin", "system"}, {"/sbin", "system"}, {"/lib", "system"}, {"/lib64/x", "system"}, {"/boot", "system"}, {"/boot/efi", "system"},
		{"/run", "system"}, {"/run/docker", "system"}, {"/run/user/1000", "home directory"}, {"/run/user", "others"}, {"/nix/store/x", "system"},
		{"/var", "others"}, {"/var/lib", "others"}, {"/var/log", "system"}, {"/var/log/x", "system"}, {"/var/lib/docker/volumes/x", "system"}, {"/var/tmp", "others"}, {"/var/www", "others"},
		{"/tmp", "others"}, {"/opt", "others"}, {"/srv", "others"}, {"/mnt", "others"}, {"/media", "others"}, {"/media/usb", "others"}, {"/Volumes", "others"}, {"/System/x", "system"},
		{"/home/ann/.ssh", ".ssh"}, {"/home/ann/.gnupg/x", ".gnupg"}, {"/srv/x/.aws", ".aws"},

		{"/home/ann/project", ""}, {"/root/project", ""}, {"/data/people/ann/project", ""}, {"/data/other", ""}, {"/data/people/ann/project/.config", ""}, {"/srv/project", ""}, {"/opt/project", ""},
		{"/mnt/disk", ""}, {"/mnt/c/work", ""}, {"/media/ann/usb/x", ""}, {"/tmp/x", ""}, {"/var/tmp/x", ""}, {"/var/www/site", ""}, {"/var/lib/jenkins/workspace/x", ""}, {"/work", ""}, {"/workspace/x", ""}, {"/app", ""},
		{"/run/user/1000/x", ""}, {"/run/media/ann/usb", ""}, {"/users", ""}, {"/library", ""}, {"/etcetera", ""},
	} {
		why := dangerousWorkspace(test.path, homes, none)
		if test.why == "" && why != "" || !strings.Contains(why, test.why) {
			t.Errorf("%s: %q; want %q", test.path, why, test.why)
		}
	}
}

func TestWorkspaceNever(t *testing.T) {
	for _, p := range []string{"/", "/proc", "/proc/self", "/sys", "/sys/fs/cgroup", "/dev", "/dev/shm", "/dev/pts/0", "/tmp"} {
		if neverWorkspace(p) == "" {
			t.Errorf("%s may be a workspace", p)
		}
	}
	for _, p := range []string{"/device", "/tmp/x", "/dev/shm/x", "/var/tmp"} {
		if why := neverWorkspace(p); why != "" {
			t.Errorf("%s: %s", p, why)
		}
	}
}

func TestWorkspaceOnThisHost(t *testing.T) {
	g := newFixture(t)
	t.Setenv("HOME", filepath.Join(g.root, "house"))
	g.write("house/project/x", "", 0o644)
	g.write("disguised/.ssh/id", "", 0o600)
	g.write("dump/.bash_history", "", 0o600)
	g.link("/", "toroot")
	g.link("/proc", "toproc")
	g.link("house", "tohouse")
	g.link("ws", "tows")
	g.link("gone", "dangling")
	for _, test := range []struct {
		name, why       string
		evenIfDangerous bool
	}{
		{"ws", "", false}, {"tows", "", false}, {"ws/../ws/sub", "", false}, {"house/project", "", false},
		{"house", "it is a home directory", false}, {"tohouse", "it is a home directory", false}, {".", "is in it", false},
		{"disguised", ".ssh", false}, {"disguised/.ssh", ".ssh", false}, {"dump", ".bash_history", false},
		{"toroot", "root of the file system", true}, {"toproc", "kernel", true},
		{"none", "does not exist", true}, {"dangling", "does not exist", true}, {"ws/data.txt", "not a directory", true}, {"ws/data.txt/x", "cannot be reached", true},
	} {
		name := filepath.Join(g.root, test.name)
		for _, dangerous := range []bool{false, true} {
			got, err := Workspace(name, dangerous)
			if test.why == "" || dangerous && !test.evenIfDangerous {
				real, evalErr := filepath.EvalSymlinks(name)
				if err != nil || evalErr != nil || got != real {
					t.Errorf("%s, %t: %q, %v; want %q", test.name, dangerous, got, err, real)
				}
				continue
			}
			wantClass(t, err, run.Invalid, test.why)
			if !dangerous && !test.evenIfDangerous {
				wantClass(t, err, run.Invalid, "--dangerous-workspace", "directory of one project")
			}
		}
	}
	for _, name := range []string{"", "a\x00b"} {
		_, err := Workspace(name, true)
		wantClass(t, err, run.Invalid)
	}
	t.Chdir(g.ws)
	if got, err := Workspace("sub/..", false); err != nil || got != g.ws {
		t.Errorf("%q, %v", got, err)
	}
}

func TestHomesAreNotTheRoot(t *testing.T) {
	t.Setenv("HOME", "/")
	for _, home := range hostpath.Homes() {
		if home == "/" || home == "" {
			t.Errorf("%q would make every directory dangerous", home)
		}
	}
	t.Setenv("HOME", "relative")
	for _, home := range hostpath.Homes() {
		if !filepath.IsAbs(home) {
			t.Errorf("%q", home)
		}
	}
	if os.Getuid() == 0 && !underAny("/root/x", hostpath.Homes()) {
		t.Errorf("the user database is not asked: %q", hostpath.Homes())
	}
}
