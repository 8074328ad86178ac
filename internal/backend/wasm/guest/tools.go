package guest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"

	"github.com/cordon-sandbox/cordon/run"
)

// question is a request of a guest to call a tool.
type question struct {
	Tool string `json:"tool"`
	run.ToolCall
}

// reply is the answer. One of the fields is set.
type reply struct {
	OK    json.RawMessage `json:"ok,omitempty"`
	Error *replyError     `json:"error,omitempty"`
}

// replyError becomes an exception in the guest. Type says what failed: the tool or the call.
type replyError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

const (
	errTool = "tool"
	errCall = "call"
)

// ask reads a question from the guest's memory and returns the length of the answer, or -1 if
// the question is outside the memory.
func ask(ctx context.Context, m api.Module, stack []uint64) {
	g := guestOf(ctx)
	at, length := uint32(stack[0]), uint32(stack[1])
	text, ok := g.read(m, at, length)
	if !ok || length > run.MaxPayload {
		stack[0] = uint64(uint32(1<<32 - 1))
		return
	}
	g.reply = g.answerTo(text)
	stack[0] = uint64(len(g.reply))
}

// answer copies the answer to an address in the guest's memory.
func answer(ctx context.Context, m api.Module, stack []uint64) {
	g := guestOf(ctx)
	if room, ok := g.read(m, uint32(stack[0]), uint32(len(g.reply))); ok {
		copy(room, g.reply)
	} else {
		g.trap = "the answer of a tool does not fit into the memory of the guest"
		g.stop(run.Trapped)
	}
	g.reply = nil
}

// read returns a part of the guest's memory.
func (g *Guest) read(m api.Module, at, length uint32) ([]byte, bool) {
	if g.Memory.Region == nil {
		return nil, false
	}
	return m.Memory().Read(at, length)
}

// maxQuoted bounds the part of a question that an error repeats. A question may be large, and
// quoting it, and quoting that as JSON, takes several times as much memory.
const maxQuoted = 200

// answerTo keeps no reference to the question, which is in the guest's memory: encoding/json
// copies the arguments of tools.
func (g *Guest) answerTo(text []byte) []byte {
	if g.Answer != nil {
		if answer, ours := g.Answer(text); ours {
			return answer
		}
	}
	value, err := g.callTool(text)
	r := reply{OK: value, Error: err}
	out, failed := json.Marshal(r)
	if failed != nil || len(out) > run.MaxPayload {
		out, _ = json.Marshal(reply{Error: &replyError{errTool, "the tool's answer is not JSON, or too large"}}) // of strings alone
	}
	return out
}

// callTool calls the tool in a new goroutine: a tool that ignores its context must not delay
// the end of the guest.
func (g *Guest) callTool(text []byte) (json.RawMessage, *replyError) {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, &replyError{errCall, fmt.Sprintf("the question is not JSON: %.*s", maxQuoted, err)}
	}
	tool, there := g.tools[q.Tool]
	if !there {
		return nil, &replyError{errCall, fmt.Sprintf("there is no tool %.*q: there are %s", maxQuoted, q.Tool, namesOf(g.tools))}
	}
	if g.calls == nil {
		g.calls = map[string]int{}
	}
	budget := tool.MaxCalls
	if budget <= 0 {
		budget = run.DefaultToolCalls
	}
	if g.calls[q.Tool]++; g.calls[q.Tool] > budget {
		return nil, &replyError{errCall, fmt.Sprintf("the tool %q may be called %d times in a run", q.Tool, budget)}
	}
	ctx, cancel := context.WithDeadline(g.ctx, g.deadline)
	defer cancel()
	type outcome struct {
		value json.RawMessage
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := runTool(ctx, tool, q.ToolCall)
		done <- outcome{value, err}
	}()
	result := wait(g, done)
	if result.err != nil {
		return nil, &replyError{errTool, result.err.Error()}
	}
	return result.value, nil
}

// runTool calls a tool. A panic is an error of the tool.
func runTool(ctx context.Context, tool run.Tool, with run.ToolCall) (value json.RawMessage, err error) {
	defer func() {
		if recover() != nil {
			value, err = nil, fmt.Errorf("the tool panicked")
		}
	}()
	result, err := tool.Call(ctx, with)
	if err != nil {
		return nil, err
	}
	return json.Marshal(result)
}

func namesOf(tools map[string]run.Tool) string {
	if len(tools) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(tools)), ", ")
}
