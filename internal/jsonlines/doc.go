// Package jsonlines is the frontend for programs that talk to cordon through pipes, such as
// the Python package. Each line in and each line out is one JSON object. An answer has the
// id of its request, and is written as soon as it is ready. Every answer begins with the
// version of its form, "v": 1.
//
//	{"id": "a", "script": "result = 6 * 7"}        →  a run.Result
//	{"id": "b", "check": {"script": "import os"}}  →  {"v": 1, "id": "b", "status": "ok", "findings": […]}
//	{"id": "c", "hook": {"script": "…"}}           →  {"v": 1, "id": "c", "status": "ok", "hook": "1"}
//	{"id": "d", "call": {"hook": "1"}}             →  a run.Result
//	{"id": "e", "close": "1"}                      →  {"v": 1, "id": "e", "status": "ok"}
//	{"cancel": "a"}                                →  no answer; the answer to line a says canceled
//
// A session keeps its globals from one step to the next:
//
//	{"id": "f", "session": {"restricted": true}}               →  {"v": 1, "id": "f", "status": "ok", "session": "s1"}
//	{"id": "g", "step": {"session": "s1", "script": "x = 1"}}  →  a run.Result with "step"
//	{"interrupt": "s1"}                                        →  no answer; the answer to its running step says canceled
//	{"id": "h", "close": "s1"}                                 →  {"v": 1, "id": "h", "status": "ok"}
//
// Steps of one session run in the order of their lines. A cancel of a step interrupts it, too.
// A close cancels the steps that have no answer yet. Sessions that are open at the end of the
// input are closed.
//
// The files of a session are in /work, where its steps start:
//
//	{"id": "i", "file_write": {"session": "s1", "name": "a.csv", "text": "1,2"}}  →  {"v": 1, "id": "i", "status": "ok", "file": {"name": "a.csv", …}}
//	{"id": "j", "file_list": "s1"}                                                →  {"v": 1, "id": "j", "status": "ok", "files": […]}
//	{"id": "k", "file_read": {"session": "s1", "name": "a.csv"}}                  →  {"v": 1, "id": "k", "status": "ok", "file": {"name": "a.csv", …, "base64": "MSwy"}}
//	{"id": "l", "file_remove": {"session": "s1", "name": "a.csv"}}                →  {"v": 1, "id": "l", "status": "ok"}
//
// They take part in the order of the lines: a step finds what was written before it, and what
// is read after a step is what it left. With "now": true they wait for no earlier line, so
// that they can be used while a step runs. A close waits for them.
//
// The content of a file that is written is in "text", in "base64", or in the file of this
// machine that "path" names. A file that is read has at most run.MaxPayload.
//
// The global variables of a session are listed when the steps before have ended:
//
//	{"id": "m", "variable_list": "s1"}  →  {"v": 1, "id": "m", "status": "ok", "variables": [{"name": "x", "type": "int", "bytes": 28, "text": "1"}]}
//
// A line that gives no Result is answered with a [Failure].
package jsonlines
