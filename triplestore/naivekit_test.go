package naive_test

import (
	"context"
	"testing"

	"odarchive/triplestore/internal/storetest"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/term"
)

var _ term.Dataset = (*naive.Dataset)(nil)

func TestTheNaiveStoreIsAStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(testing.TB) storetest.Store {
		s := naive.New()
		return storetest.Store{
			Update: func(ctx context.Context, f func(storetest.Txn) error) error {
				return s.Update(ctx, func(tx *naive.Txn) error { return f(tx) })
			},
			Snapshot: func() (term.Dataset, func()) { return s.Snapshot(), func() {} },
		}
	})
}
