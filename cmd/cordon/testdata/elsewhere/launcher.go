// This file stands instead of internal/launch/new_other.go when elsewhere_linux_test.go
// builds a cordon without Linux's tiers: a launcher as macOS's, but without walls.

package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

type wallless struct{}

// New gives a launcher that claims walls and has none.
func New() (Launcher, error) { return wallless{}, nil }

func (wallless) Walls(a Access) (map[policy.Wall]policy.WallStatus, error) {
	return seatbeltWalls(a), nil
}

func (wallless) ChannelName(channel *os.File) string { return ChannelName(channel) }

func (wallless) System() System {
	return System{Directories: []string{"/usr", "/bin", "/lib", "/lib64"}, Path: []string{"/usr/bin", "/bin"}}
}

func (wallless) Start(o Order) (Process, error) {
	return startGroup(o, procFS{}, append([]string{o.Program}, o.Args[1:]...)...)
}

type procFS struct{}

func fieldsOf(name string) []string {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

func (procFS) list() (all []member, err error) {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		f := fieldsOf(name)
		if f == nil || f[0] == "Z" {
			continue
		}
		m := member{}
		m.PID, _ = strconv.Atoi(filepath.Base(filepath.Dir(name)))
		m.Parent, _ = strconv.Atoi(f[1])
		m.Group, _ = strconv.Atoi(f[2])
		m.Started, _ = strconv.ParseInt(f[19], 10, 64)
		all = append(all, m)
	}
	return all, err
}

func (procFS) used(pid int) (u used, ok bool) {
	f := fieldsOf("/proc/" + strconv.Itoa(pid) + "/stat")
	if f == nil {
		return u, false
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	pages, _ := strconv.Atoi(f[21])
	return used{time.Duration(user+system) * 10 * time.Millisecond, policy.Bytes(pages * os.Getpagesize())}, true
}
