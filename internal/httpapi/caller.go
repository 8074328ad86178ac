package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

// caller says who asks.
func (a *api) caller(r *http.Request) (token.Caller, error) {
	if a.Tokens == nil {
		return token.Local, a.fromThisMachine(r)
	}
	// The same words for none and a wrong one: nobody learns which tokens there are.
	if secret, ok := bearer(r.Header.Values("Authorization")); ok {
		if who, found := a.Tokens.Find(secret); found {
			return who, nil
		}
	}
	return token.Caller{}, withStatus(http.StatusUnauthorized, run.Forbidden, "a valid token is needed: send the header Authorization: Bearer TOKEN")
}

// bearer finds the one secret of a request. Of two, somebody on the way may have looked
// at the other.
func bearer(headers []string) (secret string, ok bool) {
	if len(headers) != 1 {
		return "", false
	}
	scheme, secret, _ := strings.Cut(headers[0], " ")
	secret = strings.TrimLeft(secret, " ")
	return secret, strings.EqualFold(scheme, "Bearer") && secret != ""
}

// fromThisMachine keeps websites away from a frontend without tokens: a browser on this
// machine is on this machine, too.
func (a *api) fromThisMachine(r *http.Request) error {
	if !local(r) {
		// DNS rebinding: a name of the attacker's leads here, and the browser takes us for
		// the attacker's server. Its Host header still has that name.
		return run.Errorf(run.Forbidden, "the host %q is not this machine: use localhost or 127.0.0.1, or start cordon with tokens", r.Host)
	}
	return nil
}

// local says that a request names this machine as its host, or came through a file that
// no browser can open.
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

// near is for what needs no token, because it tells nothing, but is no website's
// business either.
func (a *api) near(next http.Handler) http.Handler {
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
