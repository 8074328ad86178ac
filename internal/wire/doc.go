// Package wire is what the host and a worker say to each other: frames on a
// stream socket, and the values inside them.
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
// With 'V' in place of 'S', the script is judged and does not run. With 'H' it is
// compiled and kept:
//
//	│  ─── 'H' hook: script … ─────────────▶ │
//	│  ◀── 'D' done: it can be called ────── │
//	│  ─── 'K' call: number, arguments … ──▶ │
//	│                                        │  the guest runs
//	│  ◀── 'D' done: number, result … ────── │  and so on, up to an 'L' in
//	│                                        │  place of a 'D'
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
// milliseconds. Version 2 and no other: later ones share objects by reference,
// and what they write depends on reference counts. A reference lets a few
// bytes stand for a huge value; without references the size of a message
// bounds the value that it holds.
//
// Only the host's side of marshal is safe to use on a stranger's bytes. CPython
// documents marshal.loads as unsafe on untrusted data; here it reads nothing
// but what the host wrote.
//
// # Who is trusted
//
// The host is; what it encodes is checked so that its caller gets an error
// that names the place (context.a[3].b). The worker is not: it may send
// anything, at any length and in any pieces. Frames have a maximum that is
// checked before memory is taken, counts are checked against the bytes that
// are really there, nesting is bounded, and so is the JSON that comes out.
// No input makes this package panic; FuzzDecode and FuzzFrame look for one.
//
// # Errors
//
//	ErrMalformed   not what an honest worker writes
//	ErrTooLarge    above a maximum of bytes, digits or items
//	ErrTooDeep     nested more than run.MaxDepth deep
//	ErrValue       well-formed, but not a JSON value (also *TypeError)
//	io.EOF         the other side went away between two frames
//	io.ErrUnexpectedEOF  … or within one: it was killed or crashed
//
// # What this does not stop
//
// A worker that lies. What a frame says after the start is what the guest
// wants it to say; only a report that came before the start can be believed.
// Time is not bounded here either: set a deadline on the socket.
package wire
