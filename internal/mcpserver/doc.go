// Package mcpserver is the frontend for agents: a Model Context Protocol server for the
// service that all frontends share.
//
//	s := mcpserver.New(mcpserver.Options{Service: svc, Version: "1.2", Logger: log})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)  // until stdin ends
//	mux.Handle("/mcp", s.StreamableHandler())      // streamable HTTP, every revision
//	mux.Handle("/sse", s.SSEHandler())             // for clients from before 2025
//	s.Close()                                      // ends the remaining sessions
//
// Over HTTP, the code that wraps the handlers authenticates callers and passes them on with
// token.WithCaller. A request without a caller is refused, not treated as "local": handlers
// that were mounted without authentication must not serve anybody.
//
// The tools are run_python, run_command (where commands are allowed), check_python and
// sandbox_info, and list_files, read_file and write_file for the files of sessions. No tool has
// a parameter with which the caller could widen what the operator allows; a test pins the list
// of parameters.
//
// The outcome of a guest is a tool result, with isError if the guest failed. Errors of
// cordon are also tool results with isError, because the model reads those and acts on
// them. Protocol errors reach only the client program.
//
// run_python keeps state in sessions, by names that the model chooses. They belong to the
// caller's token, or to the MCP connection of callers without one, and are closed with it. A
// request that has neither cannot use them. The service bounds how many are open. Their files
// are also resources.
//
// A run does not depend on a protocol session, because the newest revision has none. A run
// ends at its own limits, when it is canceled, and when its client is known to be gone
// (stdin ended, the stream of /sse or of a request without a session broke, a session was
// deleted). If a client with a session disappears without notice, its run ends at its
// limits.
package mcpserver
