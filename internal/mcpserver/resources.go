package mcpserver

import (
	"context"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/run"
)

// The files of a caller's open sessions are also resources, for client programs.
const (
	resourceStart  = "cordon://session/"
	resourceMiddle = "/files/"
	fileTemplate   = resourceStart + "{session}" + resourceMiddle + "{+path}"
)

// fileURI returns the URI of a file: of a session, or of a run without one, which nobody can
// read again.
func fileURI(session, name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	start := resourceStart + session
	if session == "" {
		start = "cordon://run"
	}
	return start + resourceMiddle + strings.Join(parts, "/")
}

// parseFileURI returns the session and the file that a URI names.
func parseFileURI(uri string) (session, name string, ok bool) {
	rest, ours := strings.CutPrefix(uri, resourceStart)
	session, path, found := strings.Cut(rest, resourceMiddle)
	name, err := url.PathUnescape(path)
	return session, name, ours && found && err == nil && sessionName.MatchString(session)
}

// addResources registers the files of sessions as resources.
func (d *frontend) addResources() {
	d.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "session-file", Title: "File of a session", Description: "a file in the /work of an open session",
		URITemplate: fileTemplate,
	}, d.readResource)
	d.mcp.AddReceivingMiddleware(d.serveResources)
}

// serveResources completes what the SDK answers: it does not know the files, and it writes the
// URI of what it does not find into its answer in a way that is not always JSON.
func (d *frontend) serveResources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if request, ok := r.(*mcp.ReadResourceRequest); ok {
			session, name, ours := parseFileURI(request.Params.URI)
			if !ours && !hasFixtures {
				return nil, resourceError(request.Params.URI, run.Errorf(run.Unknown, "there is no such resource: its URI is not %s", fileTemplate))
			}
			if ours {
				request.Params.URI = fileURI(session, name) // which the template matches
			}
		}
		result, err := next(ctx, method, r)
		if list, ok := result.(*mcp.ListResourcesResult); ok && err == nil && list.NextCursor == "" {
			list.Resources = append(list.Resources, d.resources(ctx, r.(*mcp.ListResourcesRequest).Session)...)
		}
		return result, err
	}
}

// readResource returns a file of a session.
func (d *frontend) readResource(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	if err := d.enterFiles(ctx, ctx); err != nil {
		return nil, resourceError(r.Params.URI, err)
	}
	session, name, _ := parseFileURI(r.Params.URI)
	var contents *mcp.ResourceContents
	_, err := d.inFiles(ctx, r.Session, session, false, func(files run.Files) error {
		p, err := readPiece(files, name, 0, 0)
		if err != nil {
			return err
		}
		if p.whole() {
			contents = newBudget().resource(r.Params.URI, p)
		}
		if contents == nil {
			return run.Errorf(run.Invalid, "%s has %d bytes, and an answer holds %d: read_file reads parts of it", name, p.Size, maxBlob)
		}
		return nil
	})
	if err != nil {
		return nil, resourceError(r.Params.URI, err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

// resourceError returns the error of the protocol for a resource that cannot be read.
func resourceError(uri string, err error) error {
	failure := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	switch run.ClassOf(err) {
	case run.Invalid, run.Forbidden, run.Unknown, run.Unsupported, run.Gone:
		failure.Code, failure.Data = jsonrpc.CodeInvalidParams, structured(map[string]string{"uri": uri})
	}
	return failure
}

// resources lists the files of a caller's open sessions, as many as a list holds.
func (d *frontend) resources(ctx context.Context, connection *mcp.ServerSession) (list []*mcp.Resource) {
	sessions, err := d.sessionsOf(ctx, connection)
	if err != nil || d.enterFiles(ctx, ctx) != nil {
		return nil // nobody whose sessions they could be, or nobody who still waits
	}
	for _, name := range sessions.names() {
		_, err := d.inFiles(ctx, connection, name, false, func(files run.Files) error {
			all, err := files.List()
			for _, f := range all {
				if f.Kind == "" {
					size := int64(f.Size)
					list = append(list, &mcp.Resource{URI: fileURI(name, f.Name), Name: f.Name, Title: name + ": " + f.Name, MIMEType: f.Type, Size: size})
				}
			}
			return err
		})
		if err != nil {
			d.server.Logger.Debug("a session's files are not listed", "error", err)
		}
		var omitted int
		if list, omitted = listed(list, func(r *mcp.Resource) string { return r.URI }); omitted > 0 || ctx.Err() != nil {
			break
		}
	}
	return list
}
