package egress

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hints"
)

var (
	// errSpeaksHTTP is no refusal: the tunnel contains requests, each of which
	// is judged separately (inside.go).
	errSpeaksHTTP = errors.New("speaks HTTP")
	// errOther means that no server would accept the message as a request.
	errOther = errors.New("another protocol")
)

// judgeHTTP continues after a first byte that may begin a request line. As soon as the
// message cannot be a request, it is another protocol and passes. Anything that the
// most lenient server would accept as a request counts as one; net/http then decides
// whether it is valid.
func (p *Proxy) judgeHTTP(to route, e *early) error {
	e.next = 0
	method, err := readMethod(e)
	if errors.Is(err, errOther) || errors.Is(err, io.EOF) {
		return nil // the connection ends after one word
	}
	var line string
	if err == nil {
		line, err = readLine(e, isLetter(method[0]))
	}
	version := strings.Contains(strings.ToUpper(line), "HTTP/")
	switch {
	case errors.Is(err, errOther):
		return nil
	case err != nil:
		return cutOff(to.target, err)
	case !version && method == "GET":
		return httpRefusal("HTTP request for " + to.String() + " has no version and no Host header")
	case !version:
		return nil
	case method == "PRI" && to.byAddress && line == "* HTTP/2.0\r":
		return nil
	case method == "PRI":
		return httpRefusal("HTTP/2 without TLS for " + to.String() + " cannot be checked for its host")
	}
	return errSpeaksHTTP
}

// readMethod reads up to the blank after the first word. The length of a method has no
// bound, because servers accept unknown methods.
func readMethod(e *early) (string, error) {
	var word []byte
	for {
		b, err := e.take(1)
		switch {
		case err != nil:
			return "", err
		case len(word) == 0 && isBlank(b[0]):
			// Servers skip empty lines before a request; lenient ones skip more.
		case isBlank(b[0]) && b[0] != '\n':
			return string(word), nil
		case !isToken(b[0]):
			return "", errOther
		default:
			word = append(word, b[0])
		}
	}
}

// readLine reads the rest of the line. Some servers accept control characters in it, so
// they mean another protocol, which may have no lines, only after a word that does not
// begin like a method.
func readLine(e *early, mayHaveControls bool) (string, error) {
	var text []byte
	for {
		b, err := e.take(1)
		switch {
		case err != nil:
			return "", err
		case b[0] == '\n':
			return string(text), nil
		case b[0] < ' ' && !isBlank(b[0]) && !mayHaveControls:
			return "", errOther
		}
		text = append(text, b[0])
	}
}

func httpRefusal(detail string) *refusal {
	r := &refusal{detail: detail, hint: hints.OwnRequests}
	body := r.body()
	r.answer = []byte("HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	return r
}

// isBlank reports whether some server accepts b as the space between the words of a
// request line. Python's servers split Latin-1 text, which has two more spaces in its
// upper half.
func isBlank(b byte) bool {
	return b == ' ' || b >= '\t' && b <= '\r' || b >= 0x1c && b <= 0x1f || b == 0x85 || b == 0xa0
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// isToken reports whether b may be part of a method (RFC 9110, 5.6.2).
func isToken(b byte) bool {
	return isLetter(b) || b >= '0' && b <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
}
