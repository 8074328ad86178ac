package httpapi

import (
	"net/http"
	"net/url"

	"github.com/cordon-sandbox/cordon/run"
)

// ownSite keeps other websites away from all that is behind it, whatever the method: a
// browser on this machine, or in this network, must not be their way in. What it is asked
// to GET can open a stream, take a connection, or be a page that another one frames.
// Whoever is no browser says neither header.
func ownSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fromWebsite(r) {
			forbid(w, "the request comes from another website, and those may not ask")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromWebsite says that a page of another origin has sent a request, or a link on one.
func fromWebsite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none": // none: by its user
		return false
	case "":
	default:
		return true
	}
	// A browser without Sec-Fetch-Site.
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	at, err := url.Parse(origin)
	return err != nil || at.Host != r.Host
}

// ThisMachine refuses requests whose Host header is not this machine, for what has no
// tokens: a name that was made to point here (DNS rebinding) is an attacker's.
func ThisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r) {
			forbid(w, "the host is not this machine: use localhost or 127.0.0.1")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func forbid(w http.ResponseWriter, words string) {
	p := problemOf(run.Errorf(run.Forbidden, "%s", words))
	body, err := encode(p)
	if err != nil {
		body = nil // a Problem can be encoded
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // whoever is not there any more was refused, too
}
