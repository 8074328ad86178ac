package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// choose returns the offer that the client's Accept header prefers, or the first offer if
// there is no such header.
func choose(r *http.Request, offers ...string) (string, error) {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if strings.TrimSpace(accept) == "" {
		return offers[0], nil
	}
	best, chosen := 0.0, ""
	for _, offer := range offers {
		if q := quality(accept, offer); q > best {
			best, chosen = q, offer
		}
	}
	if chosen == "" {
		return "", withStatus(http.StatusNotAcceptable, run.Invalid, "the answer would be %s, and the request accepts only %q", strings.Join(offers, " or "), accept)
	}
	return chosen, nil
}

// quality returns the q value of the most specific range that covers the offer, or 0.
func quality(accept, offer string) (q float64) {
	kind, _, _ := strings.Cut(offer, "/")
	specific := 0
	for part := range strings.SplitSeq(accept, ",") {
		covers, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		fits := 0
		switch covers {
		case offer:
			fits = 3
		case kind + "/*":
			fits = 2
		case "*/*":
			fits = 1
		}
		if fits > specific {
			specific, q = fits, 1
			if text, ok := parameters["q"]; ok {
				if q, err = strconv.ParseFloat(text, 64); err != nil {
					q = 0
				}
			}
		}
	}
	return q
}
