package command

import (
	"net/url"
	"strings"
)

// maxSplits bounds how often an argument is split: key=@file:///a:/b.
const maxSplits = 5

// pathCandidates returns every part of an argument that a program may treat as a path. The
// option syntax differs between programs, so every common form is tried. exists reports
// whether the working directory has an entry of that name.
func pathCandidates(arg string, exists func(string) bool, b *budget) []string {
	r := argumentReader{exists: exists, budget: b, seen: map[string]bool{}}
	r.argument(arg, maxSplits)
	return r.all
}

type argumentReader struct {
	*budget
	exists func(string) bool
	all    []string
	seen   map[string]bool
}

func (r *argumentReader) argument(arg string, depth int) {
	if depth == 0 {
		return
	}
	switch {
	case strings.HasPrefix(arg, "--"):
		// --opt=path. The name of the option is not a path.
		if _, v, ok := strings.Cut(arg, "="); ok {
			r.value(v, depth-1)
		}
	case len(arg) > 2 && arg[0] == '-':
		r.glued(arg, depth-1)
	default:
		r.value(arg, depth)
	}
}

// glued reads -Ipath, -xvf/path, -Dkey=path and -Wl,-rpath,path.
func (r *argumentReader) glued(arg string, depth int) {
	r.value(arg[2:], depth)
	if depth == 0 {
		return
	}
	// -xvf/etc/passwd: a cluster of options, then a path whose first character
	// marks its beginning. -Isrc/etc means src/etc if src exists.
	n := 1
	for n < len(arg) && (isLetter(arg[n]) || isDigits(arg[n:n+1])) {
		n++
	}
	if n > 2 && n < len(arg) && strings.IndexByte("/.~@", arg[n]) >= 0 && !r.exists(arg[2:n]) {
		r.value(arg[n:], depth)
	}
}

func (r *argumentReader) value(v string, depth int) {
	if v == "" || r.seen[v] || !r.spend(1, v) {
		return
	}
	r.seen[v] = true
	if local, isURL := localURL(v); isURL {
		// A URL that names no local file is not a path, whatever it contains.
		if local != "" {
			r.all = append(r.all, local)
		}
		return
	}
	r.all = append(r.all, v)
	if depth == 0 {
		return
	}
	if v[0] == '@' || v[0] == '<' {
		// gcc, curl, javac and others read @file; curl -F also reads <file.
		r.value(v[1:], depth-1)
	}
	if _, after, ok := strings.Cut(v, "="); ok {
		r.value(after, depth-1)
	}
	r.list(v, ",", depth)
	r.list(v, ":", depth)
}

// list reads a,b and a:b. A colon often does not separate a list (host:/path, image:tag,
// revision:file), so every element must look like a path or exist.
func (r *argumentReader) list(v, separator string, depth int) {
	if !strings.Contains(v, separator) {
		return
	}
	parts := strings.Split(v, separator)
	if separator == ":" {
		for _, p := range parts {
			if p != "" && p != "." && p != ".." && p[0] != '~' && !strings.Contains(p, "/") && !r.exists(p) {
				return
			}
		}
	}
	for _, p := range parts {
		r.argument(p, depth-1)
	}
}

// localURL returns the path of the local file that a URL names, or "" if it names none.
// The file: scheme always names one, also as file:/x and with a host; another scheme does
// if its host is empty (unix:///run/x.sock, sqlite:////x).
func localURL(v string) (local string, isURL bool) {
	scheme, rest, ok := strings.Cut(v, ":")
	if !ok || len(scheme) < 2 || !isScheme(scheme) {
		return "", false
	}
	// jar:file:/x and git+file:///x: the file is at the end.
	if nested, _, ok := strings.Cut(rest, ":"); ok && isFileScheme(nested) {
		return localURL(rest)
	}
	file := isFileScheme(scheme)
	after, slashes := strings.CutPrefix(rest, "//")
	switch {
	case !slashes && !file:
		return "", false // host:/path, key:value
	case slashes && !strings.HasPrefix(after, "/"):
		if !file {
			return "", true
		}
		// file://localhost/x. Programs treat the host differently, but all of
		// them use the rest as the path.
		_, host, _ := strings.Cut(after, "/")
		after = "/" + host
	case !slashes:
		after = rest
	}
	if decoded, err := url.PathUnescape(after); err == nil {
		after = decoded
	}
	return after, true
}

func isFileScheme(s string) bool {
	s = strings.ToLower(s)
	return s == "file" || strings.HasSuffix(s, "+file")
}

func isScheme(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || !isDigits(s[i:i+1]) && strings.IndexByte("+-.", s[i]) < 0) {
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
