// Package hostfeature reports what a host can enforce, from checks that cost next to
// nothing. It does not decide what to do about it.
package hostfeature

import (
	"fmt"
	"os"
)

// Support says whether a feature exists, with messages for users.
type Support struct {
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
	// Reason and Remedy say why it is missing and what would help.
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Yes is a feature that exists.
func Yes(detail string) Support { return Support{OK: true, Detail: detail} }

// No is a feature that is missing.
func No(reason, remedy string) Support { return Support{Reason: reason, Remedy: remedy} }

// Features are the features of a host that jails use.
type Features struct {
	Kernel   string
	UID, GID int
	// SetUID means that the process may change to another user.
	SetUID Support
	// SetCPUs means that the process may choose the CPUs of other users' processes.
	SetCPUs Support
	// UserNS means user namespaces, and all others with them.
	UserNS Support
	// Landlock, with its ABI.
	Landlock    Support
	LandlockABI int
	// Seccomp filters, and denials that are reported to the Runner.
	Seccomp, SeccompNotify Support
	// Cgroup means that a memory cgroup can be made.
	Cgroup Support
	// PlainFiles are the granted paths that are not directories.
	PlainFiles []string
}

// Grant checks the paths that a policy grants: a plain file has other rights than a
// directory.
func (f *Features) Grant(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("the policy grants %s, which cannot be used: %w", path, err)
		}
		if !info.IsDir() {
			f.PlainFiles = append(f.PlainFiles, path)
		}
	}
	return nil
}
