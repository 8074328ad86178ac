package containtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// makeFiles creates one file of each kind.
const makeFiles = `echo text > f && mkdir d && echo text > d/g && ln -s f l && ln f h && mkfifo p && held`

// ownerAttempts are about the files that a command leaves on the host, and their owners.
func ownerAttempts() []attempt {
	return inWall("owners", append(setidAttempts(), []attempt{
		{name: "files belong to the caller", sh: makeFiles, touched: ownedBy(os.Geteuid(), os.Getegid()), proof: proof{naked: true, root: true, uid: 54321}},
		{name: "files belong to the workspace's owner", sh: makeFiles, root: true, touched: ownedBy(1234, 1235),
			plant: func(t *testing.T, s *scene) {
				if err := os.Chown(s.workspace, 1234, 1235); err != nil {
					t.Fatal(err)
				}
			}, proof: naked},
		{name: "files in a write grant belong to its owner", sh: `cd "$out" && ` + makeFiles, touched: grantOwned,
			plant: func(t *testing.T, s *scene) {
				out := filepath.Join(s.directory, "out")
				if err := os.Mkdir(out, 0o755); err != nil {
					t.Fatal(err)
				}
				s.params["out"] = out
				s.grant(func(p *policy.Policy) { p.Write = append(p.Write, out) })
			}, proof: proof{naked: true, none: "what it shows is that it can be done; the owner is shown by the others"}},
		{name: "set-user-id by chmod", sh: `cp /bin/true x; chmod 4755 x; chmod 6755 x; held`, touched: privilegedFiles, proof: naked},
		{name: "set-group-id by chmod", sh: `cp /bin/true x; chmod 2755 x; held`, touched: privilegedFiles, proof: naked},
		{name: "set-user-id by install", sh: `install -m 4755 /bin/true x; held`, touched: privilegedFiles, proof: naked},
		{name: "file with capabilities", act: "set capability", touched: privilegedFiles, proof: nakedRoot},
		{name: "chown to another user", sh: `touch x; must_fail chown 0:0 x; must_fail chown 4321 x; must_fail chgrp 4321 x; held`, proof: nakedRoot},
		{name: "trusted attribute", act: "trusted attribute", proof: nakedRoot},
		{name: "immutable file", act: "immutable", proof: proof{naked: true, root: true, skipReason: "the file system has no immutable flag"}},
		{name: "lease on a file of the host", act: "lease", proof: naked},
		{name: "mode and times of a file of the host", plant: plantHostFile, touched: hostFileChanged, proof: naked, sh: `
ln -s "$beside" l
for f in "$beside" l "../$(basename "$(dirname "$beside")")/$(basename "$beside")" /proc/self/root"$beside" /proc/self/cwd/l; do
	chmod 777 "$f"; touch -d 2001-01-01 "$f"; chgrp "$(id -g)" "$f"
done 2>/dev/null; held`},
		{name: "mode and times of a file of the host, by descriptors", act: "change by descriptor", plant: plantHostFile, touched: hostFileChanged, proof: naked},
		{name: "mode of a file of the host, exchanged during the call", act: "exchange path", plant: plantHostFile, touched: hostFileChanged, proof: naked},
	}...))
}

// plantHostFile creates a file of the host next to the workspace, and records its state.
func plantHostFile(t *testing.T, s *scene) {
	t.Helper()
	s.params["beside"] = s.write(t, "beside/file", "data", 0o600)
	s.write(t, filepath.Join(s.workspace, "mine"), "data", 0o600)
	s.before = tree(t, filepath.Join(s.directory, "beside"))
}

func hostFileChanged(t *testing.T, s *scene, _ run.Result) string {
	t.Helper()
	if now := tree(t, filepath.Join(s.directory, "beside")); now != s.before {
		return "it was changed:\n" + s.before + "became\n" + now
	}
	return ""
}

