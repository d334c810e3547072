package sparql

import (
	"context"

	"odarchive/triplestore/sparql/exec"
	"odarchive/triplestore/term"
)

// Store is what an update needs of a quad store.
type Store interface {
	// Update runs f in a transaction: what f did is durable and visible, all of it, when Update returns nil, and not
	// at all otherwise.
	Update(ctx context.Context, f func(Txn) error) error
}

// Dropper is a Store that drops a graph of any size, or everything, as a transaction of its own that needs little memory.
type Dropper interface {
	DropGraph(ctx context.Context, g term.Key) error // "": the default graph
	Clear(ctx context.Context) error
}

// Txn is a transaction of a Store.
type Txn interface {
	Insert(term.Quad) error
	Delete(term.Quad) error
	ClearGraph(term.Key) error
	// Dataset is the state at the start of the transaction.
	Dataset() exec.Dataset
}

// StoreOf makes a Store of a store's own Update and of the dataset of its transactions:
//
//	sparql.StoreOf(store.Update, func(t *triplestore.Txn) exec.Dataset { return t.Snapshot() })
func StoreOf[T changes](update func(context.Context, func(T) error) error, dataset func(T) exec.Dataset) Store {
	return storeOf[T]{update, dataset}
}

type changes interface {
	Insert(term.Quad) error
	Delete(term.Quad) error
	ClearGraph(term.Key) error
}

type storeOf[T changes] struct {
	update  func(context.Context, func(T) error) error
	dataset func(T) exec.Dataset
}

func (s storeOf[T]) Update(ctx context.Context, f func(Txn) error) error {
	return s.update(ctx, func(t T) error { return f(txnOf{t, s.dataset(t)}) })
}

type txnOf struct {
	changes
	ds exec.Dataset
}

func (t txnOf) Dataset() exec.Dataset { return t.ds }
