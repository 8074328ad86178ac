package interpreter

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"pgregory.net/rapid"

	"github.com/cordon-sandbox/cordon/run"
)

// system returns a host's files in memory: "->x" is a link, all others are files.
func system(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range files {
		name, target, isLink := strings.Cut(f, "->")
		file := &fstest.MapFile{Mode: 0o755}
		if isLink {
			file = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte(target)}
		}
		fsys[strings.TrimPrefix(name, "/")] = file
	}
	return fsys
}

const x86 = "x86_64-linux-gnu"

// TestPlan tests layouts of distributions other than this host's.
func TestPlan(t *testing.T) {
	glibc := object{loader: "/lib64/ld-linux-x86-64.so.2", needed: []string{"libc.so.6"}, triplet: x86}
	with := func(o object, needed []string, runpath ...string) object {
		o.needed, o.runpath = append(needed, o.needed...), runpath
		return o
	}
	debian := []string{"/lib->usr/lib", "/lib64->usr/lib64", "/usr/lib64/ld-linux-x86-64.so.2->/lib/" + x86 + "/ld.so",
		"/usr/lib/" + x86 + "/ld.so", "/usr/lib/" + x86 + "/libc.so.6", "/usr/lib/os-release", "/etc/ld.so.cache", "/etc/passwd"}
	debianAll := []string{"/etc/ld.so.cache file", "/lib symlink", "/lib64 symlink", "/usr/lib/" + x86 + " dir", "/usr/lib64 dir"}
	for _, c := range []struct {
		name   string
		python Interpreter
		files  []string
		elf    map[string]object
		want   []string
	}{
		{
			"debian with alternatives", Interpreter{Path: "/usr/bin/python3.11", Prefix: "/usr", Stdlib: "/usr/lib/python3.11",
				SysPath: []string{"/usr/lib/python3.11", "/usr/lib/python3.11/lib-dynload", "/usr/lib/python3/dist-packages"}},
			append(debian, "/usr/bin/python3.11", "/usr/lib/python3.11/os.py", "/usr/lib/python3/dist-packages/x.py",
				"/usr/lib/"+x86+"/libblas.so.3->/etc/alternatives/libblas", "/etc/alternatives/libblas->/usr/lib/"+x86+"/openblas/libblas.so.3",
				"/usr/lib/"+x86+"/openblas/libblas.so.3"),
			map[string]object{"/usr/bin/python3.11": glibc},
			append(debianAll, "/etc/alternatives/libblas symlink", "/usr/bin/python3.11 file", "/usr/lib/python3.11 dir", "/usr/lib/python3/dist-packages dir"),
		},
		{
			"shared build", Interpreter{Path: "/root/py/bin/python3.11", Prefix: "/root/py", Stdlib: "/root/py/lib/python3.11"},
			append(debian, "/root/py/bin/python3.11", "/root/py/lib/python3.11/os.py", "/root/py/lib/libpython3.11.so.1.0"),
			map[string]object{"/root/py/bin/python3.11": with(glibc, []string{"libpython3.11.so.1.0"}, "/root/py/lib")},
			append(debianAll, "/root/py/bin/python3.11 file", "/root/py/lib dir"),
		},
		{
			"prefix is a home; a module's library lies elsewhere", Interpreter{Path: "/home/x/bin/python3.11", Prefix: "/home/x", Stdlib: "/home/x/lib/python3.11"},
			append(debian, "/home/x/bin/python3.11", "/home/x/lib/python3.11/os.py", "/home/x/.ssh/id", "/home/x/lib/python3.11/lib-dynload/_ssl.so",
				"/opt/ssl/libssl.so.3->libssl.so.3.1", "/opt/ssl/libssl.so.3.1", "/opt/ssl/key", "/home/x/libcrypto.so.3"),
			map[string]object{"/home/x/bin/python3.11": glibc,
				"/home/x/lib/python3.11/lib-dynload/_ssl.so": {needed: []string{"libssl.so.3", "libgone.so"}, runpath: []string{"/opt/ssl"}},
				"/opt/ssl/libssl.so.3":                       {needed: []string{"libcrypto.so.3"}, runpath: []string{"/home/x"}}},
			append(debianAll, "/home/x/bin/python3.11 file", "/home/x/lib/python3.11 dir", "/opt/ssl/libssl.so.3 symlink",
				"/opt/ssl/libssl.so.3.1 file", "/home/x/libcrypto.so.3 file"),
		},
		{
			"arch", Interpreter{Path: "/usr/bin/python3.13", Prefix: "/usr", Stdlib: "/usr/lib/python3.13"},
			[]string{"/lib->usr/lib", "/lib64->usr/lib", "/usr/lib64->lib", "/usr/lib/ld-linux-x86-64.so.2", "/usr/lib/libc.so.6", "/usr/lib/python3.13/os.py", "/usr/bin/python3.13"},
			map[string]object{"/usr/bin/python3.13": glibc},
			[]string{"/lib64 symlink", "/usr/bin/python3.13 file", "/usr/lib dir", "/usr/lib64 symlink"},
		},
		{
			"alpine", Interpreter{Path: "/usr/bin/python3.12", Prefix: "/usr", Stdlib: "/usr/lib/python3.12"},
			[]string{"/lib/ld-musl-x86_64.so.1", "/lib/libc.musl-x86_64.so.1->ld-musl-x86_64.so.1", "/usr/lib/libpython3.12.so.1.0", "/usr/lib/python3.12/os.py", "/usr/bin/python3.12"},
			map[string]object{"/usr/bin/python3.12": {loader: "/lib/ld-musl-x86_64.so.1", needed: []string{"libpython3.12.so.1.0", "libc.musl-x86_64.so.1"}, triplet: x86}},
			[]string{"/lib dir", "/usr/bin/python3.12 file", "/usr/lib dir"},
		},
		{
			"musl on debian", Interpreter{Path: "/opt/p/bin/python3.11", Prefix: "/opt/p", Stdlib: "/opt/p/lib/python3.11"},
			[]string{"/lib->usr/lib", "/usr/lib/ld-musl-x86_64.so.1->x86_64-linux-musl/libc.so", "/usr/lib/x86_64-linux-musl/libc.so", "/usr/lib/libz.so.1",
				"/usr/lib/x86_64-linux-gnu/libc.so.6", "/opt/p/bin/python3.11", "/opt/p/lib/python3.11/os.py"},
			map[string]object{"/opt/p/bin/python3.11": {loader: "/lib/ld-musl-x86_64.so.1", needed: []string{"libz.so.1", "libc.so"}, triplet: x86}},
			[]string{"/lib symlink", "/opt/p/bin/python3.11 file", "/opt/p/lib/python3.11 dir", "/usr/lib/ld-musl-x86_64.so.1 symlink",
				"/usr/lib/libz.so.1 file", "/usr/lib/x86_64-linux-musl dir"},
		},
		{
			"fedora", Interpreter{Path: "/usr/bin/python3.12", Prefix: "/usr", Stdlib: "/usr/lib64/python3.12", SysPath: []string{"/usr/lib/python3.12/site-packages"}},
			[]string{"/lib64->usr/lib64", "/usr/lib64/ld-linux-x86-64.so.2", "/usr/lib64/libc.so.6", "/usr/lib64/python3.12/os.py", "/usr/bin/python3.12", "/usr/lib/python3.12/site-packages/pip.py"},
			map[string]object{"/usr/bin/python3.12": glibc},
			[]string{"/lib64 symlink", "/usr/bin/python3.12 file", "/usr/lib/python3.12/site-packages dir", "/usr/lib64 dir"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &planner{fsys: system(c.files...), readELF: func(name string) (object, error) {
				if o, ok := c.elf[name]; ok {
					return o, nil
				}
				return object{}, errors.New("no ELF file")
			}}
			mounts, err := p.plan(c.python)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range mounts {
				got = append(got, m.Path+" "+m.Kind.String())
			}
			slices.Sort(got)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error("want (-), got (+):\n", diff)
			}
		})
	}
	t.Run("missing library", func(t *testing.T) {
		p := &planner{fsys: system(append(debian, "/opt/p/bin/python3.11", "/opt/p/lib/python3.11/os.py")...),
			readELF: func(string) (object, error) { return with(glibc, []string{"libodd.so"}), nil }}
		_, err := p.plan(Interpreter{Path: "/opt/p/bin/python3.11", Prefix: "/opt/p", Stdlib: "/opt/p/lib/python3.11"})
		if run.ClassOf(err) != run.NotExecutable || !strings.Contains(err.Error(), "libodd.so") {
			t.Error(err)
		}
	})
}

