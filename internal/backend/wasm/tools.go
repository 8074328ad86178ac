package wasm

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

// question is what a guest asks for.
type question struct {
	Tool string `json:"tool"`
	run.ToolCall
}

// reply is what it gets: one of the two.
type reply struct {
	OK    json.RawMessage `json:"ok,omitempty"`
	Error *replyError     `json:"error,omitempty"`
}

// replyError becomes an exception. Type says whose fault it is: the tool's, or that of
// the call.
type replyError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

const (
	errTool = "tool"
	errCall = "call"
)

// ask takes a question from the guest's memory, and gives the length of the answer; less
// than 0 for a question that is nowhere.
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

// answer copies the answer to where the guest has made room for it.
func answer(ctx context.Context, m api.Module, stack []uint64) {
	g := guestOf(ctx)
	if room, ok := g.read(m, uint32(stack[0]), uint32(len(g.reply))); ok {
		copy(room, g.reply)
	} else {
		g.trap = "the answer of a tool does not fit where the guest wants it"
		g.stop(run.Trapped)
	}
	g.reply = nil
}

// read gives a part of the guest's memory, if it has one.
func (g *guest) read(m api.Module, at, length uint32) ([]byte, bool) {
	if g.memory.region == nil {
		return nil, false
	}
	return m.Memory().Read(at, length)
}

// mostEchoed is how much of a question an error repeats. A guest may ask a lot, and what
// is quoted, and quoted again as JSON, takes several times as much of our memory.
const mostEchoed = 200

// answerTo keeps nothing of the question, which lies in the guest's memory: encoding/json
// copies what tools are given.
func (g *guest) answerTo(text []byte) []byte {
	if g.answer != nil {
		if answer, ours := g.answer(text); ours {
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

// callTool does what was asked for. Other goroutines do the work: a tool that does not
// look at its context must not hold up the end of the guest.
func (g *guest) callTool(text []byte) (json.RawMessage, *replyError) {
	var q question
	if err := json.Unmarshal(text, &q); err != nil {
		return nil, &replyError{errCall, fmt.Sprintf("the question is not JSON: %.*s", mostEchoed, err)}
	}
	tool, there := g.tools[q.Tool]
	if !there {
		return nil, &replyError{errCall, fmt.Sprintf("there is no tool %.*q: there are %s", mostEchoed, q.Tool, namesOf(g.tools))}
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
		value, err := use(ctx, tool, q.ToolCall)
		done <- outcome{value, err}
	}()
	came := wait(g, done)
	if came.err != nil {
		return nil, &replyError{errTool, came.err.Error()}
	}
	return came.value, nil
}

// use calls a tool. One that panics has failed, and nobody else.
func use(ctx context.Context, tool run.Tool, with run.ToolCall) (value json.RawMessage, err error) {
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
