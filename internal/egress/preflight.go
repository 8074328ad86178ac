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

// Preflight returns a violation for each host in the arguments of a command that is not
// granted, before anything runs. Where the proxy enforces the grants, it only gives a
// clearer message than a program's failed connection. Without the proxy it is no wall,
// because a program can connect to hosts that its arguments do not name.
//
// It finds hosts in URLs, in user@host:path as git and scp write it, and in host:port.
// It ignores plain words. Where parsers disagree about which part of a URL is the host,
// each candidate must be granted.
func Preflight(grants []policy.NetGrant, arguments []string) []run.Violation {
	var found []run.Violation
	seen := map[mention]bool{}
	reported := map[string]bool{} // two mentions may name the same host
	for _, argument := range arguments {
		for _, m := range mentions(argument) {
			if seen[m] {
				continue
			}
			seen[m] = true
			var r *refusal
			if !errors.As(m.judge(grants), &r) || reported[r.detail] {
				continue
			}
			reported[r.detail] = true
			if len(reported) <= mostRefused {
				found = append(found, r.violation("preflight", texts(grants)))
			}
		}
	}
	if more := len(reported) - mostRefused; more > 0 {
		last := &found[mostRefused-1]
		last.Detail += fmt.Sprintf(" (and %d more)", more)
		last.Count += more
	}
	return found
}

// mostRefused is the maximum number of violations: a list of thousands helps no one.
const mostRefused = 16

// mention is a host in an argument.
type mention struct {
	host string
	port uint16 // 0 if unknown
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

// standardPorts maps schemes to ports. For other schemes only the host is checked.
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
	// A scheme with its slashes. For web schemes, browsers and curl accept any number
	// of slashes and backslashes.
	webURL = pattern(`(?i)\b(https?|wss?|ftps?):[/\\]+`)
	anyURL = pattern(`(?i)\b([a-z][a-z0-9+.-]*)://`)
	// They also accept none, if the whole argument is the URL.
	bareURL = pattern(`(?i)^(https?|wss?|ftps?):`)
	// The characters that end the part of a URL with the host, in the URL or in the
	// shell code or program around it. A backslash is handled later.
	authorityEnd = "/?# \t\r\n\"'`<>|;&(),^"

	hostPort = pattern(`^(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]=,-][^\s:/@\[\]=,]*):([0-9]{1,5})(?:[/?#].*)?$`)
	digests  = []string{"sha1", "sha256", "sha384", "sha512", "md5"}
	// "main.go:12" is a position in a file, as in messages of compilers.
	fileLine = pattern(`(?i)\.(py|go|rs|js|mjs|ts|tsx|jsx|c|h|cc|cpp|hpp|java|rb|sh|md|txt|json|ya?ml|toml|html?|css|php|log|cfg|ini|lock|sql|xml|csv|proto)$`)
)

// pattern compiles a pattern on first use: most commands name no host.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// mentions finds the hosts in one argument.
func mentions(argument string) []mention {
	if !strings.Contains(argument, ":") {
		return nil // no scheme, no port, no path after a host
	}
	var all []mention
	// For --opt=VALUE and NAME=VALUE, check the value separately too.
	for _, text := range []string{argument, afterEquals(argument)} {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		before := len(all)
		all = append(all, inURLs(text)...)
		// URL parsers drop these characters. Do so only if the whole argument is
		// the URL, or two lines of a script would become one host.
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
			// The patterns overlap: count each scheme once, by its position.
			if seen[at[2]] {
				continue
			}
			seen[at[2]] = true
			all = append(all, inAuthority(strings.ToLower(text[at[2]:at[3]]), text[at[1]:])...)
		}
	}
	return all
}

// inAuthority returns every host that some parser finds after "scheme://".
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

// candidates returns the ways to read user@host with more than one @, or with a
// backslash, which is a slash to browsers and an ordinary character to others.
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
	// Placeholders of the program: the host is not known yet.
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

// asPlain finds hosts in an argument without a scheme.
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
	// Require a dot: "python:3" is an image, "8080:80" is two ports and "12:30" is a
	// time.
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

// afterUser parses host:path after user@. A path of digits may be a port.
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
		return nil // an email address, or a package with its version
	case slices.Contains(digests, strings.ToLower(host)):
		return nil // an image by its digest
	case path != "" && strings.Trim(path, "0123456789") == "":
		return []mention{{host, 0}}
	}
	return []mention{{host, 22}}
}
