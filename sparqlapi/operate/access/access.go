// Package access decides who may do what: tokens have names and rights.
//
// A Tokens has the tokens of a server, which may change while it runs. The server finds out who sends a request
// (Caller) once, notes that in the request's context (With), and each route names the Right that it needs where it is
// mounted.
//
// Tokens are stored as SHA-256 digests. A slow hash such as bcrypt protects passwords, which are short and guessable;
// the tokens that New makes have 128 random bits, so that nobody finds one from its digest, and a fast hash lets a
// server check a token with each request.
package access

import (
	"context"
	"fmt"
	"strings"
)

// Right is a set of rights. The zero value has none.
type Right uint8

// The rights. Each includes Read, and Admin includes all.
const (
	Read      Right = 1 << iota // read the archive; without the limits of anonymous queries
	Add                         // register URLs
	Crawl                       // direct the crawl: orders, scope, settings of hosts, campaigns, harvests
	Update                      // change triples: SPARQL Update, Graph Store Protocol; SERVICE of any endpoint
	Admin                       // backups, checks, tokens, audit, profiles
	Replicate                   // read everything that is stored, as a replica does

	All = Read | Add | Crawl | Update | Admin | Replicate
)

// names are in the order of the constants.
var names = [...]string{"read", "add", "crawl", "update", "admin", "replicate"}

// ParseRight returns the right with a name.
func ParseRight(name string) (Right, error) {
	for i, n := range names {
		if n == name {
			return 1 << i, nil
		}
	}
	return 0, fmt.Errorf("%q is not a right: expected %s", name, strings.Join(names[:], ", "))
}

// Has reports whether the rights of r include all of the others.
func (r Right) Has(others Right) bool {
	switch {
	case r&Admin != 0:
		r = All
	case r != 0:
		r |= Read
	}
	return r&others == others
}

// Names returns the names of the rights in the set.
func (r Right) Names() []string {
	list := []string{}
	for i, n := range names {
		if r&(1<<i) != 0 {
			list = append(list, n)
		}
	}
	return list
}

// String returns the names with commas between them.
func (r Right) String() string { return strings.Join(r.Names(), ", ") }

// Caller is who sends a request. The zero value is anybody.
type Caller struct {
	Name   string // of the token; "local" for the archive's own user; "" for anybody
	Rights Right
	Token  *Token // nil without one
	// Session means that a browser sends the cookie of a session, and not the token itself.
	Session bool
	// Refused is why the token that was sent gives no rights: nil if none was sent, or if it does.
	Refused error
}

// Local returns the caller of requests that only the archive's own user can send, such as those of the socket.
func Local() Caller { return Caller{Name: "local", Rights: All} }

// Known reports whether the caller has any rights.
func (c Caller) Known() bool { return c.Rights != 0 }

type callerKey struct{}

// With returns a context of requests of a caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Of returns the caller of a request's context. known is false if nobody has found out yet who it is.
func Of(ctx context.Context) (c Caller, known bool) {
	c, known = ctx.Value(callerKey{}).(Caller)
	return c, known
}
