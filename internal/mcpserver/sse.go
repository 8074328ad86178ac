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
// whose first event says where to POST. The run of a client ends with its stream.
//
// The SDK has such a handler; this one knows whose stream it is.
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
	// A form of another site can be posted anywhere, but not as this.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	h.mu.Lock()
	session := h.open[r.URL.Query().Get("sessionid")]
	h.mu.Unlock()
	if session == nil || session.frontend != d {
		http.Error(w, "session not found: open a stream with GET first, and POST to where it says", http.StatusNotFound)
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
	unhurried(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")

	// The stream is the client: when it breaks, so does the session, and with it all
	// that is under way.
	client, end := context.WithCancel(r.Context())
	defer end()
	connected, err := d.mcp.Connect(withClient(r.Context(), client), session.transport, nil)
	if err != nil {
		h.server.Logger.Debug("a stream broke before it began", "error", err)
		return
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := connected.Wait(); err != nil {
			h.server.Logger.Debug("a stream ended", "error", err)
		}
	}()
	select {
	case <-client.Done():
	case <-over:
	}
	end()
	if err := connected.Close(); err != nil {
		h.server.Logger.Debug("a stream ended", "error", err)
	}
	<-over
}

func (h *sse) add(id string, s *sseSession) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	mine := 0
	for _, other := range h.open {
		if other.frontend == s.frontend {
			mine++
		}
	}
	if mine >= mostSessions {
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
