package sparql

import (
	"context"

	"odarchive/triplestore/term"
)

// Store is what an Engine needs of a quad store for updates.
type Store interface {
	// View runs f over the last committed state.
	View(ctx context.Context, f func(term.Dataset) error) error
	// Update runs f in a transaction. When Update returns nil, all changes of f are durable and visible; otherwise
	// none are.
	Update(ctx context.Context, f func(Txn) error) error
}

// Dropper is a Store that drops a graph of any size, or everything, in a transaction of its own that needs little
// memory.
type Dropper interface {
	// "" is the default graph.
	DropGraph(ctx context.Context, g term.Key) error
	Clear(ctx context.Context) error
}

// Replacer is a Store that removes and inserts any number of quads in a transaction of its own that needs little
// memory.
type Replacer interface {
	// Replace removes the quads that each hands to remove, and then inserts those that it hands to insert. each may
	// read the store.
	Replace(ctx context.Context, each func(remove, insert func(term.Quad) error) error) error
}

// Txn is a transaction of a Store. "" is the default graph.
type Txn interface {
	Insert(term.Quad) error
	Delete(term.Quad) error
	ClearGraph(term.Key) error
}

// StoreOf makes a Store of the methods of a store whose snapshots and transactions have types of their own:
//
//	sparql.StoreOf(store.View, store.Update)
func StoreOf[D term.Dataset, T Txn](view func(context.Context, func(D) error) error,
	update func(context.Context, func(T) error) error) Store {
	return storeOf[D, T]{view, update}
}

type storeOf[D term.Dataset, T Txn] struct {
	view   func(context.Context, func(D) error) error
	update func(context.Context, func(T) error) error
}

func (s storeOf[D, T]) View(ctx context.Context, f func(term.Dataset) error) error {
	return s.view(ctx, func(ds D) error { return f(ds) })
}

func (s storeOf[D, T]) Update(ctx context.Context, f func(Txn) error) error {
	return s.update(ctx, func(t T) error { return f(t) })
}
