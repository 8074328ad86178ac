//go:build conformance

//lint:file-ignore SA1019 The suite also tests deprecated features.

package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official conformance suite calls tools, prompts and resources with fixed names and
// checks the answers. They are here so that the suite tests the code in front of the SDK:
// authentication, the choice between a session and none, limits on bodies and hosts.

const hasFixtures = true

func fixtureOptions(o *mcp.ServerOptions) *mcp.ServerOptions {
	o.Capabilities.Tools, o.Capabilities.Resources = nil, nil // with those of the suite, the lists change
	o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
	}
	o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	return o
}

func addFixtures(s *mcp.Server) {
	for _, add := range []func(*mcp.Server){addContentFixtures, addAskingFixtures, addStatelessFixtures, addRoundFixtures, addResourceFixtures, addPromptFixtures} {
		add(s)
	}
}

// fixture registers a tool. An empty schema allows any arguments.
func fixture(s *mcp.Server, name, schema string, h mcp.ToolHandler) {
	if schema == "" {
		schema = `{"type": "object"}`
	}
	s.AddTool(&mcp.Tool{Name: name, Description: "for the conformance suite", InputSchema: json.RawMessage(schema)}, h)
}

func contentResult(content ...mcp.Content) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: content}
}

func textResult(format string, args ...any) *mcp.CallToolResult {
	return contentResult(&mcp.TextContent{Text: fmt.Sprintf(format, args...)})
}

// always returns a tool that always gives the same answer.
func always(r *mcp.CallToolResult) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		copied := *r
		return &copied, nil
	}
}

// One red pixel, and one sample of silence.
var (
	pixel   = decoded("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==")
	silence = decoded("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==")
)

func decoded(text string) []byte {
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil // then the suite reports an empty image
	}
	return data
}

func image() *mcp.ImageContent { return &mcp.ImageContent{Data: pixel, MIMEType: "image/png"} }

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "text of " + uri}}
}

func addContentFixtures(s *mcp.Server) {
	fixture(s, "test_simple_text", "", always(textResult("This is a simple text response for testing.")))
	fixture(s, "test_image_content", "", always(contentResult(image())))
	fixture(s, "test_audio_content", "", always(contentResult(&mcp.AudioContent{Data: silence, MIMEType: "audio/wav"})))
	fixture(s, "test_embedded_resource", "", always(contentResult(embedded("test://embedded-resource"))))
	fixture(s, "test_multiple_content_types", "", always(contentResult(&mcp.TextContent{Text: "text, an image, a resource"}, image(), embedded("test://mixed-content-resource"))))
	fixture(s, "test_error_handling", "", always(&mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "This tool intentionally returns an error for testing"}}}))
	fixture(s, "test_tool_with_logging", "", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
			if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: text}); err != nil {
				return nil, err
			}
			pause(ctx, 50*time.Millisecond)
		}
		return textResult("logged"), nil
	})
	fixture(s, "test_tool_with_progress", "", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		token := r.Params.GetProgressToken()
		for _, at := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: at, Total: 100}); err != nil {
				return nil, err
			}
			pause(ctx, 50*time.Millisecond)
		}
		return textResult("%v", token), nil
	})
	fixture(s, "test_reconnection", "", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Extra != nil && r.Extra.CloseSSEStream != nil {
			r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		}
		pause(ctx, 100*time.Millisecond)
		return textResult("You came back."), nil
	})
	const schema2020 = `{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
			"contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"}, "email": {"type": "string"}},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
		"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
		"then": {"required": ["phone"]}, "else": {"required": ["email"]}, "additionalProperties": false}`
	fixture(s, "json_schema_2020_12_tool", schema2020, always(textResult("called")))
}

// pause waits, unless the call is canceled.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// addAskingFixtures adds tools that send requests to the client while they run, which
// revisions with sessions allow.
func addAskingFixtures(s *mcp.Server) {
	fixture(s, "test_sampling", `{"type": "object", "properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}`,
		func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Prompt string }
			if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
				return nil, err
			}
			got, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
				MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: in.Prompt}}},
			})
			if err != nil {
				return errorResult(err), nil
			}
			text, _ := got.Content.(*mcp.TextContent)
			if text == nil {
				text = &mcp.TextContent{}
			}
			return textResult("LLM response: %s", text.Text), nil
		})
	addElicitation := func(name, arguments, schema string) {
		fixture(s, name, arguments, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			in := struct{ Message string }{"Please fill this in"}
			if len(r.Params.Arguments) > 0 {
				if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
					return nil, err
				}
			}
			got, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: in.Message, RequestedSchema: json.RawMessage(schema)})
			if err != nil {
				return errorResult(err), nil
			}
			return textResult("action=%s content=%v", got.Action, got.Content), nil
		})
	}
	addElicitation("test_elicitation", `{"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}`,
		`{"type": "object", "properties": {"username": {"type": "string"}, "email": {"type": "string"}}, "required": ["username"]}`)
	addElicitation("test_elicitation_sep1034_defaults", "", `{"type": "object", "properties": {
		"name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30}, "score": {"type": "number", "default": 95.5},
		"status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}, "verified": {"type": "boolean", "default": true}}}`)
	const titled = `[{"const": "value1", "title": "First Option"}, {"const": "value2", "title": "Second Option"}, {"const": "value3", "title": "Third Option"}]`
	addElicitation("test_elicitation_sep1330_enums", "", `{"type": "object", "properties": {
		"untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
		"titledSingle": {"type": "string", "oneOf": `+titled+`},
		"legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]},
		"untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
		"titledMulti": {"type": "array", "items": {"anyOf": `+titled+`}}}}`)
}

