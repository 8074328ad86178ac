package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
)

func mustURL(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// hostByNetHTTP returns the host that net/http finds in a request.
func hostByNetHTTP(data []byte) (string, bool) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		return "", false
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if name, _, err := policy.CanonicalHost(host); err == nil {
		host = name
	}
	return host, true
}

// nameByCryptoTLS returns the server name that crypto/tls finds.
func nameByCryptoTLS(data []byte) (name string, ok bool) {
	conn := fixedConn(data)
	defer conn.Close()
	seen := errors.New("seen")
	err := tls.Server(conn, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		name, ok = h.ServerName, true
		return nil, seen
	}}).Handshake()
	if canonical, _, err := policy.CanonicalHost(name); err == nil && strings.TrimSpace(name) != "" {
		name = canonical
	}
	return name, ok && err != nil
}
