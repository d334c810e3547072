package buckettest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"odarchive/triplestore/bucket"
)

// Faults say how often requests go wrong: rates are from 0 to 1.
type Faults struct {
	Fail  float64       // refused before anything happens
	Lose  float64       // of Put and Delete: done, but the answer is lost
	Cut   float64       // of Get: the bytes end in the middle; of Put: nothing is stored after half of the body was read
	Stall float64       // takes StallFor, or until the context ends, and then fails
	For   time.Duration // how long a stall takes; 0 = 5 s
}

// Faulty is a bucket whose requests go wrong at times. The errors wrap bucket.ErrUnavailable. All methods may be called
// concurrently; which requests go wrong depends on the seed and their order.
type Faulty struct {
	of bucket.Bucket

	mu     sync.Mutex // guards the fields below
	rand   *rand.Rand
	faults Faults
	away   bool
	hook   func(op, key string) error
	count  Count
}

// Count tells how many requests there were, and the bytes that Get has returned and Put has stored.
type Count struct {
	Puts, Gets, Stats, Lists, Deletes int
	Read, Written                     int64
}

var _ bucket.Bucket = (*Faulty)(nil)

// NewFaulty wraps a bucket. Nothing goes wrong until Break, Away or Hook is called.
func NewFaulty(of bucket.Bucket, seed uint64) *Faulty {
	return &Faulty{of: of, rand: rand.New(rand.NewPCG(seed, 1))}
}

// Break sets how often requests go wrong from now on.
func (f *Faulty) Break(faults Faults) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = faults
}

// Away makes all requests fail, or ends that.
func (f *Faulty) Away(away bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = away
}

// Hook makes hook be called at the start of each request: op is put, get, stat, list or delete. Its error becomes that
// of the request. A hook may block.
func (f *Faulty) Hook(hook func(op, key string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = hook
}

// Count returns the number of requests so far.
func (f *Faulty) Count() Count {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

type fate struct{ lose, cut bool }

// errFault is what a request that goes wrong returns.
var errFault = fmt.Errorf("a fault on order: %w", bucket.ErrUnavailable)

func (f *Faulty) begin(ctx context.Context, op, key string, count *int) (fate, error) {
	f.mu.Lock()
	*count++
	faults, away, hook := f.faults, f.away, f.hook
	hit := func(rate float64) bool { return rate > 0 && f.rand.Float64() < rate }
	fail, stall := hit(faults.Fail), hit(faults.Stall)
	fate := fate{lose: hit(faults.Lose), cut: hit(faults.Cut)}
	f.mu.Unlock()
	if hook != nil {
		if err := hook(op, key); err != nil {
			return fate, err
		}
	}
	if stall {
		d := faults.For
		if d <= 0 {
			d = 5 * time.Second
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return fate, context.Cause(ctx)
		}
	}
	if away || fail || stall {
		return fate, fmt.Errorf("%s %s: %w", op, key, errFault)
	}
	return fate, nil
}

// Put implements bucket.Bucket.
func (f *Faulty) Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o bucket.PutOptions) error {
	fate, err := f.begin(ctx, "put", key, &f.count.Puts)
	if err != nil {
		return err
	}
	if fate.cut {
		if _, err := io.CopyN(io.Discard, body, size/2); err != nil {
			return err
		}
		return fmt.Errorf("put %s: %w", key, errFault)
	}
	if err := f.of.Put(ctx, key, size, body, o); err != nil {
		return err
	}
	f.mu.Lock()
	f.count.Written += size
	f.mu.Unlock()
	if fate.lose {
		return fmt.Errorf("put %s: %w", key, errFault)
	}
	return nil
}

// Get implements bucket.Bucket.
func (f *Faulty) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, bucket.Info, error) {
	fate, err := f.begin(ctx, "get", key, &f.count.Gets)
	if err != nil {
		return nil, bucket.Info{}, err
	}
	r, info, err := f.of.Get(ctx, key, offset, length)
	if err != nil {
		return nil, info, err
	}
	left := int64(-1)
	if fate.cut {
		there := max(info.Size-offset, 0)
		if length >= 0 {
			there = min(there, length)
		}
		left = there / 2
	}
	return &faultyBody{ReadCloser: r, f: f, left: left}, info, nil
}

// faultyBody counts what is read, and fails after left bytes if that is not negative.
type faultyBody struct {
	io.ReadCloser
	f    *Faulty
	left int64
}

func (b *faultyBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errFault
	}
	if b.left > 0 {
		p = p[:min(int64(len(p)), b.left)]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left > 0 {
		b.left -= int64(n)
	}
	b.f.mu.Lock()
	b.f.count.Read += int64(n)
	b.f.mu.Unlock()
	return n, err
}

// Stat implements bucket.Bucket.
func (f *Faulty) Stat(ctx context.Context, key string) (bucket.Info, error) {
	if _, err := f.begin(ctx, "stat", key, &f.count.Stats); err != nil {
		return bucket.Info{}, err
	}
	return f.of.Stat(ctx, key)
}

// List implements bucket.Bucket.
func (f *Faulty) List(ctx context.Context, prefix, after string) iter.Seq2[bucket.Info, error] {
	return func(yield func(bucket.Info, error) bool) {
		if _, err := f.begin(ctx, "list", prefix, &f.count.Lists); err != nil {
			yield(bucket.Info{}, err)
			return
		}
		for info, err := range f.of.List(ctx, prefix, after) {
			if !yield(info, err) {
				return
			}
		}
	}
}

// Delete implements bucket.Bucket.
func (f *Faulty) Delete(ctx context.Context, key string) error {
	fate, err := f.begin(ctx, "delete", key, &f.count.Deletes)
	if err != nil {
		return err
	}
	if err := f.of.Delete(ctx, key); err != nil {
		return err
	}
	if fate.lose {
		return errors.Join(fmt.Errorf("delete %s", key), errFault)
	}
	return nil
}