// fold loses no path, leaves none inside another, and has a fixed order.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "lib", "lib64"})
		mounts := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Mount {
			return Mount{Path: "/" + path.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "path")...), Kind: rapid.SampledFrom([]MountKind{Dir, File}).Draw(t, "kind")}
		})).Draw(t, "mounts")
		got := fold(mounts)
		for _, m := range mounts {
			if !slices.ContainsFunc(got, func(g Mount) bool { return g.Path == m.Path || g.Kind == Dir && hostpath.Under(m.Path, g.Path) }) {
				t.Fatalf("%v is lost in %v", m, got)
			}
		}
		for i, a := range got {
			for j, b := range got {
				if i != j && (a.Path == b.Path || a.Kind == Dir && hostpath.Under(b.Path, a.Path)) {
					t.Fatalf("%v lies in %v", b, a)
				}
			}
		}
		slices.Reverse(mounts)
		if diff := cmp.Diff(got, fold(mounts)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestParse(t *testing.T) {
	for name, want := range map[string]binaryName{
		"python": {3, -1, ""}, "python3": {3, -1, ""}, "python3.11": {3, 11, ""}, "python3.13t": {3, 13, "t"},
		"python3.12d": {3, 12, ""}, "python2.7": {2, 7, ""}, "python2": {2, -1, ""},
	} {
		if got, ok := parseName(name); !ok || got != want {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "pypy3", "python3-config", "python3.x", "python3.11-config", "python3.", "python-3", "pythonw"} {
		if got, ok := parseName(name); ok {
			t.Errorf("%q was read as %v", name, got)
		}
	}
	if v := parseVenv("# x\nhome=/a = b \r\nnonsense\n"); v.home != "/a = b" || !v.system {
		t.Errorf("got %+v", v)
	}
	got := parseVersionFile("\n# no\n 3.11.7 x\r\n../up\n/abs\nenvs/../../x\n3.12/envs/mine\n.")
	if diff := cmp.Diff([]string{"3.11.7", "3.12/envs/mine"}, got); diff != "" {
		t.Error(diff)
	}
	if got := expandRunpath([]string{"$ORIGIN/../lib:${ORIGIN}:.::/x"}, "/o/bin"); !slices.Equal(got, []string{"/o/lib", "/o/bin", "/x"}) {
		t.Error(got)
	}
	if _, _, err := resolve(system("/a->b", "/b->/a/"), "/a"); !errors.Is(err, hostpath.ErrLoop) {
		t.Error(err)
	}
}

// TestCache parses an index made by hand, and any part of it without a panic.
func TestCache(t *testing.T) {
	u32 := binary.NativeEndian.AppendUint32
	data := u32([]byte(cacheMark), 1)
	data = append(data, make([]byte, cacheHeader-len(data))...)
	data = u32(u32(u32(data, 3), 72), 80)
	data = append(data, make([]byte, 12)...)
	data = append(data, "liba.so\x00/x/liba.so\x00"...)
	if got := parseCache(append([]byte("older table"), data...)); got["liba.so"] != "/x/liba.so" {
		t.Errorf("got %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		part := slices.Clone(data[:rapid.IntRange(0, len(data)).Draw(t, "length")])
		if len(part) > 20 {
			part[rapid.IntRange(20, len(part)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		parseCache(part)
	})
}
