//go:build conformance

//lint:file-ignore SA1019 The suite also tests deprecated features.

package mcpserver

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// In the newest revision, a tool that needs more input answers with requests for it, and the
// client calls it again with the responses. The client also sends the tool's state back,
// which is authenticated.

func ask(field, kind string) *mcp.ElicitParams {
	schema := fmt.Sprintf(`{"type": "object", "properties": {%q: {"type": %q}}, "required": [%[1]q]}`, field, kind)
	return &mcp.ElicitParams{Message: "Please say your " + field, RequestedSchema: json.RawMessage(schema)}
}

func sample() *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 50, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "What is the capital of France?"}}}}
}

func inputRequired(state string, requests mcp.InputRequestMap) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}
}

// accepted returns what the user filled in, or nil.
func accepted(given mcp.InputResponseMap, name string) map[string]any {
	if r, ok := given[name].(*mcp.ElicitResult); ok && r != nil && r.Action == "accept" {
		return r.Content
	}
	return nil
}

func sampled(given mcp.InputResponseMap, name string) (text string, there bool) {
	r, _ := given[name].(*mcp.CreateMessageWithToolsResult)
	if r == nil {
		return "", false
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, true
}

// seals authenticates the state that the client sends back.
type seals struct{ key []byte }

func (s seals) sum(text string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

func (s seals) seal(text string) string { return s.sum(text) + ":" + text }

func (s seals) open(state string) (text string, err error) {
	seal, text, _ := strings.Cut(state, ":")
	if !hmac.Equal([]byte(seal), []byte(s.sum(text))) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState was changed"}
	}
	return text, nil
}

func addRoundFixtures(s *mcp.Server) {
	seals := seals{[]byte(rand.Text())}
	round := func(name string, h func(p *mcp.CallToolParamsRaw, has *mcp.ClientCapabilities) (*mcp.CallToolResult, error)) {
		fixture(s, "test_input_required_result_"+name, "", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			has := r.ClientCapabilities()
			if has == nil {
				has = &mcp.ClientCapabilities{}
			}
			return h(r.Params, has)
		})
	}
	type params = *mcp.CallToolParamsRaw
	type capabilities = *mcp.ClientCapabilities
	round("elicitation", func(p params, _ capabilities) (*mcp.CallToolResult, error) {
		if name, _ := accepted(p.InputResponses, "user_name")["name"].(string); name != "" {
			return textResult("Hello, %s!", name), nil
		}
		return inputRequired("", mcp.InputRequestMap{"user_name": ask("name", "string")}), nil
	})
	round("sampling", func(p params, _ capabilities) (*mcp.CallToolResult, error) {
		if text, there := sampled(p.InputResponses, "capital_question"); there {
			return textResult("The model says: %s", text), nil
		}
		return inputRequired("", mcp.InputRequestMap{"capital_question": sample()}), nil
	})
	round("list_roots", func(p params, _ capabilities) (*mcp.CallToolResult, error) {
		if roots, ok := p.InputResponses["client_roots"].(*mcp.ListRootsResult); ok && roots != nil {
			return textResult("%d roots", len(roots.Roots)), nil
		}
		return inputRequired("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}}), nil
	})
	for _, name := range []string{"request_state", "tampered_state"} {
		round(name, func(p params, _ capabilities) (*mcp.CallToolResult, error) {
			if p.RequestState != "" {
				if _, err := seals.open(p.RequestState); err != nil {
					return nil, err
				}
				if accepted(p.InputResponses, "confirm") != nil {
					return textResult("state-ok"), nil
				}
			}
			return inputRequired(seals.seal(name), mcp.InputRequestMap{"confirm": ask("ok", "boolean")}), nil
		})
	}
	round("multiple_inputs", func(p params, _ capabilities) (*mcp.CallToolResult, error) {
		name, _ := accepted(p.InputResponses, "user_name")["name"].(string)
		greeting, greeted := sampled(p.InputResponses, "greeting")
		roots, rooted := p.InputResponses["client_roots"].(*mcp.ListRootsResult)
		if name != "" && greeted && rooted {
			return textResult("%s %s, %d roots", greeting, name, len(roots.Roots)), nil
		}
		return inputRequired(seals.seal("many"), mcp.InputRequestMap{"user_name": ask("name", "string"), "greeting": sample(), "client_roots": &mcp.ListRootsParams{}}), nil
	})
	round("multi_round", func(p params, _ capabilities) (*mcp.CallToolResult, error) {
		if p.RequestState == "" {
			return inputRequired(seals.seal(""), mcp.InputRequestMap{"step1": ask("name", "string")}), nil
		}
		name, err := seals.open(p.RequestState)
		if err != nil {
			return nil, err
		}
		if name == "" {
			name, _ = accepted(p.InputResponses, "step1")["name"].(string)
			return inputRequired(seals.seal(name), mcp.InputRequestMap{"step2": ask("color", "string")}), nil
		}
		return textResult("%s likes %v", name, accepted(p.InputResponses, "step2")["color"]), nil
	})
	round("capabilities", func(p params, has capabilities) (*mcp.CallToolResult, error) {
		wanted := mcp.InputRequestMap{}
		if has.Elicitation != nil {
			wanted["user_name"] = ask("name", "string")
		}
		if has.Sampling != nil {
			wanted["greeting"] = sample()
		}
		if len(p.InputResponses) > 0 || len(wanted) == 0 {
			return textResult("nothing more is needed"), nil
		}
		return inputRequired("", wanted), nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "test_input_required_result_prompt", Description: "for the conformance suite"}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if given := accepted(r.Params.InputResponses, "user_context"); given != nil {
			return promptResult(&mcp.TextContent{Text: fmt.Sprintf("context: %v", given["context"])}), nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": ask("context", "string")}}, nil
	})
}