// changeByDescriptor changes a file of the host through descriptors without any rights.
func changeByDescriptor(p params) error {
	path := p.text("beside")
	directory, err := unix.Open(filepath.Dir(path), unix.O_PATH, 0)
	if err != nil {
		return errors.New("it does not exist")
	}
	file, err := unix.Open(path, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("/proc/self/fd/%d", file)
	return anyOf(map[string]error{
		"fchmodat":       unix.Fchmodat(directory, filepath.Base(path), 0o777, 0),
		"fchmod":         unix.Fchmod(file, 0o777),
		"chmod by link":  unix.Chmod(name, 0o777),
		"utimes by link": unix.Utimes(name, []unix.Timeval{{}, {}}),
		"utimensat":      unix.UtimesNanoAt(directory, filepath.Base(path), []unix.Timespec{{}, {}}, 0),
	})
}

// exchangePath changes the path while the call that has it is made. It first calls with a path
// that is allowed.
func exchangePath(p params) error {
	mine, host := []byte(p.text("workspace")+"/mine\x00"), []byte(p.text("beside")+"\x00")
	buffer := make([]byte, max(len(mine), len(host)))
	until := time.Now().Add(300 * time.Millisecond)
	go func() {
		for time.Now().Before(until) {
			copy(buffer, host)
			copy(buffer, mine)
		}
	}()
	for time.Now().Before(until) {
		changeMode(buffer, 0o777)
	}
	return errors.New("the host looks at the file")
}

func ownedBy(uid, gid int) func(*testing.T, *scene, run.Result) string {
	return func(t *testing.T, s *scene, _ run.Result) string { return wrongOwners(t, s.workspace, uid, gid) }
}

func grantOwned(t *testing.T, s *scene, _ run.Result) string {
	return wrongOwners(t, s.params["out"].(string), os.Geteuid(), os.Getegid())
}

func wrongOwners(t *testing.T, directory string, uid, gid int) string {
	t.Helper()
	var others []string
	found := 0
	err := filepath.WalkDir(directory, func(path string, _ fs.DirEntry, err error) error {
		var stat unix.Stat_t
		if err := errors.Join(err, unix.Lstat(path, &stat)); err != nil {
			return err
		}
		found++
		if int(stat.Uid) != uid || int(stat.Gid) != gid {
			others = append(others, fmt.Sprintf("%s belongs to %d:%d", path, stat.Uid, stat.Gid))
		}
		return nil
	})
	if err != nil || found < 6 {
		t.Errorf("%d files in %s: %v", found, directory, err)
	}
	return strings.Join(others, "; ")
}

// privilegedFiles returns files that run as the caller, possibly root, when another user
// executes them on the host. An empty file executes nothing yet, but keeps the bits when root
// copies a program into it.
func privilegedFiles(t *testing.T, s *scene, _ run.Result) string {
	var found []string
	err := filepath.WalkDir(s.workspace, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 && info.Mode().IsRegular() {
			found = append(found, path+" is "+info.Mode().String())
		}
		if n, err := unix.Lgetxattr(path, "security.capability", make([]byte, 64)); err == nil && n > 0 {
			found = append(found, path+" has capabilities")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(found, "; ")
}

var ownerActs = map[string]act{
	"create set-user-id file": createSetid,
	"overwrite file":          func(p params) error { return overwrite(p.path()) },
	"set capability": func(params) error {
		return errors.Join(os.WriteFile("x", []byte("x"), 0o755), unix.Setxattr("x", "security.capability", netRawCapability, 0))
	},
	"trusted attribute": func(params) error {
		return errors.Join(os.WriteFile("x", []byte("x"), 0o755), unix.Setxattr("x", "trusted.overlay.opaque", []byte("y"), 0))
	},
	"immutable":            immutable,
	"change by descriptor": changeByDescriptor,
	"exchange path":        exchangePath,
	"lease": func(params) error {
		file, err := os.Create("leased")
		if err != nil {
			return broken("%v", err)
		}
		_, err = unix.FcntlInt(file.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
		return err
	},
	"execute": func(p params) error {
		cmd := exec.Command(p.path())
		cmd.Env = []string{actVariable + "=privileged", paramsVariable + "={}"}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return broken("%v", err)
		}
		return errQuiet
	},
	"privileged": privileged,
	"mknod": func(p params) error {
		_, withIgnoredBits := callAt(unix.SYS_MKNODAT, "ignored", unix.S_IFCHR|0o666|ignoredBits, uintptr(unix.Mkdev(1, 1)))
		return anyOf(map[string]error{
			"memory":            unix.Mknod("mem", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 1))),
			"disk":              unix.Mknod("disk", unix.S_IFBLK|0o666, int(unix.Mkdev(254, 0))),
			"in /tmp":           unix.Mknod("/tmp/null", unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))),
			"with ignored bits": withIgnoredBits,
		})
	},
	"whiteout": func(params) error { return unix.Mknod("whiteout", unix.S_IFCHR|0o666, 0) },
}

