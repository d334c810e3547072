// Package sparqlapi is the archive's HTTP interface: every route on one screen (routes.go), and the middleware around
// them.
//
// The handlers come from the packages below it (protocol, graphstore, bundle, memento, rest, linkeddata, control and
// others) and from ui. This package routes requests to them and adds what all of them need: a request id, an access log
// without tokens, recovery from panics, security headers, CORS for reading, a rate limit, compression of generated
// text, deadlines for slow clients, and the check of the token for writing (Guard).
package sparqlapi
