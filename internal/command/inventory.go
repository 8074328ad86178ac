package command

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The inventory knows the interpreters and the wrappers of this host by their
// files, so that a copy or a hard link of one is found under any name, also of
// those that have no signature. Files in the system's directories are not compared:
// no guest puts any there.

// usual directories are looked at besides those of the guest's PATH.
var usual = strings.Fields("/usr/local/bin /usr/bin /bin /usr/sbin")

// known is a file whose name tells what it is.
type known struct {
	path string
	info fs.FileInfo
	name string // its own, such as "env"
	kind kind   // empty for a wrapper
}

type inventory struct {
	stamps  []time.Time
	settled bool // whether any later change shows in the stamps
	bySize  map[int64][]known
}

// inventories are few: one for each PATH that guests are given.
var inventories struct {
	sync.Mutex
	all map[string]*inventory
}

const inventoriesMost = 8

// real directories, each once: /bin is most often /usr/bin.
func realDirectories(directories []string) (all []string) {
	for _, f := range slices.Concat(usual, directories) {
		if real, err := filepath.EvalSymlinks(f); err == nil && path.IsAbs(f) && !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// takeInventory gives that of the directories, new if one of them has changed.
func takeInventory(directories []string) *inventory {
	all := realDirectories(directories)
	var stamps []time.Time
	settled := true
	for _, f := range all {
		var stamp time.Time
		if info, err := os.Stat(f); err == nil {
			stamp = info.ModTime()
		}
		stamps = append(stamps, stamp)
		settled = settled && time.Since(stamp) > settleTime
	}
	key := strings.Join(all, "\x00")
	inventories.Lock()
	defer inventories.Unlock()
	if inv := inventories.all[key]; inv != nil && inv.settled && slices.EqualFunc(inv.stamps, stamps, time.Time.Equal) {
		return inv
	}
	if len(inventories.all) >= inventoriesMost || inventories.all == nil {
		inventories.all = map[string]*inventory{}
	}
	inv := &inventory{stamps, settled, map[int64][]known{}}
	for _, f := range all {
		inv.add(f)
	}
	inventories.all[key] = inv
	return inv
}

func (inv *inventory) add(directory string) {
	f, err := os.Open(directory)
	if err != nil {
		return // it is not there
	}
	defer f.Close()
	entries, err := f.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, entry := range entries {
		n, interpreter := nameOf(entry)
		_, wrapper := wrappers()[entry]
		if !interpreter && !wrapper {
			continue
		}
		full := path.Join(directory, entry)
		info, err := os.Stat(full)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		same := func(k known) bool { return os.SameFile(k.info, info) }
		size := info.Size()
		if slices.ContainsFunc(inv.bySize[size], same) {
			continue
		}
		if real, err := filepath.EvalSymlinks(full); err == nil {
			full = real
		}
		inv.bySize[size] = append(inv.bySize[size], known{full, info, entry, n.kind})
	}
}

// twin is the known file that another one is, or is a copy of.
type twin struct {
	known
	found, linked bool
}

func (t twin) clause() string {
	if t.linked {
		return "is the same file as " + show(t.path)
	}
	return "is a copy of " + show(t.path)
}

func (inv *inventory) twin(file string, info fs.FileInfo) twin {
	candidates := inv.bySize[info.Size()]
	for _, k := range candidates {
		if os.SameFile(k.info, info) {
			return twin{k, true, true}
		}
	}
	for _, k := range candidates {
		if sameContents(file, k.path) {
			return twin{k, true, false}
		}
	}
	return twin{}
}

func sameContents(a, b string) bool {
	x, err := os.Open(a)
	if err != nil {
		return false
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false
	}
	defer y.Close()
	// Small first: files that differ do so in their headers.
	size := 4 << 10
	for at := int64(0); ; {
		p, q := make([]byte, size), make([]byte, size)
		n, errX := x.ReadAt(p, at)
		m, errY := y.ReadAt(q, at)
		if n != m || !bytes.Equal(p[:n], q[:m]) {
			return false
		}
		if errors.Is(errX, io.EOF) || errors.Is(errY, io.EOF) {
			return errors.Is(errX, io.EOF) && errors.Is(errY, io.EOF)
		}
		if errX != nil || errY != nil {
			return false
		}
		at += int64(n)
		size = scanPart
	}
}
