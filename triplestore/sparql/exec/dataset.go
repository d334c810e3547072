// Package exec runs a plan: operators over batches of ids, with a memory budget and a deadline.
//
// It asks little of the store it runs over: a Dataset in id space. *triplestore.Snapshot happens to be one, and
// so does the naive store; neither imports this package.
package exec

import "odarchive/triplestore/term"

// Dataset is one unchanging state of a quad store. All methods may be called concurrently.
type Dataset interface {
	// Scan gives the quads that match p, sorted by o (then G). Ask only for orders in Orders.
	Scan(p term.Pattern, o term.Order) term.Cursor
	// Orders lists the sort orders that Scan can serve at full speed.
	Orders() []term.Order
	// Estimate costs at most a few microseconds.
	Estimate(p term.Pattern) term.Estimate
	// Lookup finds the id of a term; ok is false where no quad of the store holds it and it is not inline.
	Lookup(k term.Key) (id term.ID, ok bool, err error)
	// Keys turns ids into terms, keys[i] for ids[i]; cheapest in id order and in batches. Unknown ids are an error.
	Keys(ids []term.ID, keys []term.Key) error
	// Graphs calls f with each non-empty named graph, in id order, until it returns false.
	Graphs(f func(term.ID) bool) error
}