func errorResult(err error) *mcp.CallToolResult {
	r := textResult("%v", err)
	r.IsError = true
	return r
}

// addStatelessFixtures adds the tools of the scenarios for the newest revision.
func addStatelessFixtures(s *mcp.Server) {
	fixture(s, "test_x_mcp_header", `{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}}}`,
		always(textResult("called")))
	fixture(s, "test_missing_capability", "", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if has := r.ClientCapabilities(); has != nil && has.Sampling != nil {
			return textResult("the client can sample"), nil
		}
		needed, err := json.Marshal(mcp.MissingRequiredClientCapabilityData{
			RequiredCapabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}},
		})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeMissingRequiredClientCapabilities, Message: "this needs a client that can sample", Data: needed}
	})
	fixture(s, "test_streaming_elicitation", "", always(textResult("an answer and nothing else")))
	fixture(s, "test_logging_tool", "", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "called"}); err != nil {
			return nil, err
		}
		return textResult("logged, if the client wants logs"), nil
	})
	fixture(s, "test_trigger_tool_change", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		fixture(s, "test_appeared", "", always(textResult("here")))
		return textResult("the list of tools has changed"), nil
	})
	fixture(s, "test_trigger_prompt_change", "", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.AddPrompt(&mcp.Prompt{Name: "test_appeared", Description: "for the conformance suite"}, promptOf("here"))
		return textResult("the list of prompts has changed"), nil
	})
}

func addResourceFixtures(s *mcp.Server) {
	reads := func(contents func(uri string) *mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents(r.Params.URI)}}, nil
		}
	}
	plain := func(uri string) *mcp.ResourceContents {
		return &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "text of " + uri}
	}
	s.AddResource(&mcp.Resource{Name: "static-text", URI: "test://static-text", MIMEType: "text/plain"}, reads(plain))
	s.AddResource(&mcp.Resource{Name: "watched", URI: "test://watched-resource", MIMEType: "text/plain"}, reads(plain))
	s.AddResource(&mcp.Resource{Name: "static-binary", URI: "test://static-binary", MIMEType: "image/png"}, reads(func(uri string) *mcp.ResourceContents {
		return &mcp.ResourceContents{URI: uri, MIMEType: "image/png", Blob: pixel}
	}))
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"}, reads(func(uri string) *mcp.ResourceContents {
		id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
		return &mcp.ResourceContents{URI: uri, MIMEType: "application/json", Text: fmt.Sprintf(`{"id": %q, "templateTest": true}`, id)}
	}))
}

func promptOf(text string) mcp.PromptHandler {
	return func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return promptResult(&mcp.TextContent{Text: text}), nil
	}
}

func promptResult(contents ...mcp.Content) *mcp.GetPromptResult {
	r := &mcp.GetPromptResult{Description: "for the conformance suite"}
	for _, c := range contents {
		r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return r
}

func addPromptFixtures(s *mcp.Server) {
	arguments := func(names ...string) (all []*mcp.PromptArgument) {
		for _, name := range names {
			all = append(all, &mcp.PromptArgument{Name: name, Description: name, Required: true})
		}
		return all
	}
	s.AddPrompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "for the conformance suite"}, promptOf("This is a simple prompt for testing."))
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "for the conformance suite", Arguments: arguments("arg1", "arg2")},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return promptResult(&mcp.TextContent{Text: fmt.Sprintf("arg1='%s', arg2='%s'", r.Params.Arguments["arg1"], r.Params.Arguments["arg2"])}), nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "for the conformance suite", Arguments: arguments("resourceUri")},
		func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return promptResult(embedded(r.Params.Arguments["resourceUri"]), &mcp.TextContent{Text: "Look at the resource."}), nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "for the conformance suite"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return promptResult(image(), &mcp.TextContent{Text: "Look at the image."}), nil
	})
}