// netRawCapability is struct vfs_cap_data: cap_net_raw, permitted and effective.
var netRawCapability = []byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

func immutable(params) error {
	file, err := os.Create("immutable")
	if err != nil {
		return broken("%v", err)
	}
	defer file.Close()
	const immutableFlag = 0x10
	if err := unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, immutableFlag); err != nil {
		return err
	}
	return unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, 0)
}

// privileged reports whether executing the file changed the user.
func privileged(params) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return broken("%v", err)
	}
	caps := ""
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "CapEff:\t"); ok {
			caps = strings.TrimSpace(value)
		}
	}
	if os.Geteuid() != os.Getuid() || os.Getegid() != os.Getgid() || strings.Trim(caps, "0") != "" {
		fmt.Println("uid", os.Getuid(), "euid", os.Geteuid(), "capabilities", caps)
		return nil
	}
	return fmt.Errorf("uid %d, euid %d, capabilities %s", os.Getuid(), os.Geteuid(), caps)
}

// deviceAttempts are about device files.
func deviceAttempts() []attempt {
	const somebody = 54321
	return inWall("devices", []attempt{
		{name: "make a device", act: "mknod", proof: nakedRoot},
		{name: "make a whiteout", act: "whiteout", proof: proof{naked: true, skipReason: "kernels before 5.8 refuse it to all users"}},
		{name: "device in the workspace", root: true, act: "open to write", params: map[string]any{"path": "null"},
			plant: func(t *testing.T, s *scene) {
				name := filepath.Join(s.workspace, "null")
				if err := errors.Join(unix.Mknod(name, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))), os.Chmod(name, 0o666)); err != nil {
					t.Fatal(err)
				}
			}, proof: naked},
		{name: "set-user-id program in the workspace", root: true, act: "execute", params: map[string]any{"path": "./program"},
			plant: plantProgram(func(name string) error { return syscall.Chmod(name, 0o4755) }), proof: proof{naked: true, uid: somebody}},
		{name: "set-group-id program in the workspace", root: true, act: "execute", params: map[string]any{"path": "./program"},
			plant: plantProgram(func(name string) error { return syscall.Chmod(name, 0o2755) }), proof: proof{naked: true, uid: somebody}},
		{name: "program with capabilities in the workspace", root: true, act: "execute", params: map[string]any{"path": "./program"},
			plant: plantProgram(func(name string) error { return unix.Setxattr(name, "security.capability", netRawCapability, 0) }),
			proof: proof{naked: true, uid: somebody}},
		{name: "system's own set-user-id programs", root: true, sh: `
for p in /usr/bin/su /usr/bin/passwd /usr/bin/mount /usr/bin/newgrp; do test -u $p || continue; cp $p ./suid 2>&-; done
test "$(awk '/^NoNewPrivs/ {print $2}' /proc/self/status)" = 1 || escaped
awk '$5 == "/usr" && $6 !~ /nosuid/ {exit 1}' /proc/self/mountinfo || escaped; held`, proof: naked},
		{name: "capabilities of its own", sh: `grep -E '^Cap(Eff|Prm|Bnd|Inh|Amb)' /proc/self/status | grep -qv 0000000000000000 && escaped; held`, proof: naked},
	})
}

// plantProgram puts a program that root owns into a workspace that root owns.
func plantProgram(mark func(name string) error) func(*testing.T, *scene) {
	return func(t *testing.T, s *scene) {
		name := filepath.Join(s.workspace, "program")
		copyProgram(t, name)
		if err := mark(name); err != nil {
			t.Fatal(err)
		}
	}
}
