package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// rpcAnswer has the parts of an answer that these tests read.
type rpcAnswer struct {
	ID    any
	Error *struct {
		Code    int
		Message string
	}
	Result map[string]any
}

func (c *stdioClient) ask(t *testing.T, line string) (a rpcAnswer) {
	t.Helper()
	c.send(t, line)
	text := c.receive(t)
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return a
}

// A line that is not a valid message is answered with an error. The session goes on, so
// that calls in it are not lost.
func TestStdioAnswersWhatIsNoMessage(t *testing.T) {
	c := startStdio(t, fakeServer(t, nil))
	c.send(t, initializeLine)
	c.receive(t)
	c.send(t, initializedLine)
	for _, row := range []struct {
		line string
		id   any
		code int
		want string
	}{
		{`{"jsonrpc":"2.0","id":2,`, nil, -32700, "not a JSON object"},
		{`hello`, nil, -32700, "not a JSON object"},
		{`"text"`, nil, -32700, "not a JSON object"},
		{`{"jsonrpc":"2.0","id":2,"method":"ping"} {}`, nil, -32700, "not a JSON object"},
		{`[]`, nil, -32700, "one message per line"},
		{`[{`, nil, -32700, "one message per line"},
		{`{"id":2,"method":"ping"}`, 2.0, -32600, "jsonrpc is not"},
		{`{"jsonrpc":"1.0","id":"x","method":"ping"}`, "x", -32600, "jsonrpc is not"},
		{`{"jsonrpc":"2.0","id":[],"method":"ping"}`, nil, -32600, "neither a string nor a number"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, nil, -32600, "whole number"},
		{`{"jsonrpc":"2.0","id":1e99,"method":"ping"}`, nil, -32600, "whole number"},
		{`{"jsonrpc":"2.0","id":2,"method":7}`, 2.0, -32600, "method is not"},
		{`{"jsonrpc":"2.0","id":2,"method":""}`, 2.0, -32600, "method is not"},
		{`{"jsonrpc":"2.0","params":{}}`, nil, -32600, "neither a method nor an id"},
		{`{"jsonrpc":"2.0","METHOD":"ping"}`, nil, -32600, "neither a method nor an id"},
		{`{"jsonrpc":"2.0","id":2,"error":"no"}`, nil, -32600, "error is not"},
		{`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"` + strings.Repeat("x", 8<<20) + `"}}`, nil, -32600, "longer than 8388608 bytes"},
	} {
		got := c.ask(t, row.line)
		if got.Error == nil || got.Error.Code != row.code || got.ID != row.id || !strings.Contains(got.Error.Message, row.want) {
			t.Errorf("%.80s: %+v %+v; want id %v, code %d, %q", row.line, got, got.Error, row.id, row.code, row.want)
		}
	}
	// A response without a request is ignored.
	c.send(t, `{"jsonrpc":"2.0","id":99,"result":{}}`)
	c.send(t, "  \t ")
	if got := c.ask(t, " "+callLine(5, "print")+" \r"); got.ID != 5.0 || got.Result["isError"] == true || got.Result["content"] == nil {
		t.Errorf("afterwards: %+v %+v", got, got.Error)
	}
}

// A batch is answered message by message.
func TestStdioTakesBatchesApart(t *testing.T) {
	c := startStdio(t, fakeServer(t, nil))
	c.send(t, strings.Replace(initializeLine, "2025-11-25", "2025-03-26", 1))
	c.receive(t)
	c.send(t, initializedLine)
	c.send(t, `[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},7,`+callLine(8, "print")+`]`)
	answers := map[any]rpcAnswer{}
	for range 3 {
		var a rpcAnswer
		if err := json.Unmarshal(c.receive(t), &a); err != nil {
			t.Fatal(err)
		}
		answers[a.ID] = a
	}
	if answers[7.0].Error != nil || answers[8.0].Result["content"] == nil || answers[nil].Error == nil {
		t.Errorf("%+v", answers)
	}
}

// The last line is read even if the client does not end it.
func TestStdioReadsALastLineWithoutItsEnd(t *testing.T) {
	c := startStdio(t, fakeServer(t, nil))
	c.send(t, initializeLine)
	c.receive(t)
	if _, err := c.in.Write([]byte(`{"jsonrpc":"2.0","id":2,`)); err != nil {
		t.Fatal(err)
	}
	c.in.Close()
	if got := c.receive(t); !strings.Contains(string(got), "-32700") {
		t.Errorf("%s", got)
	}
}
