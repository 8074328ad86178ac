package containtest

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// changes are operations that change a directory with a file f, a directory d and a link l.
var changes = map[string]func() error{
	"write":    func() error { return os.WriteFile("f", []byte("owned"), 0o644) },
	"append":   func() error { return appendTo("f") },
	"create":   func() error { return os.WriteFile("new", nil, 0o644) },
	"truncate": func() error { return os.Truncate("f", 0) },
	"chmod":    func() error { return os.Chmod("f", 0o777) },
	"chmod of the directory": func() error {
		return os.Chmod(".", 0o777)
	},
	"times": func() error { return os.Chtimes("f", time.Unix(1, 0), time.Unix(1, 0)) },
	"chown": func() error { return os.Chown("f", os.Getuid(), os.Getgid()) },
	"set an attribute": func() error {
		return unix.Setxattr("f", "user.owned", []byte("x"), 0)
	},
	"remove an attribute": func() error { return unix.Removexattr("f", "user.kept") },
	"map":                 mapShared,
	"rename":              func() error { return os.Rename("f", "g") },
	"exchange":            func() error { return unix.Renameat2(unix.AT_FDCWD, "f", unix.AT_FDCWD, "d", unix.RENAME_EXCHANGE) },
	"unlink":              func() error { return os.Remove("f") },
	"remove a directory":  func() error { return os.Remove("d") },
	"make a directory":    func() error { return os.Mkdir("new", 0o755) },
	"hard link":           func() error { return os.Link("f", "g") },
	"symlink":             func() error { return os.Symlink("f", "g") },
	"make a FIFO":         func() error { return unix.Mkfifo("g", 0o644) },
	"unnamed file": func() error {
		fd, err := unix.Open(".", unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	},
	"through /proc/self/fd": func() error {
		file, err := os.Open("f")
		if err != nil {
			return broken("%v", err)
		}
		defer file.Close()
		return appendTo("/proc/self/fd/" + itoa(int(file.Fd())))
	},
}

func appendTo(name string) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString("more")
	return errors.Join(err, file.Close())
}

// mapShared writes to a file through a shared mapping.
func mapShared() error {
	file, err := os.OpenFile("f", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	memory, err := unix.Mmap(int(file.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	memory[0] = 'X'
	return errors.Join(unix.Msync(memory, unix.MS_SYNC), unix.Munmap(memory))
}

var readOnlyActs = map[string]act{
	"change": func(p params) error {
		if err := os.Chdir(p.text("target")); err != nil {
			return broken("%v", err)
		}
		if _, err := os.ReadFile("f"); err != nil {
			return broken("it cannot even be read: %v", err)
		}
		return changes[p.text("change")]()
	},
}

// readOnlyAttempts try every change to read-only files.
func readOnlyAttempts() (all []attempt) {
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		at := map[string]any{"change": name}
		all = append(all,
			attempt{
				wall: "read-only workspace", name: name, act: "change", params: at, touched: targetTouched,
				plant: func(t *testing.T, s *scene) {
					s.request.Command.WorkspaceReadOnly = true
					plantTarget(t, s, s.workspace)
				},
				proof: proof{relaxed: func(s *scene) { s.request.Command.WorkspaceReadOnly = false }},
			},
			attempt{
				wall: "read grant", name: name, act: "change", params: at, touched: targetTouched,
				plant: func(t *testing.T, s *scene) {
					directory := filepath.Join(s.directory, "granted")
					plantTarget(t, s, directory)
					s.grant(func(p *policy.Policy) { p.Read = append(p.Read, directory) })
				},
				proof: proof{relaxed: func(s *scene) {
					s.grant(func(p *policy.Policy) { p.Read, p.Write = p.Read[:len(p.Read)-1], p.Read[len(p.Read)-1:] })
				}},
			},
		)
	}
	return append(all, attempt{
		wall: "read grant", name: "a single file", act: "overwrite file", touched: targetTouched,
		params: map[string]any{"key": "single"},
		plant: func(t *testing.T, s *scene) {
			plantTarget(t, s, filepath.Join(s.directory, "granted"))
			s.params["single"] = filepath.Join(s.directory, "granted", "f")
			s.grant(func(p *policy.Policy) { p.Read = append(p.Read, s.params["single"].(string)) })
		},
		proof: proof{relaxed: func(s *scene) {
			s.grant(func(p *policy.Policy) { p.Read, p.Write = p.Read[:len(p.Read)-1], p.Read[len(p.Read)-1:] })
		}},
	}, attempt{
		wall: "read grant", name: "below a writable workspace", act: "change", params: map[string]any{"change": "write"}, touched: targetTouched,
		plant: func(t *testing.T, s *scene) {
			directory := filepath.Join(s.workspace, "vendor")
			plantTarget(t, s, directory)
			s.grant(func(p *policy.Policy) { p.Read = append(p.Read, directory) })
		},
		proof: proof{relaxed: func(s *scene) { s.policy.Read = s.policy.Read[:1] }},
	})
}

func plantTarget(t *testing.T, s *scene, directory string) {
	s.write(t, filepath.Join(directory, "f"), "data", 0o666)
	err := errors.Join(
		os.Mkdir(filepath.Join(directory, "d"), 0o777), os.Symlink("f", filepath.Join(directory, "l")),
		unix.Setxattr(filepath.Join(directory, "f"), "user.kept", []byte("x"), 0), os.Chmod(directory, 0o777),
	)
	if err != nil {
		t.Fatal(err)
	}
	s.params["target"], s.before = directory, tree(t, directory)
}

func targetTouched(t *testing.T, s *scene, _ run.Result) string {
	if after := tree(t, s.params["target"].(string)); after != s.before {
		return "it was changed:\n" + s.before + "became\n" + after
	}
	return ""
}
