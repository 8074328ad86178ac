// Package wire is the protocol between the host and a worker: frames on a stream socket,
// and the values inside them.
//
//	host (Go, trusted)                        worker (CPython, walled in)
//	        │                                        │
//	        │  ◀── 'R' ready, or the step that failed│  no guest code has run yet
//	        │  ─── 'S' start: script, context … ───▶ │
//	        │                                        │  the guest runs: from here on
//	        │                                        │  every byte may be the guest's
//	        │  ◀── 'D' done: result, error … ─────── │
//	        │                                        │  the worker dies
//
// With 'V' instead of 'S', the script is checked and does not run. With 'H' it is
// compiled and kept:
//
//	│  ─── 'H' hook: script … ─────────────▶ │
//	│  ◀── 'D' done: it can be called ────── │
//	│  ─── 'K' call: number, arguments … ──▶ │
//	│                                        │  the guest runs
//	│  ◀── 'D' done: number, result … ────── │  and so on, until 'L' is sent
//	│                                        │  instead of 'D'
//
// # Tasks
//
//   - Send: [AppendListFrame] builds a whole frame from [Field]s; [AppendValue]
//     turns one Go value into marshal.
//   - Receive: [ReadFrame], then [DecodeDict] to split the report into fields,
//     then [Raw.Text], [Raw.Int] … for ours and [Raw.AppendJSON] for the
//     guest's own value.
//
// # Why marshal
//
// Values travel as CPython's marshal, format version 2. The module is built
// into the interpreter and written in C, while importing json costs each run
// milliseconds. Only version 2: later ones share objects by reference, and what they
// write depends on reference counts. A reference lets a few bytes represent a huge value;
// without references the size of a message bounds the value in it.
//
// The host's reader of marshal is safe on untrusted bytes. CPython's is not: it documents
// marshal.loads as unsafe on untrusted data. Here it only reads what the host wrote.
//
// # Trust
//
// The host is trusted; what it encodes is checked so that its caller gets an error with a
// path (context.a[3].b). The worker is not trusted: it may send anything, at any length
// and in any pieces. Frames have a maximum that is checked before memory is allocated,
// counts are checked against the bytes that arrived, and nesting and the resulting JSON
// are bounded. No input makes this package panic; FuzzDecode and FuzzFrame search for
// one.
//
// # Errors
//
//	ErrMalformed   not what an honest worker writes
//	ErrTooLarge    above a maximum of bytes, digits or items
//	ErrTooDeep     nested more than run.MaxDepth deep
//	ErrValue       well-formed, but not a JSON value (also *TypeError)
//	io.EOF         the other side closed the stream between two frames
//	io.ErrUnexpectedEOF  … or within one: it was killed or crashed
//
// # What this does not stop
//
// A worker that lies. After the start, a frame says what the guest wants it to say; only
// a report from before the start can be trusted. Time is not bounded here either: set a
// deadline on the socket.
package wire
