package confine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// mountLines formats mounts as text: "kind path" of each, in order.
func mountLines(root []Mount) []string {
	var lines []string
	for _, m := range root {
		line := fmt.Sprintf("%s %s", m.Kind, m.Path)
		if m.Source != "" {
			line += " from " + m.Source
		}
		lines = append(lines, line)
	}
	return lines
}

func TestArrange(t *testing.T) {
	own := Mount{Path: Scratch, Kind: Tmpfs}
	alias := Mount{Path: "/var/tmp", Kind: Symlink, Target: Scratch}
	bind := func(path string) Mount { return Mount{Path: path, Kind: BindDir} }
	for name, test := range map[string]struct {
		root []Mount
		want []string
	}{
		"nothing below":       {[]Mount{bind("/data"), alias, own}, []string{"tmpfs /tmp", "dir /data", "symlink /var/tmp"}},
		"directly below":      {[]Mount{bind("/tmp/a"), own}, []string{"tmpfs /tmp", "dir /tmp/a"}},
		"deeper":              {[]Mount{bind("/tmp/a/b/c"), own}, []string{"tmpfs /tmp", "parent dir /tmp/a", "dir /tmp/a/b/c"}},
		"one parent for all":  {[]Mount{bind("/tmp/a/c"), bind("/tmp/a/b"), own}, []string{"tmpfs /tmp", "parent dir /tmp/a", "dir /tmp/a/b", "dir /tmp/a/c"}},
		"inside of another":   {[]Mount{bind("/tmp/a/b"), bind("/tmp/a"), own}, []string{"tmpfs /tmp", "dir /tmp/a", "dir /tmp/a/b"}},
		"like a name of ours": {[]Mount{bind("/tmpfiles/a"), own}, []string{"tmpfs /tmp", "dir /tmpfiles/a"}},
		"below another name":  {[]Mount{alias, bind("/var/tmp/a/b"), own}, []string{"tmpfs /tmp", "scratch view /var/tmp", "parent dir /var/tmp/a", "dir /var/tmp/a/b"}},
		"at another name":     {[]Mount{alias, bind("/var/tmp"), own}, []string{"tmpfs /tmp", "dir /var/tmp"}},
		"a link of the system": {[]Mount{{Path: "/lib", Kind: Symlink, Target: "usr/lib"}, bind("/lib/x"), own},
			[]string{"tmpfs /tmp", "dir /lib/x"}},
	} {
		if got := mountLines(Arrange(test.root)); !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, test.want)
		}
	}
}

// The root of a script contains what is granted below the private directories, and the
// fork server mounts it again in each worker's.
func TestPrivateDirs(t *testing.T) {
	files := []Mount{
		{Path: "/tmp/clone/venv/lib", Kind: BindDir}, {Path: "/tmp/clone/python", Kind: BindFile},
		{Path: "/tmp/link", Kind: Symlink, Target: "/usr"}, {Path: "/usr/lib", Kind: BindDir},
	}
	f := full()
	f.PlainFiles = []string{"/tmp/data.csv"}
	p, err := Make(Inputs{Policy: policy.Policy{Read: []string{"/tmp/data.csv", "/dev/shm/a"}}, Features: f, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range p.PrivateDirs() {
		got = append(got, d.Path+": "+strings.Join(mountLines(d.Entries), ", "))
	}
	slices.Sort(got)
	if want := []string{"/dev/shm: dir a", "/tmp: dir clone, file data.csv, symlink link"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if p, err = Make(Inputs{Features: f, Files: files[3:]}); err != nil || p.PrivateDirs() != nil {
		t.Errorf("nothing lies there, and the fork server would mount %v: %v", p.PrivateDirs(), err)
	}
}

// The host's /tmp may be a symlink. The guest's is not, and contains at that path what
// the link leads to.
func TestLinkedTmp(t *testing.T) {
	for name, test := range map[string]struct{ files, want []Mount }{
		"elsewhere": {
			[]Mount{{Path: "/tmp", Kind: Symlink, Target: "private/tmp"}, {Path: "/private/tmp/venv", Kind: BindDir}},
			[]Mount{{Path: "/private/tmp/venv", Kind: BindDir}, {Path: "/tmp/venv", Source: "/private/tmp/venv", Kind: BindDir}},
		},
		"through another link": {
			[]Mount{{Path: "/tmp", Kind: Symlink, Target: "/disk/tmp"}, {Path: "/disk", Kind: Symlink, Target: "/mnt/1"}, {Path: "/mnt/1/tmp/x", Kind: BindFile}},
			[]Mount{{Path: "/disk", Kind: Symlink, Target: "/mnt/1"}, {Path: "/mnt/1/tmp/x", Kind: BindFile}, {Path: "/tmp/x", Source: "/mnt/1/tmp/x", Kind: BindFile}},
		},
		"in a circle": {
			[]Mount{{Path: "/tmp", Kind: Symlink, Target: "/a"}, {Path: "/a", Kind: Symlink, Target: "/tmp"}},
			[]Mount{{Path: "/a", Kind: Symlink, Target: "/tmp"}},
		},
		"shared memory, as it was once": {
			[]Mount{{Path: "/dev/shm", Kind: Symlink, Target: "/run/shm"}, {Path: "/run/shm/x", Kind: BindDir}},
			[]Mount{{Path: "/run/shm/x", Kind: BindDir}, {Path: "/dev/shm/x", Source: "/run/shm/x", Kind: BindDir}},
		},
	} {
		if got := throughPrivate(test.files, Scratch, SharedMemory); !slices.Equal(got, test.want) {
			t.Errorf("%s:\ngot  %v\nwant %v", name, got, test.want)
		}
	}
}

func TestLacksWork(t *testing.T) {
	for name, test := range map[string]struct {
		granted []Mount
		words   string
	}{
		"nothing granted": {},
		"a file in /tmp":  {granted: []Mount{{Path: "/tmp/other/f", Kind: BindFile}}},
		"a file in /work": {granted: []Mount{{Path: "/work/f", Kind: BindFile}}},
		"/tmp/work":       {[]Mount{{Path: "/tmp/work", Kind: BindDir}}, "below /tmp/work"},
		"below /tmp/work": {[]Mount{{Path: "/tmp/work/f", Kind: BindFile}}, "below /tmp/work"},
	} {
		root := append(slices.Clone(test.granted), Mount{Path: Scratch, Kind: EmptyDir}, Mount{Path: Work, Kind: Symlink, Target: Scratch + "/" + WorkName})
		err := Plan{Root: Arrange(root)}.LacksWork()
		if test.words == "" && err != nil || test.words != "" && (err == nil || !strings.Contains(err.Error(), test.words)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (Plan{}).LacksWork(); run.ClassOf(err) != run.Unsupported {
		t.Errorf("%v", err)
	}
}
