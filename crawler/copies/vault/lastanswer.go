package vault

import (
	"context"
	"io"
	"iter"
	"sync/atomic"

	"odarchive/triplestore/bucket"
)

// heard is a bucket that says when the object store has answered: a slow one is not away.
type heard struct {
	bucket.Bucket
	answered atomic.Pointer[func()] // nil: nobody wants to know
}

func (h *heard) note(err error) {
	if f := h.answered.Load(); f != nil && err == nil {
		(*f)()
	}
}

// Put implements bucket.Bucket.
func (h *heard) Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o bucket.PutOptions) error {
	err := h.Bucket.Put(ctx, key, size, body, o)
	h.note(err)
	return err
}

// Get implements bucket.Bucket.
func (h *heard) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, bucket.Info, error) {
	r, info, err := h.Bucket.Get(ctx, key, offset, length)
	h.note(err)
	return r, info, err
}

// Stat implements bucket.Bucket.
func (h *heard) Stat(ctx context.Context, key string) (bucket.Info, error) {
	info, err := h.Bucket.Stat(ctx, key)
	h.note(err)
	return info, err
}

// List implements bucket.Bucket.
func (h *heard) List(ctx context.Context, prefix, after string) iter.Seq2[bucket.Info, error] {
	return func(yield func(bucket.Info, error) bool) {
		for info, err := range h.Bucket.List(ctx, prefix, after) {
			h.note(err)
			if !yield(info, err) {
				return
			}
		}
	}
}
