package jail

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/confine"
)

// systemDirectories are where a distribution keeps its programs. On most, all but
// the first are symlinks into it.
var systemDirectories = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// systemFiles are what programs need of /etc: how to find libraries,
// alternatives, certificates and time zones, and names that are the same
// everywhere. None of them tells about users, keys or this host.
var systemFiles = []string{
	"/etc/alternatives",
	"/etc/ca-certificates", "/etc/ca-certificates.conf",
	"/etc/crypto-policies",
	"/etc/debian_version",
	"/etc/gai.conf",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
	"/etc/localtime",
	"/etc/magic", "/etc/magic.mime",
	"/etc/mime.types",
	"/etc/mke2fs.conf",
	"/etc/os-release",
	"/etc/perl",
	"/etc/pki/ca-trust", "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf",
	"/etc/protocols", "/etc/rpc", "/etc/services",
	"/etc/python3", "/etc/python3.9", "/etc/python3.10", "/etc/python3.11", "/etc/python3.12", "/etc/python3.13", "/etc/python3.14",
	"/etc/ssl/cert.pem", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
	"/etc/terminfo",
	"/etc/timezone",
}

// SystemPaths are all that a command sees of the host's system, where the host has
// it.
func SystemPaths() []string { return slices.Concat(systemDirectories, systemFiles) }

// shownOfProc are the files of a new /proc that a command sees, beside those of its own
// processes: what programs look for, of which the namespaces keep the rest of the host
// out, or which say what every process of a host may know. All others are covered, also
// those that only a later kernel has: they tell of keys, devices, modules, the kernel's
// command line and its configuration.
var shownOfProc = []string{
	"self", "thread-self", "mounts", "net", "sys", "sysvipc", // the command's own
	"cpuinfo", "loadavg", "meminfo", "stat", "swaps", "uptime", "version", "vmstat", "zoneinfo", "buddyinfo", "interrupts", "softirqs",
	"cgroups", "crypto", "devices", "execdomains", "filesystems", "locks", "misc",
}

// procMasks cover the others, and keep the kernel's settings from being changed: some
// are those of the command's own namespaces, and as such its own to change.
func procMasks() []confine.Mount {
	masks := []confine.Mount{{Path: "/proc/sys", Kind: confine.ReadOnlyDir}}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return masks // then there is no new one either
	}
	for _, entry := range entries {
		name := entry.Name()
		if name[0] >= '0' && name[0] <= '9' || slices.Contains(shownOfProc, name) {
			continue
		}
		mask := confine.Mount{Path: "/proc/" + name, Kind: confine.MaskedFile}
		switch info, err := entry.Info(); {
		case err != nil || entry.Type()&fs.ModeSymlink != 0:
			continue
		case entry.IsDir():
			mask.Kind = confine.MaskedDir
		case info.Mode().Perm()&0o006 == 0:
			continue // for the host's root alone
		}
		masks = append(masks, mask)
	}
	return masks
}

// systemMounts lists what a host has of them.
func systemMounts() ([]confine.Mount, error) {
	var mounts []confine.Mount
	for _, path := range SystemPaths() {
		m, err := mountOf(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

func mountOf(path string) (confine.Mount, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return confine.Mount{}, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		return confine.Mount{Path: path, Kind: confine.Symlink, Target: target}, err
	case info.IsDir():
		return confine.Mount{Path: path, Kind: confine.BindDir}, nil
	}
	if info.Mode().IsRegular() && info.Size() <= maxCopied {
		text, err := os.ReadFile(path)
		return confine.Mount{Path: path, Kind: confine.TextFile, Target: string(text)}, err
	}
	return confine.Mount{Path: path, Kind: confine.BindFile}, nil
}

// maxCopied is up to which size a file is copied: a mount costs more than to write
// some bytes.
const maxCopied = 16 << 10
