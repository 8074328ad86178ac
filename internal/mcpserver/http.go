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

	// maxSessions bounds the sessions of one caller. Each costs a goroutine and memory.
	maxSessions = 256
	// sessionIdle is how long a session may be idle before it is closed.
	sessionIdle = 15 * time.Minute
)

type frontendKey struct{}

// StreamableHandler serves /mcp, in every revision of the protocol. A client that
// initializes gets a session, so that it can cancel calls and receive notifications. Other
// requests are served without a session.
func (s *Server) StreamableHandler() http.Handler {
	server := func(r *http.Request) *mcp.Server {
		if d, ok := r.Context().Value(frontendKey{}).(*frontend); ok {
			return d.mcp
		}
		return nil
	}
	return &streamable{
		server: s,
		// The limits of cordon on bodies and hosts apply before those of the SDK.
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
		// The same message as for a session that has ended: the client starts a new one,
		// and the message does not reveal which ids exist.
		http.Error(w, "session not found", http.StatusNotFound)
	case session != "":
		if r.Method == http.MethodDelete {
			h.server.calls.endSession(session)
		}
		clearDeadlines(w)
		h.sessions.ServeHTTP(w, r)
	case r.Method != http.MethodPost:
		h.sessions.ServeHTTP(w, r)
	default:
		h.servePost(w, r, d)
	}
}

// servePost serves a POST without a session. An initialize request begins one; others are
// served on their own.
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
	if open >= maxSessions {
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d sessions are open: end one, or try again later", open), http.StatusTooManyRequests)
		return
	}
	h.sessions.ServeHTTP(w, r)
}

// serveSingle serves a request without a session. When the client disconnects, it can no
// longer get the answer, so the run ends.
func (h *streamable) serveSingle(w http.ResponseWriter, r *http.Request) {
	clearDeadlines(w)
	ctx := withoutConnection(withClient(r.Context(), r.Context()))
	if r.Header.Get(versionHeader) < sessionless {
		// Without a session, the client could not ask for logs. The SDK would send them
		// anyway.
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

// admit returns the frontend of the caller. If the request has no caller, it answers with an
// error and returns nil.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) *frontend {
	who, known := token.CallerOf(r.Context())
	if !known {
		s.Logger.Error("an MCP request was not authenticated", "path", r.URL.Path)
		http.Error(w, "the request was not authenticated", http.StatusUnauthorized)
		return nil
	}
	return s.frontendOf(who)
}

// clearDeadlines removes the deadlines of ordinary requests from a connection. A run has its
// own.
func clearDeadlines(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	for _, set := range []func(time.Time) error{c.SetReadDeadline, c.SetWriteDeadline} {
		if err := set(time.Time{}); err != nil {
			return // the writer has no deadlines
		}
	}
}
