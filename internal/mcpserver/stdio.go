package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/token"
)

// stdio is the transport for one client on two pipes, with one message per line. The SDK's
// transport ends the session at the first line that it cannot parse. This one answers with
// the error and reads on. It also parses each line once, not four times.
type stdio struct {
	in  io.ReadCloser
	out io.WriteCloser
	// answers bounds the answers that wait for a client that does not read.
	answers *admission.Answers

	messages chan jsonrpc.Message
	readErr  error // why messages is closed
	closed   chan struct{}
	close    func() error

	writing sync.Mutex
}

// smallAnswer is the size up to which an answer is not counted: it takes no more memory than
// the call itself.
const smallAnswer = 64 << 10

// Connect starts reading.
func (s *stdio) Connect(context.Context) (mcp.Connection, error) {
	s.messages, s.closed = make(chan jsonrpc.Message), make(chan struct{})
	s.close = sync.OnceValue(func() error {
		close(s.closed)
		return errors.Join(s.in.Close(), s.out.Close())
	})
	// A goroutine reads, because the read of some pipes cannot be interrupted.
	go s.readLines()
	return s, nil
}

// SessionID returns no id: the pipes have only one client.
func (s *stdio) SessionID() string { return "" }

func (s *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-s.messages:
		if !ok {
			return nil, s.readErr
		}
		return m, nil
	case <-s.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *stdio) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if answer, ok := m.(*jsonrpc.Response); ok && len(text) > smallAnswer {
		release, err := s.answers.Hold(token.Local.Name, int64(len(text)))
		if err != nil {
			// The error needs only a few bytes until the client reads it.
			return s.Write(ctx, errorResponse(answer.ID, jsonrpc.CodeInternalError, "%v", err))
		}
		defer release()
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err = s.out.Write(append(text, '\n'))
	return err
}

func (s *stdio) Close() error { return s.close() }

// readLines passes the client's messages to Read until the input ends.
func (s *stdio) readLines() {
	defer close(s.messages)
	in := bufio.NewReaderSize(s.in, 64<<10)
	for {
		line, tooLong, err := text.ReadLine(in, maxMessage)
		if tooLong {
			err = errors.Join(s.answer(errorResponse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the message is longer than %d bytes", maxMessage)), err)
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			err = errors.Join(s.deliver(line), err)
		}
		if err != nil {
			s.readErr = io.EOF // also for a broken pipe, as in the SDK's transport
			return
		}
	}
}

// deliver passes the messages of a line to Read, and answers invalid ones.
func (s *stdio) deliver(line []byte) error {
	each := []json.RawMessage{line}
	if line[0] == '[' {
		// A batch, as in the revision 2025-03-26. Each message gets its own answer.
		if err := json.Unmarshal(line, &each); err != nil || len(each) == 0 {
			return s.answer(errorResponse(jsonrpc.ID{}, jsonrpc.CodeParseError, "the line is not JSON, or is an empty list: send one message per line"))
		}
	}
	for _, text := range each {
		m, problem := parseMessage(text)
		if problem != nil {
			if err := s.answer(problem); err != nil {
				return err
			}
			continue
		}
		select {
		case s.messages <- m:
		case <-s.closed:
			return io.EOF
		}
	}
	return nil
}

func (s *stdio) answer(r *jsonrpc.Response) error { return s.Write(context.Background(), r) }

// parseMessage parses one message, or returns the error to answer with. The names of fields
// are case-sensitive: a program that reads "METHOD" as "method" sees another message than
// one that does not.
func parseMessage(text []byte) (jsonrpc.Message, *jsonrpc.Response) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, errorResponse(jsonrpc.ID{}, jsonrpc.CodeParseError, "the message is not a JSON object: %v", err)
	}
	id, err := parseID(fields["id"])
	if err != nil {
		return nil, errorResponse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "id: %v", err)
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return nil, errorResponse(id, jsonrpc.CodeInvalidRequest, `jsonrpc is not "2.0"`)
	}
	if raw, ok := fields["method"]; ok {
		var method string
		if err := json.Unmarshal(raw, &method); err != nil || method == "" {
			return nil, errorResponse(id, jsonrpc.CodeInvalidRequest, "method is not a string, or is empty")
		}
		return &jsonrpc.Request{ID: id, Method: method, Params: fields["params"]}, nil
	}
	if !id.IsValid() {
		return nil, errorResponse(id, jsonrpc.CodeInvalidRequest, "the message has neither a method nor an id")
	}
	response := &jsonrpc.Response{ID: id, Result: fields["result"]}
	if raw, ok := fields["error"]; ok {
		var failure jsonrpc.Error
		if err := json.Unmarshal(raw, &failure); err != nil {
			return nil, errorResponse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "error is not an object with a code and a message")
		}
		response.Error = &failure
	}
	return response, nil
}

// parseID parses an id, which the answer repeats: a string, or an integer that a float64 can
// represent.
func parseID(raw json.RawMessage) (jsonrpc.ID, error) {
	if len(raw) == 0 {
		return jsonrpc.ID{}, nil
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return jsonrpc.ID{}, err
	}
	if n, isNumber := value.(float64); isNumber && (n != math.Trunc(n) || math.Abs(n) > 1<<53) {
		return jsonrpc.ID{}, fmt.Errorf("%s is not a whole number below 2^53", raw)
	}
	id, err := jsonrpc.MakeID(value)
	if err != nil {
		return id, errors.New("it is neither a string nor a number")
	}
	return id, nil
}

// errorResponse returns the answer to an invalid message. It has no id if that of the
// message is unknown.
func errorResponse(id jsonrpc.ID, code int64, format string, args ...any) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}
