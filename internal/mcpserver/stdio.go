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

// stdio is a client on two pipes, a message a line. The SDK has such a transport, which
// ends the session with the first line that it cannot read; this one says what is wrong
// with it, and reads on. It also reads each line once, where that one does it four times.
type stdio struct {
	in  io.ReadCloser
	out io.WriteCloser
	// answers bounds what waits to be written to a client that does not read.
	answers *admission.Answers

	heard  chan jsonrpc.Message
	failed error // why there is no more, when heard is closed
	closed chan struct{}
	close  func() error

	writing sync.Mutex
}

// smallAnswer is what need not be counted: it is as small as what is known of a call.
const smallAnswer = 64 << 10

// Connect begins to read.
func (s *stdio) Connect(context.Context) (mcp.Connection, error) {
	s.heard, s.closed = make(chan jsonrpc.Message), make(chan struct{})
	s.close = sync.OnceValue(func() error {
		close(s.closed)
		return errors.Join(s.in.Close(), s.out.Close())
	})
	// In a goroutine of its own: not every pipe can be read until somebody says stop.
	go s.listen()
	return s, nil
}

// SessionID: there is one client, and no other could take its place.
func (s *stdio) SessionID() string { return "" }

func (s *stdio) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-s.heard:
		if !ok {
			return nil, s.failed
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
			// It says so in a few bytes, which the client will read one day.
			return s.Write(ctx, wrong(answer.ID, jsonrpc.CodeInternalError, "%v", err))
		}
		defer release()
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err = s.out.Write(append(text, '\n'))
	return err
}

func (s *stdio) Close() error { return s.close() }

// listen hands on what the client says, until it says no more.
func (s *stdio) listen() {
	defer close(s.heard)
	in := bufio.NewReaderSize(s.in, 64<<10)
	for {
		line, tooLong, err := text.ReadLine(in, maxMessage)
		if tooLong {
			err = errors.Join(s.answer(wrong(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the message is longer than %d bytes", maxMessage)), err)
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			err = errors.Join(s.hand(line), err)
		}
		if err != nil {
			s.failed = io.EOF // as the SDK has it, also for a pipe that broke
			return
		}
	}
}

// hand passes the messages of a line to the reader, and answers invalid ones.
func (s *stdio) hand(line []byte) error {
	each := []json.RawMessage{line}
	if line[0] == '[' {
		// A batch, which the revision of March 2025 has: taken apart, and answered so.
		if err := json.Unmarshal(line, &each); err != nil || len(each) == 0 {
			return s.answer(wrong(jsonrpc.ID{}, jsonrpc.CodeParseError, "this is not JSON, or an empty list: send one message a line"))
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
		case s.heard <- m:
		case <-s.closed:
			return io.EOF
		}
	}
	return nil
}

func (s *stdio) answer(r *jsonrpc.Response) error { return s.Write(context.Background(), r) }

// parseMessage reads one message, or returns the answer to its sender. Names are compared
// as they are: what reads "METHOD" as "method" sees another message than its neighbour.
func parseMessage(text []byte) (jsonrpc.Message, *jsonrpc.Response) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, wrong(jsonrpc.ID{}, jsonrpc.CodeParseError, "this is not a JSON object: %v", err)
	}
	id, err := parseID(fields["id"])
	if err != nil {
		return nil, wrong(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "id: %v", err)
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return nil, wrong(id, jsonrpc.CodeInvalidRequest, `jsonrpc is not "2.0"`)
	}
	if raw, ok := fields["method"]; ok {
		var method string
		if err := json.Unmarshal(raw, &method); err != nil || method == "" {
			return nil, wrong(id, jsonrpc.CodeInvalidRequest, "method is not the name of one")
		}
		return &jsonrpc.Request{ID: id, Method: method, Params: fields["params"]}, nil
	}
	if !id.IsValid() {
		return nil, wrong(id, jsonrpc.CodeInvalidRequest, "the message has neither a method nor an id")
	}
	response := &jsonrpc.Response{ID: id, Result: fields["result"]}
	if raw, ok := fields["error"]; ok {
		var failure jsonrpc.Error
		if err := json.Unmarshal(raw, &failure); err != nil {
			return nil, wrong(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "error is not an object with a code and a message")
		}
		response.Error = &failure
	}
	return response, nil
}

// parseID reads what an answer repeats: text, or a whole number that every program can
// hold.
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

// wrong is the answer to what is no message. Where its id is not known, there is none.
func wrong(id jsonrpc.ID, code int64, format string, args ...any) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}}
}
