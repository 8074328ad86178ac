package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/policy"
)

// GrantsOf returns the grants of a policy with their paths in the guest: the same path, and
// for paths below the current directory also the relative one. A guest has no current
// directory, and its libraries look for "data" in "/data".
func GrantsOf(p policy.Policy) []rootfs.Grant {
	var grants []rootfs.Grant
	add := func(paths []string, write bool) {
		for _, path := range paths {
			grants = append(grants, rootfs.Grant{Host: path, Guest: guestPath(path), Write: write})
		}
	}
	add(p.Read, false)
	add(p.Write, true)
	here, err := os.Getwd()
	if err != nil {
		return grants
	}
	for _, g := range slices.Clone(grants) {
		relative, err := filepath.Rel(here, g.Host)
		if err != nil || !filepath.IsLocal(relative) || relative == "." {
			continue
		}
		g.Guest = "/" + filepath.ToSlash(relative)
		taken := func(other rootfs.Grant) bool { return other.Guest == g.Guest && other.Host != g.Host }
		if !slices.ContainsFunc(grants, taken) {
			grants = append(grants, g)
		}
	}
	return grants
}

// guestPath returns a path for WASI: C:\data is /C/data.
func guestPath(path string) string {
	volume := filepath.VolumeName(path)
	path = filepath.ToSlash(strings.TrimPrefix(path, volume))
	if drive := strings.TrimSuffix(volume, ":"); drive != "" {
		path = "/" + strings.Trim(filepath.ToSlash(drive), "/") + path
	}
	return path
}
