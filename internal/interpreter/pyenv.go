package interpreter

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A pyenv shim is a bash script that runs more bash: tens of milliseconds to
// learn what three small files say. We read the files.

var (
	errNotPyenv    = errors.New("not a pyenv shim")
	errPyenvSystem = errors.New("pyenv is set to \"system\"")
	errPyenvNone   = errors.New("pyenv's chosen version is not installed")
)

// pyenvRoot tells whether a script is a pyenv shim, and of which pyenv. The
// shim carries its root and ignores the environment's; so do we.
func pyenvRoot(shim string, script []byte) (string, bool) {
	if path.Base(path.Dir(shim)) != "shims" || !bytes.Contains(script, []byte("pyenv")) {
		return "", false
	}
	for line := range strings.Lines(string(script)) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "export PYENV_ROOT="); ok {
			if value = strings.Trim(value, `"'`); path.IsAbs(value) {
				return path.Clean(value), true
			}
		}
	}
	return path.Dir(path.Dir(shim)), true
}

// parseVersionFile reads a .python-version: the first word of each line, with
// comments and empty lines skipped.
func parseVersionFile(text string) []string {
	var versions []string
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		versions = appendVersion(versions, words[0])
	}
	return versions
}

// parseVersionList reads PYENV_VERSION.
func parseVersionList(text string) []string {
	var versions []string
	for v := range strings.SplitSeq(text, ":") {
		versions = appendVersion(versions, strings.TrimSpace(v))
	}
	return versions
}

// appendVersion drops what is not a path below versions/: a .python-version
// comes with any checkout, and must not point at a binary in that checkout
// (CVE-2022-35861 was this in pyenv itself).
func appendVersion(versions []string, v string) []string {
	if v == "." || !fs.ValidPath(v) {
		return versions
	}
	return append(versions, v)
}

// pyenvVersions is what pyenv would use in this folder and environment.
func (h *host) pyenvVersions(root string) []string {
	if v := parseVersionList(h.getenv("PYENV_VERSION")); len(v) > 0 {
		return v
	}
	for _, start := range []string{h.getenv("PYENV_DIR"), h.cwd} {
		if !path.IsAbs(start) {
			continue
		}
		for dir := path.Clean(start); ; dir = path.Dir(dir) {
			if text, err := readHead(h.fsys, path.Join(dir, ".python-version"), 64<<10); err == nil {
				if v := parseVersionFile(string(text)); len(v) > 0 {
					return v
				}
				return []string{"system"} // pyenv stops at an empty file, too
			}
			if dir == "/" {
				break
			}
		}
	}
	text, err := readHead(h.fsys, path.Join(root, "version"), 64<<10)
	if v := parseVersionFile(string(text)); err == nil && len(v) > 0 {
		return v
	}
	return []string{"system"}
}

// pyenvTarget gives the binary that a pyenv shim would run for program.
func (h *host) pyenvTarget(shim, program string, script []byte) (string, error) {
	root, ok := pyenvRoot(shim, script)
	if !ok {
		return "", errNotPyenv
	}
	for _, v := range h.pyenvVersions(root) {
		if v == "system" {
			return "", errPyenvSystem
		}
		for _, dir := range installed(h.fsys, path.Join(root, "versions"), v) {
			if bin := path.Join(dir, "bin", program); isExecutable(h.fsys, bin) {
				return bin, nil
			}
		}
	}
	return "", errPyenvNone
}

// installed gives the folder of a version: by its name, or, for "3.11", the
// newest 3.11.N.
func installed(fsys fs.FS, versions, v string) []string {
	for _, name := range []string{v, strings.TrimPrefix(v, "python-")} {
		if dir := path.Join(versions, name); isDir(fsys, dir) {
			return []string{dir}
		}
	}
	real, _, err := resolve(fsys, versions)
	if err != nil {
		return nil
	}
	entries, _ := fs.ReadDir(fsys, inFS(real))
	best, dir := -1, ""
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), strings.TrimPrefix(v, "python-")+".")
		if !ok {
			continue
		}
		if n, ok := patchNumber(rest); ok && n > best {
			best, dir = n, path.Join(versions, e.Name())
		}
	}
	if dir == "" {
		return nil
	}
	return []string{dir}
}

// patchNumber orders "7" (of 3.11) and "11.7" (of 3); releases only, since
// pyenv does not take 3.13-dev for 3.13 either.
func patchNumber(text string) (int, bool) {
	parts := strings.Split(text, ".")
	if len(parts) > 2 {
		return 0, false
	}
	slices.Reverse(parts)
	n, weight := 0, 1
	for _, part := range parts {
		v, err := strconv.ParseUint(part, 10, 9)
		if err != nil {
			return 0, false
		}
		n += int(v) * weight
		weight *= 1000
	}
	return n, true
}
