package mcpserver

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	maxListed = 1000     // files in a list
	maxNames  = 64 << 10 // bytes of their names
	// maxFileCalls is how many requests about files of one caller are under way at once, until
	// their answers are sent: a small request can have a large answer.
	maxFileCalls = 8
)

// fileTools returns the tools for the files of sessions.
func fileTools(d *frontend) []tool {
	session := sessionArgument("the session whose files they are (" + sessionNameWords + ")")
	name := describedText("its path below /work, such as data/sales.csv")
	// As for run_python, only the session's own state can change.
	hints := annotations{readOnly: true, idempotent: true}
	return []tool{
		{
			name:        "list_files",
			title:       "List the files of a session",
			description: "List the files that a session of run_python has in /work.",
			input:       argumentsSchema(map[string]schema{"session": session}, "session"),
			output: object(map[string]schema{
				"files":   listOf(fileOutput(), "the files, by name"),
				"omitted": integer("how many more there are"),
			}, "files"),
			hints: hints,
			call:  d.filing(d.listFiles),
		},
		{
			name:        "read_file",
			title:       "Read a file of a session",
			description: "Read a file in the /work of a session: text, an image, or other data as a resource. Read a long file in parts.",
			input: argumentsSchema(map[string]schema{
				"session": session, "name": name,
				"offset": bytesArgument("the first byte to read (0 unless you say otherwise)", 0, 1<<40),
				"length": bytesArgument(fmt.Sprintf("how many bytes to read (an answer holds %d of text, %d of other data)", maxText, maxBlob), minPiece, maxBlob),
			}, "session", "name"),
			hints: hints,
			call:  d.filing(d.readFile),
		},
		{
			name:        "write_file",
			title:       "Write a file into a session",
			description: "Put a file into the /work of a session, where steps of run_python find it. It replaces a file of that name.",
			input: argumentsSchema(map[string]schema{
				"session": session, "name": name,
				"text":   describedText("its content, if that is text"),
				"base64": describedText("its content in base64, instead of text"),
			}, "session", "name"),
			output: fileOutput(),
			hints:  hints,
			call:   d.filing(d.writeFile),
		},
	}
}

// filing returns the call of a tool about files, which waits for its turn.
func (d *frontend) filing(do func(context.Context, call, arguments) *mcp.CallToolResult) func(context.Context, call, arguments) *mcp.CallToolResult {
	return func(ctx context.Context, c call, a arguments) *mcp.CallToolResult {
		if err := d.enterFiles(ctx, c.sending); err != nil {
			return refusedFile(err)
		}
		return do(ctx, c, a)
	}
}

