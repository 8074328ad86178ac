// Package filenames checks the names of files in /work, and the patterns that select them.
package filenames

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
)

// The most files in one request or result, and the longest name of one: without bounds, a guest
// could make a few thousand names take gigabytes.
const (
	MaxFiles = 1000
	maxName  = 1024 // bytes
	maxDepth = 64   // parts
)

// Check refuses a name that is not a path below /work.
func Check(name string) error {
	switch {
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%q: a name has no control characters", name)
	case path.IsAbs(name):
		return fmt.Errorf("%q: the name is a path below /work, and has no slash at its beginning", name)
	case len(name) > maxName || strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("%.60q…: a name has at most %d bytes and %d parts", name, maxName, maxDepth)
	case !fs.ValidPath(name) || name == ".":
		return fmt.Errorf("%q: the name is a path below /work, without empty parts, \".\" and \"..\"", name)
	}
	return nil
}

// CheckPattern refuses a pattern that can match no name.
func CheckPattern(pattern string) error {
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("%q: it has a [ without a ]", pattern)
	}
	return Check(pattern)
}

// Match reports whether a pattern matches a name: * and ? stand for characters within one part
// of a path, [a-z] for one of several, and ** for any parts.
func Match(pattern, name string) bool {
	return matchParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

// matchParts keeps how many parts the patterns so far can have matched: trying one pattern
// after another takes a time that a guest's names cannot make long.
func matchParts(patterns, parts []string) bool {
	matched := make([]bool, len(parts)+1)
	matched[0] = true
	for _, pattern := range patterns {
		next := make([]bool, len(parts)+1)
		for i, before := range matched {
			switch {
			case pattern == "**":
				next[i] = before || i > 0 && next[i-1]
			case before && i < len(parts):
				one, err := path.Match(pattern, parts[i])
				next[i+1] = err == nil && one
			}
		}
		matched = next
	}
	return matched[len(parts)]
}
