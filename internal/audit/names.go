package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	seqDigits  = 12
	headSuffix = ".head"
	lockSuffix = ".lock"
	tornSuffix = ".torn"
)

// DefaultPath returns the path of the log if none is given: in the system's log directory
// for root, and in the user's state directory for others.
func DefaultPath() (string, error) {
	if os.Geteuid() == 0 {
		return "/var/log/cordon/audit.jsonl", nil
	}
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "cordon", "audit.jsonl"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no directory for the audit log: %w", err)
	}
	return filepath.Join(home, ".local", "state", "cordon", "audit.jsonl"), nil
}

// rotated is a file of the log that is full.
type rotated struct {
	path  string
	first uint64 // the seq of its first line
}

func rotatedName(path string, first uint64) string {
	return fmt.Sprintf("%s.%0*d", path, seqDigits, first)
}

// listRotated returns the rotated files of a log, the oldest first.
func listRotated(path string) ([]rotated, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []rotated
	for _, e := range entries {
		digits, ours := strings.CutPrefix(e.Name(), filepath.Base(path)+".")
		if !ours || len(digits) < seqDigits || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		first, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			continue
		}
		all = append(all, rotated{filepath.Join(filepath.Dir(path), e.Name()), first})
	}
	slices.SortFunc(all, func(a, b rotated) int {
		return cmp.Or(cmp.Compare(a.first, b.first), strings.Compare(a.path, b.path))
	})
	return all, nil
}
