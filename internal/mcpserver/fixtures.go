//go:build !conformance

package mcpserver

import "github.com/modelcontextprotocol/go-sdk/mcp"

// What the conformance suite calls is for its builds alone (-tags conformance).

const hasFixtures = false

func fixtureOptions(o *mcp.ServerOptions) *mcp.ServerOptions { return o }

func addFixtures(*mcp.Server) {}
