package jail

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/confine"
)

// systemDirectories are the directories with a distribution's programs. On most
// distributions all but the first are symlinks into it.
var systemDirectories = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// systemFiles are the parts of /etc that programs need to find libraries, alternatives,
// certificates and time zones, and lists that are the same everywhere. None of them
// reveals users, keys or this host.
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

// SystemPaths lists what a command sees of the host's system, as far as it exists.
func SystemPaths() []string { return slices.Concat(systemDirectories, systemFiles) }

// visibleProcFiles are the files of /proc that a command sees besides its own processes.
// Programs look for them. Namespaces keep the rest of the host out of some, and the
// others show only what every process of a host may know. All other files are masked,
// including those that only a later kernel has: they reveal keys, devices, modules, the
// kernel's command line and its configuration.
var visibleProcFiles = []string{
	"self", "thread-self", "mounts", "net", "sys", "sysvipc", // show the command's own namespaces
	"cpuinfo", "loadavg", "meminfo", "stat", "swaps", "uptime", "version", "vmstat", "zoneinfo", "buddyinfo", "interrupts", "softirqs",
	"cgroups", "crypto", "devices", "execdomains", "filesystems", "locks", "misc",
}

// procMasks masks all other files of /proc, and makes the kernel's settings read-only:
// some belong to the command's own namespaces, so the command could change them.
func procMasks() []confine.Mount {
	masks := []confine.Mount{{Path: "/proc/sys", Kind: confine.ReadOnlyDir}}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return masks // without /proc here, none can be mounted in the sandbox
	}
	for _, entry := range entries {
		name := entry.Name()
		if name[0] >= '0' && name[0] <= '9' || slices.Contains(visibleProcFiles, name) {
			continue
		}
		mask := confine.Mount{Path: "/proc/" + name, Kind: confine.MaskedFile}
		switch info, err := entry.Info(); {
		case err != nil || entry.Type()&fs.ModeSymlink != 0:
			continue
		case entry.IsDir():
			mask.Kind = confine.MaskedDir
		case info.Mode().Perm()&0o006 == 0:
			continue // only the host's root can open it
		}
		masks = append(masks, mask)
	}
	return masks
}

// systemMounts lists the mounts for the system paths that exist on this host.
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

// maxCopied is the largest file that is copied. For a small file a copy costs less than
// a mount.
const maxCopied = 16 << 10