// enterFiles waits until few enough requests about files are under way. This one is until its
// context ends, which is when the SDK has written the answer.
func (d *frontend) enterFiles(ctx, request context.Context) error {
	_, err := inTime(ctx, maxWait, func(ctx context.Context) (any, error) {
		select {
		case d.filesInUse <- struct{}{}:
			context.AfterFunc(request, func() { <-d.filesInUse })
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return err
}

// sessionArgument returns the schema of a session's name.
func sessionArgument(description string) schema {
	s := describedText(description)
	s.form, s.formWords = sessionName, sessionNameWords
	return s
}

func bytesArgument(description string, least, most float64) schema {
	return schema{Type: "integer", unit: "bytes", Description: description, Minimum: &least, Maximum: &most}
}

func fileOutput() schema {
	return object(map[string]schema{
		"name": describedText("its path below /work"), "bytes": integer("its size"), "type": describedText("the MIME type that its name stands for"),
		"modified": describedText("when it was written"), "kind": describedText("link or special if it is no file"),
	}, "name", "bytes", "type", "modified")
}

// listAnswer is the structured answer of list_files.
type listAnswer struct {
	Files   []run.FileInfo `json:"files"`
	Omitted int            `json:"omitted,omitempty"`
}

func (d *frontend) listFiles(ctx context.Context, c call, a arguments) *mcp.CallToolResult {
	var list listAnswer
	var note string
	_, err := d.inFiles(ctx, c.request.Session, a.texts["session"], false, func(files run.Files) error {
		all, err := files.List()
		if err != nil && all == nil {
			return err
		}
		if err != nil {
			note = " " + err.Error() + "."
		}
		list.Files, list.Omitted = listed(all, func(f run.FileInfo) string { return f.Name })
		return nil
	})
	if err != nil {
		return refusedFile(err)
	}
	// A name is at the end of its line, so that it cannot be the beginning of one.
	var lines strings.Builder
	for _, f := range list.Files {
		kind := f.Type
		if f.Kind != "" {
			kind = string(f.Kind)
		}
		fmt.Fprintf(&lines, "%d bytes, %s: %s\n", f.Size, kind, text.Line(f.Name))
	}
	words := fmt.Sprintf("Files in /work: %d.", len(list.Files))
	if list.Omitted > 0 {
		words += fmt.Sprintf(" There are %d more, which this list does not hold.", list.Omitted)
	}
	list.Files = append([]run.FileInfo{}, list.Files...)
	return &mcp.CallToolResult{StructuredContent: structured(list), Content: withWords(lines.String(), words+note)}
}

// listed returns as many of the files as a list holds, and the number of the others.
func listed[T any](all []T, name func(T) string) (kept []T, omitted int) {
	left := maxNames
	for i, one := range all {
		if left -= len(name(one)); left < 0 || i == maxListed {
			return all[:i], len(all) - i
		}
	}
	return all, 0
}

// withWords returns the guest's text, if there is some, and a text of ours in a part of its own.
func withWords(guest, ours string) []mcp.Content {
	parts := []mcp.Content{&mcp.TextContent{Text: ours}}
	if guest != "" {
		parts = append([]mcp.Content{&mcp.TextContent{Text: guest}}, parts...)
	}
	return parts
}

func (d *frontend) readFile(ctx context.Context, c call, a arguments) *mcp.CallToolResult {
	var content []mcp.Content
	session, name, offset, length := a.texts["session"], a.texts["name"], int64(a.numbers["offset"]), int64(a.numbers["length"])
	_, err := d.inFiles(ctx, c.request.Session, session, false, func(files run.Files) error {
		p, err := readPiece(files, name, offset, length)
		if err != nil {
			return err
		}
		if words, ok := p.text(maxText); ok {
			p.data = p.data[:len(words)]
			content = withWords(words, p.String())
			return nil
		}
		if length == 0 && p.end() < int64(p.Size) {
			return run.Errorf(run.Invalid, "%s is not text, and has %d bytes: an answer holds %d. Read parts of it with offset and length, or make it smaller", name, p.Size, maxBlob)
		}
		part := newBudget().content(fileURI(session, name), p)
		content = []mcp.Content{part, &mcp.TextContent{Text: p.String()}}
		return nil
	})
	if err != nil {
		return refusedFile(err)
	}
	return &mcp.CallToolResult{Content: content}
}

// readPiece reads a file from an offset on: so many bytes, or as many as an answer holds if
// length is 0.
func readPiece(files run.Files, name string, offset, length int64) (p piece, err error) {
	f, info, err := files.Open(name)
	if err != nil {
		return p, err
	}
	defer f.Close()
	size := int64(info.Size)
	if offset > size {
		return p, run.Errorf(run.Invalid, "offset is %d: %s has %d bytes", offset, name, size)
	}
	if length == 0 {
		length = maxBlob
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, min(length, size-offset)))
	if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	return piece{FileInfo: info, start: offset, data: data}, nil
}

func (d *frontend) writeFile(ctx context.Context, c call, a arguments) *mcp.CallToolResult {
	content, isText := a.texts["text"]
	encoded, isData := a.texts["base64"]
	data := []byte(content)
	if isText == isData {
		return refusedFile(run.Errorf(run.Invalid, "give one of text and base64"))
	}
	if isData {
		var err error
		if data, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return refusedFile(run.Errorf(run.Invalid, "base64 is not what its name says: %w", err))
		}
	}
	var info run.FileInfo
	notes, err := d.inFiles(ctx, c.request.Session, a.texts["session"], true, func(files run.Files) (err error) {
		info, err = files.Write(a.texts["name"], bytes.NewReader(data))
		return err
	})
	if err != nil {
		return refusedFile(err)
	}
	notes = append(notes, fmt.Sprintf("Wrote %s: %d bytes.", text.Line(info.Name), info.Size))
	return &mcp.CallToolResult{StructuredContent: structured(info), Content: withWords("", strings.Join(notes, "\n"))}
}

// inFiles calls do with the files of a named session, perhaps more than once. If there is no
// such session, it opens one or returns an error.
func (d *frontend) inFiles(ctx context.Context, connection *mcp.ServerSession, name string, opens bool, do func(run.Files) error) (notes []string, err error) {
	sessions, err := d.sessionsOf(ctx, connection)
	if err != nil {
		return nil, err
	}
	find := sessions.existing
	if opens {
		find = func(ctx context.Context, name string) (*namedSession, error) {
			return sessions.use(ctx, name, run.SessionOptions{})
		}
	}
	for range maxOpenings {
		var one *namedSession
		one, err = inTime(ctx, maxWait, func(ctx context.Context) (*namedSession, error) { return find(ctx, name) })
		if err != nil {
			return nil, err
		}
		found := false
		err = d.server.Service.InFiles(d.who, one.id, func(files run.Files) error {
			found = true // from here on, what is unknown is a file
			return do(files)
		})
		if class := run.ClassOf(err); class == run.Gone || class == run.Unknown && !found {
			sessions.end(name, one, whyGone(err))
			continue
		}
		if one.before != "" && one.noted.CompareAndSwap(false, true) {
			notes = []string{newSessionWords(one)}
		}
		return notes, err
	}
	return nil, err
}

// refusedFile returns the answer to a call about files that failed. Most errors name the file or
// the argument.
func refusedFile(err error) *mcp.CallToolResult {
	switch run.ClassOf(err) {
	case run.Invalid, run.Forbidden, run.Unknown, run.Unsupported:
		return &mcp.CallToolResult{IsError: true, Content: withWords("", "Nothing was done: "+text.Line(err.Error())+".")}
	}
	return refused(err)
}
