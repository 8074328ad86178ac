package httpapi

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	preferHeader  = "Prefer"
	appliedHeader = "Preference-Applied"
	respondAsync  = "respond-async"
	// longestWait bounds how long a request waits for a run that goes on without it.
	longestWait = time.Minute
)

// preferences are those of a request (RFC 7240) that cordon knows. Others are ignored, and so
// are those that are wrong.
type preferences struct {
	async bool
	wait  time.Duration
}

// quotedText matches a quoted value. Neither preference has one.
var quotedText = regexp.MustCompile(`"(\\.|[^"\\])*"?`)

func preferencesOf(r *http.Request) (p preferences) {
	waits := false
	for part := range strings.SplitSeq(quotedText.ReplaceAllString(strings.Join(r.Header.Values(preferHeader), ","), `""`), ",") {
		preference, _, _ := strings.Cut(part, ";")
		name, value, _ := strings.Cut(preference, "=")
		switch name = strings.TrimSpace(name); {
		case strings.EqualFold(name, respondAsync):
			p.async = true
		case strings.EqualFold(name, "wait") && !waits: // the first one counts
			waits = true
			seconds, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32)
			if err == nil || errors.Is(err, strconv.ErrRange) {
				p.wait = min(time.Duration(seconds)*time.Second, longestWait)
			}
		}
	}
	return p
}
