package egress

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Preflight looks for hosts in the arguments of a command and tells which are
// outside of the grants, before anything runs. Behind the proxy that is a
// courtesy: one clear answer instead of a program's own words for a connection
// that failed. Without the proxy it is a speed bump and no wall, since a
// program can reach hosts that its arguments do not name.
//
// It takes for a host what is in a URL, user@host:path as git and scp write it,
// and host:port. Plain words are not looked at. Where parsers disagree about
// which part of a URL is the host, each candidate has to be granted.
func Preflight(grants []policy.NetGrant, arguments []string) []run.Violation {
	var found []run.Violation
	seen := map[mention]bool{}
	told := map[string]bool{} // two mentions may be one host
	for _, argument := range arguments {
		for _, m := range mentions(argument) {
			if seen[m] {
				continue
			}
			seen[m] = true
			var r *refusal
			if !errors.As(m.judge(grants), &r) || told[r.detail] {
				continue
			}
			told[r.detail] = true
			if len(told) <= mostRefused {
				found = append(found, r.violation("preflight", texts(grants)))
			}
		}
	}
	if more := len(told) - mostRefused; more > 0 {
		last := &found[mostRefused-1]
		last.Detail += fmt.Sprintf(" (and %d more)", more)
		last.Count += more
	}
	return found
}

// mostRefused is how many hosts are named; a list of thousands helps nobody.
const mostRefused = 16

// mention is a host in an argument.
type mention struct {
	host string
	port uint16 // 0 where it cannot be known
}

func (m mention) judge(grants []policy.NetGrant) error {
	name, addr, err := policy.CanonicalHost(m.host)
	if err != nil {
		return &refusal{detail: show(m.host) + ": is not a host that can be checked"}
	}
	t := target{name: name, addr: addr, port: m.port}
	known, allowed := covered(grants, t)
	if allowed || known && m.port == 0 {
		return nil
	}
	return notGranted(t, known)
}

// standardPorts of schemes. A URL of another one is checked for its host alone.
var standardPorts = map[string]uint16{
	"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ftps": 990,
	"ssh": 22, "sftp": 22, "scp": 22, "git+ssh": 22, "ssh+git": 22, "svn+ssh": 22, "git": 9418,
	"git+http": 80, "git+https": 443, "svn": 3690, "rsync": 873, "ldap": 389, "ldaps": 636,
	"redis": 6379, "rediss": 6379, "postgres": 5432, "postgresql": 5432, "mysql": 3306, "mongodb": 27017,
	"amqp": 5672, "amqps": 5671, "smtp": 25, "smtps": 465, "imap": 143, "imaps": 993,
}

// hostless schemes have a path or a bucket where others have a host.
var hostless = []string{"file", "unix", "npipe", "data", "sqlite", "s3", "gs", "chrome", "about"}

var (
	// A scheme with its slashes. Browsers and curl take any number of them, in
	// either direction, for the schemes of the web.
	webURL = pattern(`(?i)\b(https?|wss?|ftps?):[/\\]+`)
	anyURL = pattern(`(?i)\b([a-z][a-z0-9+.-]*)://`)
	// And none at all, where the whole argument is the URL.
	bareURL = pattern(`(?i)^(https?|wss?|ftps?):`)
	// What ends the part of a URL with the host in it, in a URL and in the
	// shell or program around it. A backslash is dealt with later.
	authorityEnd = "/?# \t\r\n\"'`<>|;&(),^"

	hostPort = pattern(`^(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]=,-][^\s:/@\[\]=,]*):([0-9]{1,5})(?:[/?#].*)?$`)
	digests  = []string{"sha1", "sha256", "sha384", "sha512", "md5"}
	// "main.go:12" is a line of a file, as compilers write it.
	fileLine = pattern(`(?i)\.(py|go|rs|js|mjs|ts|tsx|jsx|c|h|cc|cpp|hpp|java|rb|sh|md|txt|json|ya?ml|toml|html?|css|php|log|cfg|ini|lock|sql|xml|csv|proto)$`)
)

// pattern is compiled when it is needed: most commands name no host.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// mentions finds the hosts in one argument.
func mentions(argument string) []mention {
	if !strings.Contains(argument, ":") {
		return nil // no scheme, no port, no path behind a host
	}
	var all []mention
	// --opt=VALUE and NAME=VALUE: the value stands for itself too.
	for _, text := range []string{argument, afterEquals(argument)} {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		before := len(all)
		all = append(all, inURLs(text)...)
		// Parsers of URLs drop these; the URL must then be the whole argument,
		// or two lines of a script would become one host.
		if folded := strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(text); folded != text && startsURL(folded) {
			all = append(all, inURLs(folded)...)
		}
		if len(all) == before {
			all = append(all, asPlain(text)...)
		}
	}
	return all
}

