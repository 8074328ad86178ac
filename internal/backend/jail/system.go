package jail

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	confine "github.com/cordon-sandbox/cordon/internal/jail"
)

// systemFolders are where a distribution keeps its programs. On most, all but
// the first are symlinks into it.
var systemFolders = []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

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
func SystemPaths() []string { return slices.Concat(systemFolders, systemFiles) }

// toldOfOthers are the files of a new /proc that no namespace keeps to itself: keys
// are a user's, and the guest is a user of the host, too. Their names are names of
// accounts, hosts and mounts. Other files of the kind are for root alone, or say
// what every process of a host may know.
var toldOfOthers = []string{"/proc/keys", "/proc/key-users"}

// hiddenFiles lists those of them that this kernel has.
func hiddenFiles() []string {
	return slices.DeleteFunc(slices.Clone(toldOfOthers), func(path string) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
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
