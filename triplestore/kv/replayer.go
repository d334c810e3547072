package kv

import (
	"errors"
	"sync"
	"sync/atomic"

	badger "github.com/dgraph-io/badger/v4"
)

// replayer applies records of the log concurrently. Badger preserves their order.
type replayer struct {
	c      *cache
	drop   func(s Space, number uint64) error // deletes a space
	slots  chan struct{}
	wg     sync.WaitGroup
	failed atomic.Pointer[error]
}

const replayedAtOnce = 64

func (c *cache) replayer() *replayer {
	return &replayer{c: c, drop: c.drop, slots: make(chan struct{}, replayedAtOnce)}
}

func (r *replayer) apply(number uint64, record []byte) error {
	w, err := decodeWriteSet(record, nil)
	if err != nil {
		return err
	}
	return r.applySet(number, w)
}

// applySet applies a decoded record.
func (r *replayer) applySet(number uint64, w writeSet) error {
	if w.drop != 0 {
		r.wg.Wait()
		return r.drop(w.drop, number)
	}
	txn := r.c.badger.NewTransactionAt(number, true)
	err := w.each(func(key, val []byte, deleted bool) error {
		if deleted {
			return txn.Delete(append([]byte(nil), key...))
		}
		return txn.Set(append([]byte(nil), key...), append([]byte(nil), val...))
	})
	if err == nil {
		err = txn.Set(applied, nil)
	}
	if err != nil {
		txn.Discard()
	}
	if errors.Is(err, badger.ErrTxnTooBig) {
		r.wg.Wait()
		return r.c.applyInParts(w, number)
	}
	if err != nil {
		return err
	}
	r.slots <- struct{}{}
	r.wg.Add(1)
	err = txn.CommitAt(number, func(err error) {
		if err != nil {
			r.failed.CompareAndSwap(nil, &err)
		}
		<-r.slots
		r.wg.Done()
	})
	return errors.Join(err, r.err())
}

// applyInParts applies a write set that is too big for one Badger transaction, as apply does. Its number must not be
// visible yet.
func (c *cache) applyInParts(w writeSet, number uint64) error {
	b := c.badger.NewWriteBatchAt(number)
	defer b.Cancel()
	err := w.each(func(key, val []byte, deleted bool) error {
		if deleted {
			return b.Delete(append([]byte(nil), key...))
		}
		return b.Set(append([]byte(nil), key...), append([]byte(nil), val...))
	})
	if err == nil {
		err = b.Set(applied, nil)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

func (r *replayer) err() error {
	if err := r.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// wait waits until all records are applied.
func (r *replayer) wait() error {
	r.wg.Wait()
	return r.err()
}
