package httpapi

import (
	"net/http"
	"net/url"

	"github.com/cordon-sandbox/cordon/run"
)

// ownSite refuses requests that other websites make through a browser on this machine or
// network, whatever the method: even a GET can open a stream, take a connection, or load a
// page into a frame. Clients other than browsers send neither header.
func ownSite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fromWebsite(r) {
			forbid(w, "the request comes from another website, which is not allowed")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromWebsite reports whether a page of another origin, or a link on one, made the request.
func fromWebsite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none": // none: the user opened the address
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

// ThisMachine refuses requests whose Host header does not name this machine. It is for
// services without tokens, and prevents DNS rebinding.
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
	_, _ = w.Write(body) // a client that disconnected was refused, too
}
