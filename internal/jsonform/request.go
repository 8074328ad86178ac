// Package jsonform has the JSON form of requests and results that HTTP and JSON lines share:
// a strict parser, and an encoder that copies no large data.
package jsonform

import (
	"encoding/json"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Request is the JSON form of a run.Request: flat, and without the fields that JSON cannot
// express (modules, tools, streams).
type Request struct {
	ID                string              `json:"id,omitempty"`
	Script            string              `json:"script,omitempty"`
	Deterministic     bool                `json:"deterministic,omitempty"`
	Command           []string            `json:"command,omitempty"`
	Workspace         string              `json:"workspace,omitempty"`
	WorkspaceReadOnly bool                `json:"workspace_read_only,omitempty"`
	Env               map[string]string   `json:"env,omitempty"`
	Name              string              `json:"name,omitempty"`
	Context           json.RawMessage     `json:"context,omitempty"`
	Stdin             string              `json:"stdin,omitempty"`
	Variables         []string            `json:"variables,omitempty"`
	Args              []string            `json:"args,omitempty"`
	Files             []File              `json:"files,omitempty"`
	Artifacts         []string            `json:"artifacts,omitempty"`
	Restricted        bool                `json:"restricted,omitempty"`
	Tier              policy.Tier         `json:"tier,omitempty"`
	Trust             policy.Trust        `json:"trust,omitempty"`
	Limits            policy.Limits       `json:"limits,omitzero"`
	OnOutputLimit     policy.OutputAction `json:"on_output_limit,omitempty"`
}

// Run returns the run.Request. Its Validate refuses fields of a script together with a
// command.
func (r Request) Run() run.Request {
	return run.Request{
		ID: r.ID,
		Script: run.Script{
			Source: r.Script, Name: r.Name, Context: contextOf(r.Context), Variables: r.Variables, Args: r.Args, Files: filesOf(r.Files), Artifacts: r.Artifacts,
			Restricted: r.Restricted, Deterministic: r.Deterministic,
		},
		Command: run.Command{Args: r.Command, Workspace: r.Workspace, WorkspaceReadOnly: r.WorkspaceReadOnly, Env: r.Env},
		Stdin:   r.Stdin, Tier: r.Tier, Trust: r.Trust, Limits: r.Limits, OnOutputLimit: r.OnOutputLimit,
	}
}

// contextOf leaves the context as it is: the guest's Python gets it from its text.
func contextOf(text json.RawMessage) any {
	if text == nil || string(text) == "null" {
		return nil
	}
	return text
}
