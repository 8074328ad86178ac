package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/token"
)

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	// sessionless is the first revision that has no sessions.
	sessionless = "2026-07-28"

	// mostSessions bounds those of one caller; each costs a goroutine and some memory.
	mostSessions = 256
	// sessionIdle ends a session whose client is quiet.
	sessionIdle = 15 * time.Minute
)

type frontendKey struct{}

// StreamableHandler serves /mcp: clients that begin a session get one, so that they can
// cancel and listen, and all others are served request by request, in whatever revision
// they speak.
func (s *Server) StreamableHandler() http.Handler {
	server := func(r *http.Request) *mcp.Server {
		if d, ok := r.Context().Value(frontendKey{}).(*frontend); ok {
			return d.mcp
		}
		return nil
	}
	return &streamable{
		server: s,
		// Our own limits on bodies and hosts come before those of the SDK.
		sessions: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			Logger: s.sdkLogger(), SessionTimeout: sessionIdle, MaxRequestBodyBytes: maxMessage,
		}),
		single: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			Stateless: true, Logger: s.sdkLogger(), MaxRequestBodyBytes: maxMessage, PropagateRequestCancellation: true,
		}),
	}
}

type streamable struct {
	server           *Server
	sessions, single http.Handler
}

func (h *streamable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := h.server.admit(w, r)
	if d == nil {
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), frontendKey{}, d))
	session := r.Header.Get(sessionHeader)
	switch {
	case r.Header.Get(versionHeader) >= sessionless:
		h.serveSingle(w, r)
	case session != "" && !strings.HasPrefix(session, d.tag+"-"):
		// The same words as for one that has ended: the client begins anew, and nobody
		// learns which ids there are.
		http.Error(w, "session not found", http.StatusNotFound)
	case session != "":
		if r.Method == http.MethodDelete {
			h.server.calls.endSession(session)
		}
		unhurried(w)
		h.sessions.ServeHTTP(w, r)
	case r.Method != http.MethodPost:
		h.sessions.ServeHTTP(w, r)
	default:
		h.servePost(w, r, d)
	}
}

// servePost serves a client without a session: it wants one, or does without.
func (h *streamable) servePost(w http.ResponseWriter, r *http.Request, d *frontend) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		status := http.StatusBadRequest
		if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
			status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("the body is longer than %d bytes", maxMessage)
		}
		http.Error(w, err.Error(), status)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if !isInitialize(body) {
		h.serveSingle(w, r)
		return
	}
	open := 0
	for range d.mcp.Sessions() {
		open++
	}
	if open >= mostSessions {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d sessions are open: end one, or try again later", open), http.StatusTooManyRequests)
		return
	}
	h.sessions.ServeHTTP(w, r)
}

// serveSingle serves a request on its own. When its client hangs up, nobody can ever get
// the answer, so the run ends.
func (h *streamable) serveSingle(w http.ResponseWriter, r *http.Request) {
	unhurried(w)
	ctx := withClient(r.Context(), r.Context())
	if r.Header.Get(versionHeader) < sessionless {
		// Without a session, nobody could say that they want to hear logs, and the SDK
		// takes it for granted.
		ctx = context.WithValue(ctx, withoutLogs{}, true)
	}
	h.single.ServeHTTP(w, r.WithContext(ctx))
}

// isInitialize reports whether a message begins a session.
func isInitialize(body []byte) bool {
	if !bytes.Contains(body, []byte(`"initialize"`)) {
		return false
	}
	var message struct {
		Method string `json:"method"`
	}
	return json.Unmarshal(body, &message) == nil && message.Method == "initialize"
}

// admit returns the frontend of the caller, or answers with an error.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) *frontend {
	who, known := token.CallerOf(r.Context())
	if !known {
		s.Logger.Error("an MCP request came past the frontend's guard", "path", r.URL.Path)
		http.Error(w, "nobody said who asks", http.StatusUnauthorized)
		return nil
	}
	return s.frontendOf(who)
}

// unhurried takes the deadlines of ordinary requests off a stream: a run has its own.
func unhurried(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	for _, set := range []func(time.Time) error{c.SetReadDeadline, c.SetWriteDeadline} {
		if err := set(time.Time{}); err != nil {
			return // a writer without deadlines has none to take off
		}
	}
}
