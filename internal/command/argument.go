package command

import (
	"net/url"
	"strings"
)

// splitMost bounds how often an argument is taken apart: key=@file:///a:/b.
const splitMost = 5

// readings gives every text in an argument that a program may take for a path.
// Nobody knows the option syntax of all programs, so each usual form is tried.
// exists tells whether there is an entry of that name in the working directory.
func readings(arg string, exists func(string) bool, e *effort) []string {
	r := reader{exists: exists, effort: e, seen: map[string]bool{}}
	r.argument(arg, splitMost)
	return r.all
}

type reader struct {
	*effort
	exists func(string) bool
	all    []string
	seen   map[string]bool
}

func (r *reader) argument(arg string, depth int) {
	if depth == 0 {
		return
	}
	switch {
	case strings.HasPrefix(arg, "--"):
		// --opt=path. The option's own name is no path.
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
func (r *reader) glued(arg string, depth int) {
	r.value(arg[2:], depth)
	if depth == 0 {
		return
	}
	// -xvf/etc/passwd: a cluster of options, then a path that says where it
	// begins. -Isrc/etc means src/etc as long as there is a src.
	n := 1
	for n < len(arg) && (isLetter(arg[n]) || digits(arg[n:n+1])) {
		n++
	}
	if n > 2 && n < len(arg) && strings.IndexByte("/.~@", arg[n]) >= 0 && !r.exists(arg[2:n]) {
		r.value(arg[n:], depth)
	}
}

func (r *reader) value(v string, depth int) {
	if v == "" || r.seen[v] || !r.spend(1, v) {
		return
	}
	r.seen[v] = true
	if local, isURL := localURL(v); isURL {
		// A URL of another kind is no path, whatever is in it.
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
		// @file is read by gcc, curl, javac and others; curl -F also has <file.
		r.value(v[1:], depth-1)
	}
	if _, after, ok := strings.Cut(v, "="); ok {
		r.value(after, depth-1)
	}
	r.list(v, ",", depth)
	r.list(v, ":", depth)
}

// list reads a,b and a:b. A colon is in many things that are no lists
// (host:/path, image:tag, revision:file), so all of its elements have to look
// like paths, or be there.
func (r *reader) list(v, separator string, depth int) {
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

// localURL reads a URL and gives the path of a local file, if it names one.
// The file: scheme always does, also as file:/x and with a host; another one
// does when its host is empty (unix:///run/x.sock, sqlite:////x).
func localURL(v string) (local string, isURL bool) {
	scheme, rest, ok := strings.Cut(v, ":")
	if !ok || len(scheme) < 2 || !isScheme(scheme) {
		return "", false
	}
	// jar:file:/x and git+file:///x: what is meant is at the end.
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
		// file://localhost/x. Programs differ in what they make of a host;
		// all of them take the rest for the path.
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
		if !isLetter(s[i]) && (i == 0 || !digits(s[i:i+1]) && strings.IndexByte("+-.", s[i]) < 0) {
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
