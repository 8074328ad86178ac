package mcpserver

import (
	"context"
	"crypto/rand"
	"mime"
	"net/http"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// SSEHandler serves /sse, for clients from before streamable HTTP: a GET opens a stream,
// whose first event has the URL for POSTs. The runs of a client end with its stream.
//
// Unlike the SDK's handler, it lets only the caller that opened a stream use it.
func (s *Server) SSEHandler() http.Handler {
	return &sse{server: s, open: map[string]*sseSession{}}
}

type sse struct {
	server *Server
	mu     sync.Mutex
	open   map[string]*sseSession
}

type sseSession struct {
	transport *mcp.SSEServerTransport
	frontend  *frontend
}

func (h *sse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := h.server.admit(w, r)
	if d == nil {
		return
	}
	switch r.Method {
	case http.MethodGet:
		h.serveStream(w, r, d)
	case http.MethodPost:
		h.servePost(w, r, d)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "use GET to open a stream, and POST to send to it", http.StatusMethodNotAllowed)
	}
}

func (h *sse) servePost(w http.ResponseWriter, r *http.Request, d *frontend) {
	// A website can post a form to any host, but not with this content type.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	h.mu.Lock()
	session := h.open[r.URL.Query().Get("sessionid")]
	h.mu.Unlock()
	if session == nil || session.frontend != d {
		http.Error(w, "session not found: open a stream with GET first, and POST to the URL in its first event", http.StatusNotFound)
		return
	}
	session.transport.ServeHTTP(w, r)
}

func (h *sse) serveStream(w http.ResponseWriter, r *http.Request, d *frontend) {
	id := rand.Text()
	session := &sseSession{frontend: d, transport: &mcp.SSEServerTransport{
		Endpoint: (&url.URL{Path: r.URL.Path, RawQuery: "sessionid=" + id}).RequestURI(),
		Response: w, MaxRequestBodyBytes: maxMessage,
	}}
	if !h.add(id, session) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "too many streams are open: close one, or try again later", http.StatusTooManyRequests)
		return
	}
	defer h.remove(id)
	clearDeadlines(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")

	// The session and its calls end with the stream.
	client, end := context.WithCancel(r.Context())
	defer end()
	connected, err := d.mcp.Connect(withClient(r.Context(), client), session.transport, nil)
	if err != nil {
		h.server.Logger.Debug("cannot begin a session on a stream", "error", err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := connected.Wait(); err != nil {
			h.server.Logger.Debug("a stream ended", "error", err)
		}
	}()
	select {
	case <-client.Done():
	case <-done:
	}
	end()
	if err := connected.Close(); err != nil {
		h.server.Logger.Debug("a stream ended", "error", err)
	}
	<-done
}

func (h *sse) add(id string, s *sseSession) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := 0
	for _, other := range h.open {
		if other.frontend == s.frontend {
			own++
		}
	}
	if own >= maxSessions {
		return false
	}
	h.open[id] = s
	return true
}

func (h *sse) remove(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, id)
}
