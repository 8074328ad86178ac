// Package httpapi is the HTTP frontend: it translates requests for the service, and what
// comes of them into answers. It decides who asks (tokens), from where (no strange
// website), how much (bodies) and how long (slow clients); what may be run, and when, is
// the service's.
//
// A request goes this way, and each step answers with a problem (RFC 9457) if it has to:
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
// The turn comes last: who sends slowly holds a connection and nothing else.
//
// endpoints in endpoints.go is the one list of what there is: routes, the OpenAPI
// document and the documentation page are made of it.
package httpapi
