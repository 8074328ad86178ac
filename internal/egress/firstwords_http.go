package egress

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

// The longest method in use is UPDATEREDIRECTREF.
const maxMethod = 24

// judgeHTTP goes on after the first byte, which may begin a request line. As
// soon as it cannot be one any more, it is another protocol and passes.
func (p *Proxy) judgeHTTP(to route, e *early) error {
	e.next = 0
	method, is, err := readMethod(e)
	if errors.Is(err, io.EOF) {
		return nil // one word and no more; it stays one
	}
	if err != nil {
		return cutOff(to.target, err)
	}
	if !is {
		return nil
	}
	line, is, err := readLine(e)
	if err != nil {
		return cutOff(to.target, err)
	}
	if !is {
		return nil
	}
	version := strings.Contains(strings.ToUpper(strings.ReplaceAll(line, "\t", " ")), " HTTP/")
	switch {
	case !version && method == "GET":
		return httpRefusal("HTTP request for " + to.String() + " has no version and no Host header")
	case !version:
		return nil
	case method == "PRI" && to.byAddress:
		return nil
	case method == "PRI":
		return httpRefusal("HTTP/2 without TLS for " + to.String() + " cannot be checked for its host")
	}
	return p.judgeHead(to, e)
}

// readMethod reads up to the blank after the first word.
func readMethod(e *early) (method string, is bool, err error) {
	var word []byte
	for {
		b, err := e.take(1)
		switch {
		case err != nil:
			return "", false, err
		case len(word) == 0 && isBlank(b[0]):
			// Servers skip empty lines before a request, and lenient ones more.
		case b[0] == ' ' || b[0] == '\t':
			return string(word), true, nil
		case !isToken(b[0]) || len(word) == maxMethod:
			return "", false, nil
		default:
			word = append(word, b[0])
		}
	}
}

// readLine reads the rest of the line, with its blank in front. Text protocols
// have lines too; bytes that are no text mean another one.
func readLine(e *early) (line string, is bool, err error) {
	text := []byte{' '}
	for {
		b, err := e.take(1)
		switch {
		case err != nil:
			return "", false, err
		case b[0] == '\n':
			return string(text), true, nil
		case b[0] < ' ' && b[0] != '\t' && b[0] != '\r':
			return "", false, nil
		}
		text = append(text, b[0])
	}
}

// judgeHead reads the request's head to its end. What a strict reader does not
// take is refused, since a lenient one might find another Host in it.
func (p *Proxy) judgeHead(to route, e *early) error {
	for !bytes.HasSuffix(e.data[:e.next], []byte("\n\r\n")) && !bytes.HasSuffix(e.data[:e.next], []byte("\n\n")) {
		if _, err := e.take(1); err != nil {
			return cutOff(to.target, err)
		}
	}
	hosts, err := hostsOf(e.data[:e.next])
	if err != nil {
		return httpRefusal("HTTP request for " + to.String() + ": " + err.Error())
	}
	for _, host := range hosts {
		// The port is not compared: it is no part of which site is meant, and
		// clients leave it out as they like.
		said, err := parseTarget(host, to.port)
		if err != nil || !p.answersTo(to.target, said.host()) {
			return httpRefusal("HTTP host " + show(host) + " does not match " + to.String())
		}
	}
	return nil
}

// hostsOf gives every host that a request names: the Host header, and the one
// in the request line where that has one.
func hostsOf(head []byte) ([]string, error) {
	text := strings.TrimLeft(string(head), "\r\n")
	unixed := strings.ReplaceAll(text, "\r\n", "\n")
	switch {
	case strings.ContainsAny(unixed, "\r\x00"):
		return nil, errors.New("has control characters in its head")
	case strings.Count(unixed, "\n") != strings.Count(text, "\r\n"):
		return nil, errors.New("has lines that do not end in CR LF")
	case strings.Contains(unixed, "\n ") || strings.Contains(unixed, "\n\t"):
		return nil, errors.New("has folded lines in its head")
	}
	reader := textproto.NewReader(bufio.NewReader(strings.NewReader(text)))
	line, err := reader.ReadLine()
	if err != nil {
		return nil, errors.New("has no request line")
	}
	words := strings.Split(line, " ")
	if len(words) != 3 {
		return nil, errors.New("has a malformed request line")
	}
	if _, _, ok := http.ParseHTTPVersion(words[2]); !ok {
		return nil, errors.New("has a malformed request line")
	}
	header, err := reader.ReadMIMEHeader()
	if err != nil {
		return nil, errors.New("has a malformed head")
	}
	for name := range header {
		// "Host :" is nothing to some servers and Host to others.
		if strings.ContainsFunc(name, func(r rune) bool { return r > '~' || !isToken(byte(r)) }) {
			return nil, errors.New("has a malformed head")
		}
	}
	hosts := header["Host"]
	if len(hosts) != 1 {
		return nil, errors.New("has " + strconv.Itoa(len(hosts)) + " Host headers")
	}
	if where := words[1]; !strings.HasPrefix(where, "/") && where != "*" {
		u, err := url.Parse(where)
		switch {
		case words[0] == http.MethodConnect:
			hosts = append(hosts, where)
		case err != nil || u.Host == "" || u.User != nil:
			return nil, errors.New("has a malformed request line")
		default:
			hosts = append(hosts, u.Host)
		}
	}
	return hosts, nil
}

func httpRefusal(detail string) error {
	r := &refusal{detail: detail, hint: "send requests for this host alone through its tunnel, each with a Host header"}
	body := r.body()
	r.answer = []byte("HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
	return r
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// isToken is what a method may consist of (RFC 9110, 5.6.2).
func isToken(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
}
