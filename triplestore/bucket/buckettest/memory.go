package buckettest

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/bucket"
)

// Memory is a bucket in memory. The zero value is empty and ready to use.
type Memory struct {
	mu      sync.Mutex // guards the fields below
	objects map[string]object
	puts    int
}

type object struct {
	data []byte
	info bucket.Info
}

var _ bucket.Bucket = (*Memory)(nil)

// Put implements bucket.Bucket.
func (m *Memory) Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o bucket.PutOptions) error {
	if o.IfAbsent && o.IfMatch != "" {
		return errors.New("memory: put: IfAbsent and IfMatch exclude each other")
	}
	if err := bucket.CheckKey(key); err != nil {
		return err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(body, data); err != nil {
		return fmt.Errorf("memory: put %s: %w", key, err)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	old, there := m.objects[key]
	if o.IfAbsent && there {
		return fmt.Errorf("memory: put %s: %w", key, bucket.ErrExists)
	}
	if o.IfMatch != "" && (!there || old.info.ETag != o.IfMatch) {
		return fmt.Errorf("memory: put %s: %w", key, bucket.ErrChanged)
	}
	if m.objects == nil {
		m.objects = map[string]object{}
	}
	m.puts++
	sum := md5.Sum(data)
	m.objects[key] = object{data,
		bucket.Info{Key: key, Size: size, ETag: hex.EncodeToString(sum[:]) + fmt.Sprintf("-%d", m.puts), Modified: time.Now()}}
	return nil
}

// Get implements bucket.Bucket.
func (m *Memory) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, bucket.Info, error) {
	o, err := m.find(ctx, key)
	if err != nil {
		return nil, bucket.Info{}, err
	}
	data := o.data[min(max(offset, 0), int64(len(o.data))):]
	if length >= 0 {
		data = data[:min(length, int64(len(data)))]
	}
	return io.NopCloser(bytes.NewReader(data)), o.info, nil
}

// Stat implements bucket.Bucket.
func (m *Memory) Stat(ctx context.Context, key string) (bucket.Info, error) {
	o, err := m.find(ctx, key)
	return o.info, err
}

func (m *Memory) find(ctx context.Context, key string) (object, error) {
	if err := errors.Join(bucket.CheckKey(key), context.Cause(ctx)); err != nil {
		return object{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[key]
	if !ok {
		return object{}, fmt.Errorf("memory: %s: %w", key, bucket.ErrNotFound)
	}
	return o, nil
}

// List implements bucket.Bucket.
func (m *Memory) List(ctx context.Context, prefix, after string) iter.Seq2[bucket.Info, error] {
	return func(yield func(bucket.Info, error) bool) {
		for _, key := range m.Keys() {
			if !strings.HasPrefix(key, prefix) || key <= after {
				continue
			}
			info, err := m.Stat(ctx, key)
			if errors.Is(err, bucket.ErrNotFound) {
				continue
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// Delete implements bucket.Bucket.
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := errors.Join(bucket.CheckKey(key), context.Cause(ctx)); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

// Keys returns the keys of all objects, in order.
func (m *Memory) Keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

// Change replaces the bytes of an object as damage does: its size may change, its ETag and its time do not.
func (m *Memory) Change(key string, change func([]byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.objects[key]; ok {
		o.data = change(bytes.Clone(o.data))
		o.info.Size = int64(len(o.data))
		m.objects[key] = o
	}
}

// Age makes an object look as if it had been put d earlier.
func (m *Memory) Age(key string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.objects[key]; ok {
		o.info.Modified = o.info.Modified.Add(-d)
		m.objects[key] = o
	}
}
