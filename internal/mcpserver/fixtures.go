//go:build !conformance

package mcpserver

import "github.com/modelcontextprotocol/go-sdk/mcp"

// addFixtures adds nothing: what the conformance suite calls is for its builds alone.
func addFixtures(*mcp.Server) {}
