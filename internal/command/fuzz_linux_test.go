package command

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// For any input: no panic, an error has one of the package's classes, a refusal has its
// rule, and the path is canonical.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"ls\n-l", "env\n-S\nsh -c x", "find\n.\n-exec\nsh\n;", "xargs\n-I{}\n{}", "cat\n../x", "cat\nfile:///etc/passwd", "cat\n~root/x", "timeout\n-k\n5", "env\n-S\n'", "env\n--split-string",
		"./script", "/", ".", "..", "../..", "/usr/bin/../../etc", "cat\n@@@=:,:=//~", "nice\n-", "env\n-", "flock\n-c", "/proc/self/exe", "tar\n-xvf/etc/x", "ls\ns/../../g", "cat\n-Wl,-rpath,/etc", "busybox\nsh", "env\n-uS", "chroot\n--", "unshare\n--=",
	} {
		f.Add(seed, false)
	}
	f.Add("sh\n-c\nx", true)
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, line string, allow bool) {
		v, err := Check(strings.Split(line, "\n"), Scope{
			Workspace: root, Dir: root, System: []string{"/usr", "/bin", "/lib", "/lib64"}, Scratch: "/tmp", Path: []string{"/usr/bin", "/bin"}, AllowInterpreters: allow,
		})
		if err != nil {
			switch run.ClassOf(err) {
			case run.Invalid, run.NotFound, run.NotExecutable:
			default:
				t.Errorf("%q: %v is %s", line, err, run.ClassOf(err))
			}
			return
		}
		if !path.IsAbs(v.Path) || path.Clean(v.Path) != v.Path {
			t.Errorf("%q: path %q", line, v.Path)
		}
		for _, r := range v.Refusals {
			if r.Wall != policy.WallCommand || r.Op != rulePath && (r.Op != ruleInterpreter || allow) || r.Detail == "" || r.Hint == "" || r.Count < 1 || !utf8.ValidString(r.Detail+r.Hint) {
				t.Errorf("%q: %+v", line, r)
			}
		}
	})
}
