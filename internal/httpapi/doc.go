// Package httpapi is the HTTP frontend. It translates between HTTP and the service. It
// authenticates callers (tokens), refuses other websites, and bounds bodies and slow
// clients. The service decides what a caller may run.
//
// Each request takes these steps. A step that fails answers with a problem (RFC 9457):
//
//	headers for every answer, a deadline for the body
//	→ from this machine, if there are no tokens   403
//	→ whose token                                  401
//	→ which endpoint, by which method              404, 405
//	→ what kind of answer, what kind of body       406, 415
//	→ the body, within size and time               413, 408
//	→ jsonform.ParseObject                            400
//	→ the service: ceiling, turn, guest            400, 403, 429, 503
//
// The turn comes last, so that a slow client holds only a connection.
//
// The table in endpoints.go lists all endpoints. Routes, the OpenAPI document and the
// documentation page are derived from it.
package httpapi
