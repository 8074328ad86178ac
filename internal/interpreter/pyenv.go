package interpreter

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// parseVersionFile parses a .python-version: the first word of each line, without comments
// and empty lines.
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

// parseVersionList parses PYENV_VERSION.
func parseVersionList(text string) []string {
	var versions []string
	for v := range strings.SplitSeq(text, ":") {
		versions = appendVersion(versions, strings.TrimSpace(v))
	}
	return versions
}

// appendVersion drops names that are not paths below versions/: any checkout can contain a
// .python-version, which must not select a binary in that checkout (CVE-2022-35861 was
// this bug in pyenv).
func appendVersion(versions []string, v string) []string {
	if v == "." || !fs.ValidPath(v) {
		return versions
	}
	return append(versions, v)
}

// pyenvVersions returns the versions that pyenv would use in this directory and
// environment.
func (h *host) pyenvVersions(root string) []string {
	if v := parseVersionList(h.getenv("PYENV_VERSION")); len(v) > 0 {
		return v
	}
	read := func(dir string) []string {
		text, err := readHead(h.fsys, path.Join(dir, ".python-version"), 64<<10)
		if err != nil {
			return nil
		}
		if v := parseVersionFile(string(text)); len(v) > 0 {
			return v
		}
		return []string{systemVersion} // pyenv stops at an empty file, too
	}
	for _, start := range []string{h.getenv("PYENV_DIR"), h.cwd} {
		if v := readUpward(start, read); v != nil {
			return v
		}
	}
	text, err := readHead(h.fsys, path.Join(root, "version"), 64<<10)
	if v := parseVersionFile(string(text)); err == nil && len(v) > 0 {
		return v
	}
	return []string{systemVersion}
}

// installed returns the directory of a version: by its name, or, for "3.11", the newest
// 3.11.N; empty if there is none.
func installed(fsys fs.FS, versions, v string) string {
	for _, name := range []string{v, strings.TrimPrefix(v, "python-")} {
		if dir := path.Join(versions, name); isDir(fsys, dir) {
			return dir
		}
	}
	real, _, err := resolve(fsys, versions)
	if err != nil {
		return ""
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
	return dir
}

// patchNumber returns a number that orders "7" (of 3.11) and "11.7" (of 3). It accepts only
// releases, because pyenv does not use 3.13-dev for 3.13 either.
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
