//go:build !conformance

package mcpserver

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Only builds for the conformance suite (-tags conformance) have its fixtures.

const hasFixtures = false

func fixtureOptions(o *mcp.ServerOptions) *mcp.ServerOptions { return o }

func addFixtures(*mcp.Server) {}
