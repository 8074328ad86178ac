package mcpserver

import (
	"encoding/json"
	"regexp"
)

// schema is the part of JSON Schema that every client understands: one type each, no
// references and no unions.
type schema struct {
	Type        string            `json:"type,omitempty"`
	Description string            `json:"description,omitempty"`
	Properties  map[string]schema `json:"properties,omitempty"`
	Required    []string          `json:"required,omitempty"`
	Items       *schema           `json:"items,omitempty"`
	Minimum     *float64          `json:"minimum,omitempty"`
	Maximum     *float64          `json:"maximum,omitempty"`
	MinItems    int               `json:"minItems,omitempty"`
	Default     any               `json:"default,omitempty"`
	// Additional is false for arguments, which are checked, and absent for answers, which
	// may get more fields in the future.
	Additional *bool `json:"additionalProperties,omitempty"`

	unit string // of a number, for error messages
	// form is what a text must look like; nil means that any text is allowed. It is not sent,
	// because the description has it in words.
	form      *regexp.Regexp
	formWords string
}

// raw encodes the schema for the SDK.
func (s schema) raw() json.RawMessage {
	text, err := json.Marshal(s)
	if err != nil {
		return nil // cannot happen: a test encodes each schema
	}
	return text
}

func describedText(description string) schema {
	return schema{Type: "string", Description: description}
}
func integer(description string) schema { return schema{Type: "integer", Description: description} }
func flag(description string) schema    { return schema{Type: "boolean", Description: description} }

func listOf(item schema, description string) schema {
	return schema{Type: "array", Items: &item, Description: description}
}

func object(properties map[string]schema, required ...string) schema {
	return schema{Type: "object", Properties: properties, Required: required}
}
