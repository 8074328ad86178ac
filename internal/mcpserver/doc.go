// Package mcpserver is the frontend for agents: a server of the Model Context Protocol over
// the service that all frontends share.
//
//	s := mcpserver.New(mcpserver.Options{Service: svc, Version: "1.2", Logger: log})
//	err := s.ServeStdio(ctx, os.Stdin, os.Stdout)  // until stdin ends
//	mux.Handle("/mcp", s.StreamableHandler())      // streamable HTTP, every revision
//	mux.Handle("/sse", s.SSEHandler())             // for clients from before 2025
//	s.Close()                                      // ends the sessions that are left
//
// Over HTTP, what stands around the handlers finds out who calls, and says so with
// token.WithCaller. A request without that is refused: nobody is not "local", and a frontend
// that was put up without its guard must stay shut.
//
// Four tools are offered: run_python, run_command (where commands are allowed),
// check_python and sandbox_info. None has a parameter by which its caller could widen
// what the operator allows; a test holds the list of parameters.
//
// What a guest does is an answer, with isError if it failed. What we cannot do is an
// answer with isError, too, since a model reads answers and acts on them, while the
// errors of the protocol are for the program between us.
//
// Nothing of a run hangs on the session of the protocol, which its newest revision does
// not have: a run ends by its own limits, when it is canceled, and when a client is known
// to be gone (stdin ended, the stream of /sse or of a request without a session broke, a
// session was deleted). A client with a session that just vanishes leaves a run that
// ends by its limits.
package mcpserver
