// Package sparqlapi is the archive's HTTP face: every route on one screen (routes.go) and the middleware around them.
//
// The handlers come from the packages below (protocol, graphstore, bundle, memento, rest, linkeddata) and from ui; this
// package only says which request meets which of them, and what holds for all: a request id, an access log that never
// holds a token, recovery from panics, security headers, CORS for reading, a rate limit, compression of generated text,
// deadlines for slow clients, and one check for writing (Guard).
package sparqlapi