func startsURL(text string) bool {
	at := anyURL().FindStringIndex(text)
	return at != nil && at[0] == 0 || bareURL().MatchString(text)
}

func afterEquals(argument string) string {
	name, value, _ := strings.Cut(argument, "=")
	if strings.ContainsAny(name, " \t\n/:?&") {
		return "" // a query, or a sentence
	}
	return value
}

func inURLs(text string) []mention {
	var all []mention
	seen := map[int]bool{}
	for _, pattern := range []*regexp.Regexp{webURL(), anyURL(), bareURL()} {
		for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
			// The patterns overlap; where the scheme begins tells them apart.
			if seen[at[2]] {
				continue
			}
			seen[at[2]] = true
			all = append(all, inAuthority(strings.ToLower(text[at[2]:at[3]]), text[at[1]:])...)
		}
	}
	return all
}

// inAuthority gives every host that some parser finds behind "scheme://".
func inAuthority(scheme, rest string) []mention {
	if slices.Contains(hostless, scheme) {
		return nil
	}
	authority := rest
	if end := strings.IndexAny(rest, authorityEnd); end >= 0 {
		authority = rest[:end]
	}
	var all []mention
	for _, candidate := range candidates(authority) {
		if m, ok := hostOf(scheme, candidate); ok && !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return all
}

// candidates are the readings of user@host with more than one @, and with a
// backslash, which is a slash to browsers and a letter to others.
func candidates(authority string) []string {
	readings := []string{authority}
	if before, after, cut := strings.Cut(authority, `\`); cut {
		readings = []string{before}
		if strings.Contains(after, "@") {
			readings = append(readings, authority)
		}
	}
	var all []string
	for _, text := range readings {
		parts := strings.Split(text, "@")
		all = append(all, parts[len(parts)-1])
		if len(parts) > 2 {
			all = append(all, parts[1])
		}
	}
	return all
}

func hostOf(scheme, text string) (mention, bool) {
	// A program's own placeholders. What will stand there cannot be known.
	if strings.ContainsAny(text, "${}*") || strings.Trim(text, ".…") == "" {
		return mention{}, false
	}
	host, port := text, standardPorts[scheme]
	if colon := strings.LastIndexByte(text, ':'); colon > strings.LastIndexByte(text, ']') {
		host = text[:colon]
		if n, err := strconv.ParseUint(text[colon+1:], 10, 16); err == nil {
			port = uint16(n)
		} else if text[colon+1:] != "" {
			port = 0
		}
	}
	if host == "" {
		return mention{}, false
	}
	plain, err := url.PathUnescape(host)
	if err != nil {
		return mention{}, false // "%s"
	}
	return mention{plain, port}, true
}

// asPlain reads an argument without a scheme.
func asPlain(text string) []mention {
	if strings.ContainsAny(text, " \t\r\n${}*") {
		return nil
	}
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return afterUser(text[:at], text[at+1:])
	}
	m := hostPort().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	// "python:3" is an image, "8080:80" two ports and "12:30" a time: there has
	// to be a dot.
	host := m[1]
	isFile := fileLine().MatchString(host) && !strings.Contains(text, "/")
	if !strings.ContainsAny(host, ".[") && !strings.EqualFold(host, "localhost") || isFile {
		return nil
	}
	port, err := strconv.ParseUint(m[2], 10, 16)
	if err != nil {
		return nil
	}
	return []mention{{host, uint16(port)}}
}

// afterUser reads host:path behind user@. A path of digits may be a port.
func afterUser(user, rest string) []mention {
	host, path, colon := strings.Cut(rest, ":")
	if strings.HasPrefix(rest, "[") {
		inside, after, closed := strings.Cut(rest, "]")
		if !closed {
			return nil
		}
		host = inside + "]"
		path, colon = strings.CutPrefix(after, ":")
	}
	switch {
	case !colon || host == "" || user == "" || strings.ContainsAny(host, `/\?#`), strings.Contains(user, "/"):
		return nil // an address for mail, or a package with its version
	case slices.Contains(digests, strings.ToLower(host)):
		return nil // an image by its digest
	case path != "" && strings.Trim(path, "0123456789") == "":
		return []mention{{host, 0}}
	}
	return []mention{{host, 22}}
}
