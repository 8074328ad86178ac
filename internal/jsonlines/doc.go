// Package jsonlines is the frontend for programs that talk to cordon through pipes, such as
// the Python package: one JSON object a line in, one a line out, matched by their ids and
// written in the order in which they are done.
//
//	{"id": "a", "script": "result = 6 * 7"}        →  a run.Result
//	{"id": "b", "check": {"script": "import os"}}  →  {"id": "b", "status": "success", "findings": […]}
//	{"id": "c", "hook": {"script": "…"}}           →  {"id": "c", "status": "success", "hook": "1"}
//	{"id": "d", "call": {"hook": "1"}}             →  a run.Result
//	{"id": "e", "close": "1"}                      →  {"id": "e", "status": "success"}
//	{"cancel": "a"}                                →  no line of its own: line a ends as canceled
//
// A line that gives no Result is answered with a [Failure].
package jsonlines
