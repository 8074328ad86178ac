package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// caller returns the caller of a request.
func (a *api) caller(r *http.Request) (token.Caller, error) {
	if a.Tokens == nil {
		return token.Local, a.fromThisMachine(r)
	}
	// The same message for a missing and a wrong token, so that it does not reveal
	// which tokens exist.
	if secret, ok := bearer(r.Header.Values("Authorization")); ok {
		if who, found := a.Tokens.Find(secret); found {
			return who, nil
		}
	}
	return token.Caller{}, withStatus(http.StatusUnauthorized, run.Forbidden, "a valid token is needed: send the header Authorization: Bearer TOKEN")
}

// bearer returns the secret of a request. It refuses a request with two Authorization
// headers, because a proxy may have checked the other one.
func bearer(headers []string) (secret string, ok bool) {
	if len(headers) != 1 {
		return "", false
	}
	scheme, secret, _ := strings.Cut(headers[0], " ")
	secret = strings.TrimLeft(secret, " ")
	return secret, strings.EqualFold(scheme, "Bearer") && secret != ""
}

// fromThisMachine refuses websites where there are no tokens. They can reach a loopback
// address through a browser on this machine.
func (a *api) fromThisMachine(r *http.Request) error {
	if !local(r) {
		// DNS rebinding: the attacker's name resolves to this machine, so that the browser
		// treats us as the attacker's server. The Host header still has that name.
		return run.Errorf(run.Forbidden, "the host %q is not this machine: use localhost or 127.0.0.1, or start cordon with tokens", r.Host)
	}
	return nil
}

// local reports whether a request names this machine as its host, or came through a Unix
// socket, which no browser can open.
func local(r *http.Request) bool {
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && at.Network() == "unix" {
		return true
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// withoutToken guards endpoints that reveal nothing and need no token, but are not for
// websites.
func (a *api) withoutToken(next http.Handler) http.Handler {
	return a.answering(func(w http.ResponseWriter, r *http.Request) error {
		if a.Tokens == nil {
			if err := a.fromThisMachine(r); err != nil {
				return err
			}
		}
		next.ServeHTTP(w, r)
		return nil
	})
}
