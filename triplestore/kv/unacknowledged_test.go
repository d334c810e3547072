package kv

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestWhatIsNotAcknowledgedSaysWhatIsCertain(t *testing.T) {
	t.Parallel()
	stops := errors.New("the process stops")
	db := open(t, "", Options{InMemory: true, Acknowledge: func(context.Context, uint64) error { return stops }})
	batch := db.Batch()
	if err := batch.Set(SpaceTest, []byte("b"), nil); err != nil {
		t.Fatal(err)
	}
	for err, says := range map[error]string{
		db.Update(t.Context(), func(tx *Txn) error { return tx.Set(SpaceTest, []byte("a"), nil) }): "is committed in this directory",
		batch.Flush(): "stopped before its end",
	} {
		if err == nil || !errors.Is(err, ErrUnacknowledged) || !errors.Is(err, stops) || strings.Count(err.Error(), "kv:") != 1 ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v; want one that says %q", err, says)
		}
	}
}
