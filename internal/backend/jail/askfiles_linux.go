package jail

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/notify"
)

// change is a call that changes the mode, the owner or the times of a file, by the numbers of
// its arguments; none means that it has no such argument.
type change struct {
	directory, path int
	flags           int
	noFollow        bool
	apply           func(a *answers, q notify.Question, file int) error
}

const none = -1

// changes has the calls. Landlock does not check them, so the Runner makes them, on a file
// that it has opened and looked at.
var changes = map[string]change{
	"chmod":     {none, 0, none, false, applyMode(1)},
	"fchmod":    {0, none, none, false, applyMode(1)},
	"fchmodat":  {0, 1, none, false, applyMode(2)},
	"fchmodat2": {0, 1, 3, false, applyMode(2)},

	"chown":    {none, 0, none, false, applyOwner(1)},
	"lchown":   {none, 0, none, true, applyOwner(1)},
	"fchown":   {0, none, none, false, applyOwner(1)},
	"fchownat": {0, 1, 4, false, applyOwner(2)},

	"utime":     {none, 0, none, false, applyTimes(1, timeSeconds)},
	"utimes":    {none, 0, none, false, applyTimes(1, timeMicroseconds)},
	"futimesat": {0, 1, none, false, applyTimes(2, timeMicroseconds)},
	"utimensat": {0, 1, 3, false, applyTimes(2, timeNanoseconds)},
}

func (a *answers) changeFile(q notify.Question, call string, c change) {
	file, err := a.openFor(q, c)
	if err != nil {
		a.respond(q, err)
		return
	}
	defer unix.Close(file)
	path, allowed := a.mayChange(file)
	switch {
	case !q.Waits(a.fd): // what was opened may be another process's
	case !allowed:
		a.deny(q, unix.EPERM, fileViolation(call, path))
	default:
		a.respond(q, c.apply(a, q, file))
	}
}

// openFor opens the file of a call, without any right to it.
func (a *answers) openFor(q notify.Question, c change) (int, error) {
	name, flags := "", uint64(0)
	if c.path != none && q.Args[c.path] != 0 {
		var err error
		if name, err = q.Text(a.fd, q.Args[c.path]); err != nil {
			return -1, err
		}
	}
	if c.flags != none {
		flags = q.Args[c.flags]
	}
	// A missing name means the descriptor itself, for utimensat, fchmod and with a flag.
	itself := c.path == none || q.Args[c.path] == 0 || flags&unix.AT_EMPTY_PATH != 0
	if name == "" && !itself {
		return -1, unix.ENOENT
	}
	if number, ok := ownDescriptor(name); ok {
		return openOf(q, "fd/"+number)
	}
	directory := "cwd"
	if c.directory != none && int32(q.Args[c.directory]) != unix.AT_FDCWD {
		directory = "fd/" + strconv.Itoa(int(int32(q.Args[c.directory])))
	}
	if filepath.IsAbs(name) {
		directory = "root"
	}
	base, err := openOf(q, directory)
	if err != nil || name == "" {
		return base, err
	}
	defer unix.Close(base)
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if c.noFollow || flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		how.Flags |= unix.O_NOFOLLOW
	}
	return unix.Openat2(base, strings.TrimLeft(name, "/")+emptyName(name), &how)
}

// emptyName is the name of the root itself.
func emptyName(name string) string {
	if strings.TrimLeft(name, "/") == "" {
		return "."
	}
	return ""
}

// openOf opens a link in the directory of the waiting process below /proc.
func openOf(q notify.Question, link string) (int, error) {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/%s", q.PID, link), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT && strings.HasPrefix(link, "fd/") {
		return -1, unix.EBADF
	}
	return fd, err
}

// ownDescriptor recognizes the name that C libraries use for a descriptor of the caller. Here
// it would be one of ours.
func ownDescriptor(name string) (number string, ok bool) {
	for _, prefix := range []string{"/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/"} {
		if number, ok = strings.CutPrefix(name, prefix); ok {
			_, err := strconv.ParseUint(number, 10, 31)
			return number, err == nil
		}
	}
	return "", false
}

// mayChange reports whether a command may write a file: it is below a directory that it may
// write, or such a file itself. The kernel checks the owner, because this thread has the
// command's user.
func (a *answers) mayChange(file int) (path string, allowed bool) {
	path, err := linkOf(file)
	return path, err == nil && slices.ContainsFunc(a.guest.writable(), func(root string) bool {
		return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
	})
}

// linkOf is the path of an open file.
func linkOf(fd int) (string, error) {
	var link [unix.PathMax]byte
	n, err := unix.Readlink("/proc/self/fd/"+strconv.Itoa(fd), link[:])
	return string(link[:max(0, n)]), err
}

// writable lists what the command may write, without symlinks.
func (g *guest) writable() []string {
	roots := append([]string{g.sandbox.private.path}, g.backend.writable...)
	if g.recipe.workspace.path != "" && !g.recipe.readOnly {
		roots = append(roots, g.recipe.workspace.path)
	}
	return roots
}

func applyMode(arg int) func(*answers, notify.Question, int) error {
	return func(_ *answers, q notify.Question, file int) error {
		return unix.Fchmodat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(file), uint32(q.Args[arg]), 0)
	}
}

// applyOwner accepts only the owner that a file has: no other is possible.
func applyOwner(arg int) func(*answers, notify.Question, int) error {
	return func(_ *answers, q notify.Question, file int) error {
		var stat unix.Stat_t
		if err := unix.Fstat(file, &stat); err != nil {
			return err
		}
		uid, gid := uint32(q.Args[arg]), uint32(q.Args[arg+1])
		if uid != ^uint32(0) && uid != stat.Uid || gid != ^uint32(0) && gid != stat.Gid {
			return unix.EPERM
		}
		return nil
	}
}

// timeForm says how a call has its two times.
type timeForm int

const (
	timeSeconds      timeForm = iota // struct utimbuf
	timeMicroseconds                 // struct timeval[2]
	timeNanoseconds                  // struct timespec[2]
)

func applyTimes(arg int, form timeForm) func(*answers, notify.Question, int) error {
	return func(a *answers, q notify.Question, file int) error {
		times := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
		if q.Args[arg] != 0 {
			var err error
			if times, err = a.readTimes(q, q.Args[arg], form); err != nil {
				return err
			}
		}
		return unix.UtimesNanoAt(file, "", times, unix.AT_EMPTY_PATH)
	}
}

func (a *answers) readTimes(q notify.Question, at uint64, form timeForm) ([]unix.Timespec, error) {
	words := make([]uint64, 4)
	if form == timeSeconds {
		words = words[:2]
	}
	data := make([]byte, 8*len(words))
	if err := q.Memory(a.fd, at, data); err != nil {
		return nil, err
	}
	for i := range words {
		words[i] = binary.NativeEndian.Uint64(data[8*i:])
	}
	switch form {
	case timeSeconds:
		return []unix.Timespec{{Sec: int64(words[0])}, {Sec: int64(words[1])}}, nil
	case timeMicroseconds:
		if words[1] >= 1e6 || words[3] >= 1e6 {
			return nil, unix.EINVAL
		}
		words[1], words[3] = words[1]*1000, words[3]*1000
	}
	return []unix.Timespec{{Sec: int64(words[0]), Nsec: int64(words[1])}, {Sec: int64(words[2]), Nsec: int64(words[3])}}, nil
}
