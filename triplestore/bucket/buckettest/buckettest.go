// Package buckettest tests implementations of bucket.Bucket, and has some for tests: Memory, and Faulty, which makes
// requests to another bucket fail, stall, lose their answers or cut their bytes, by seed. Gateway runs versitygw, an
// S3-compatible server, where it is installed.
package buckettest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"odarchive/triplestore/bucket"
)

// Run tests an implementation. open returns an empty bucket, each time another one. large is the size of an object that
// the implementation sends in several requests, if it ever does.
func Run(t *testing.T, large int64, open func(t *testing.T) bucket.Bucket) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, b bucket.Bucket, large int64)
	}{
		{"what is put can be read, whole and in ranges", readsBack},
		{"what is absent is not found", absent},
		{"a put replaces the object and its ETag", replaces},
		{"a conditional put stores only if the condition holds", conditional},
		{"of many conditional puts at once, one succeeds", concurrently},
		{"keys are listed in order", lists},
		{"a put that ends early leaves nothing", endsEarly},
		{"readers see a whole object while it is replaced", whole},
		{"keys that some store could not keep are refused", keys},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t), large) })
	}
}

// Noise returns n reproducible bytes that do not compress.
func Noise(n int, seed uint64) []byte {
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b) // never fails
	return b
}

// Read returns an object's bytes.
func Read(ctx context.Context, b bucket.Bucket, key string, offset, length int64) ([]byte, bucket.Info, error) {
	r, info, err := b.Get(ctx, key, offset, length)
	if err != nil {
		return nil, info, err
	}
	data, err := io.ReadAll(r)
	return data, info, errors.Join(err, r.Close())
}

func put(b bucket.Bucket, key string, data []byte, o bucket.PutOptions) error {
	return b.Put(context.Background(), key, int64(len(data)), bytes.NewReader(data), o)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readsBack(t *testing.T, b bucket.Bucket, large int64) {
	ctx := t.Context()
	for _, size := range []int64{0, 1, 1000, large} {
		key := fmt.Sprintf("folder/of-%d", size)
		data := Noise(int(size), uint64(size))
		body := bytes.NewReader(append([]byte("before"), data...))
		_, err := body.Seek(6, io.SeekStart)
		must(t, err)
		must(t, b.Put(ctx, key, size, body, bucket.PutOptions{}))
		got, info, err := Read(ctx, b, key, 0, -1)
		if err != nil || !bytes.Equal(got, data) || info.Size != size || info.Key != key || info.ETag == "" || info.Modified.IsZero() {
			t.Errorf("object of %d bytes: got %d bytes, %+v, %v", size, len(got), info, err)
		}
		if st, err := b.Stat(ctx, key); err != nil || st.Size != size || st.ETag != info.ETag || st.Key != key {
			t.Errorf("stat: %+v, %v; want %+v", st, err, info)
		}
		for _, r := range [][2]int64{{0, 1}, {0, 0}, {1, 1}, {size / 2, 100}, {size / 2, -1}, {size, -1}, {size, 10}, {size + 10, 10},
			{0, size + 10}} {
			from := min(r[0], size)
			to := size
			if r[1] >= 0 {
				to = min(size, from+r[1])
			}
			got, info, err := Read(ctx, b, key, r[0], r[1])
			if err != nil || !bytes.Equal(got, data[from:to]) || info.Size != size {
				t.Errorf("%d bytes from %d on, of %d: got %d bytes of %d, %v", r[1], r[0], size, len(got), info.Size, err)
			}
		}
	}
}

func absent(t *testing.T, b bucket.Bucket, _ int64) {
	ctx := t.Context()
	if _, _, err := Read(ctx, b, "no/such", 0, -1); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("get: %v", err)
	}
	if _, _, err := Read(ctx, b, "no/such", 0, 0); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("get of no bytes: %v", err)
	}
	if _, err := b.Stat(ctx, "no/such"); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("stat: %v", err)
	}
	must(t, b.Delete(ctx, "no/such"))
	for info, err := range b.List(ctx, "", "") {
		t.Errorf("list of nothing: %+v, %v", info, err)
	}
	must(t, put(b, "a/b", []byte("x"), bucket.PutOptions{}))
	must(t, b.Delete(ctx, "a/b"))
	if _, err := b.Stat(ctx, "a/b"); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("stat of a deleted object: %v", err)
	}
	if _, err := b.Stat(ctx, "a"); !errors.Is(err, bucket.ErrNotFound) {
		t.Errorf("stat of a folder: %v", err)
	}
}

func replaces(t *testing.T, b bucket.Bucket, _ int64) {
	ctx := t.Context()
	must(t, put(b, "k", []byte("one"), bucket.PutOptions{}))
	first, err := b.Stat(ctx, "k")
	must(t, err)
	must(t, put(b, "k", []byte("two"), bucket.PutOptions{}))
	got, second, err := Read(ctx, b, "k", 0, -1)
	if err != nil || string(got) != "two" || first.ETag == second.ETag {
		t.Errorf("got %q, ETag %q then %q, %v", got, first.ETag, second.ETag, err)
	}
}

func conditional(t *testing.T, b bucket.Bucket, large int64) {
	ctx := t.Context()
	for _, size := range []int64{10, large} {
		key := fmt.Sprintf("of-%d", size)
		one, two := Noise(int(size), 1), Noise(int(size), 2)
		if err := put(b, key, one, bucket.PutOptions{IfMatch: "0123456789abcdef0123456789abcdef"}); !errors.Is(err, bucket.ErrChanged) {
			t.Errorf("put of %d bytes over nothing if it matches: %v", size, err)
		}
		must(t, put(b, key, one, bucket.PutOptions{IfAbsent: true}))
		if err := put(b, key, two, bucket.PutOptions{IfAbsent: true}); !errors.Is(err, bucket.ErrExists) {
			t.Errorf("put of %d bytes over an object if absent: %v", size, err)
		}
		info, err := b.Stat(ctx, key)
		must(t, err)
		must(t, put(b, key, two, bucket.PutOptions{IfMatch: info.ETag}))
		if err := put(b, key, one, bucket.PutOptions{IfMatch: info.ETag}); !errors.Is(err, bucket.ErrChanged) {
			t.Errorf("put of %d bytes over another object: %v", size, err)
		}
		if got, _, err := Read(ctx, b, key, 0, -1); err != nil || !bytes.Equal(got, two) {
			t.Errorf("the object of %d bytes is not the one whose condition held: %v", size, err)
		}
	}
	if err := put(b, "k", nil, bucket.PutOptions{IfAbsent: true, IfMatch: "x"}); err == nil {
		t.Error("two conditions at once were accepted")
	}
}

func concurrently(t *testing.T, b bucket.Bucket, _ int64) {
	for round := range 5 {
		var won atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				switch err := put(b, fmt.Sprint("k", round), []byte{byte(i)}, bucket.PutOptions{IfAbsent: true}); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, bucket.ErrExists):
					t.Errorf("put: %v", err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d of 8 conditional puts succeeded", won.Load())
		}
	}
}

func lists(t *testing.T, b bucket.Bucket, _ int64) {
	ctx := t.Context()
	want := []string{"a-b", "a.b", "a/1", "a/2", "a/b/c", "a0", "b", "c/x"}
	for i := range 30 {
		want = append(want, fmt.Sprintf("many/%03d", i))
	}
	slices.Sort(want)
	for _, key := range want {
		must(t, put(b, key, []byte(key), bucket.PutOptions{}))
	}
	for _, prefix := range []string{"", "a", "a/", "a/b", "many/", "many/01", "x"} {
		for _, after := range append([]string{"", "a/", "many/0", "zzz"}, want...) {
			var expect, got []string
			for _, key := range want {
				if len(key) >= len(prefix) && key[:len(prefix)] == prefix && key > after {
					expect = append(expect, key)
				}
			}
			for info, err := range b.List(ctx, prefix, after) {
				must(t, err)
				if got = append(got, info.Key); info.Size != int64(len(info.Key)) || info.ETag == "" {
					t.Errorf("listed as %+v", info)
				}
			}
			if !slices.Equal(got, expect) {
				t.Errorf("prefix %q after %q: got %q, want %q", prefix, after, got, expect)
			}
		}
	}
	for info := range b.List(ctx, "many/", "") {
		if info.Key > "many/003" {
			break // a caller may stop
		}
	}
}

// shortBody ends before its size.
type shortBody struct {
	*bytes.Reader
	err error
}

func (s shortBody) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		err = s.err
	}
	return n, err
}

func endsEarly(t *testing.T, b bucket.Bucket, large int64) {
	for _, size := range []int64{1000, large} {
		data := Noise(int(size/2), 3)
		for _, failure := range []error{io.EOF, errors.New("the file cannot be read")} {
			if err := b.Put(t.Context(), "k", size, shortBody{bytes.NewReader(data), failure}, bucket.PutOptions{}); err == nil {
				t.Errorf("a body of %d bytes instead of %d was stored", size/2, size)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Put(ctx, "k", 3, bytes.NewReader([]byte("abc")), bucket.PutOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("put after the context ended: %v", err)
		}
		if _, err := b.Stat(ctx, "k"); !errors.Is(err, context.Canceled) {
			t.Errorf("stat after the context ended: %v", err)
		}
		if _, _, err := b.Get(ctx, "k", 0, -1); !errors.Is(err, context.Canceled) {
			t.Errorf("get after the context ended: %v", err)
		}
		if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("after a put that failed: %v", err)
		}
	}
}

func whole(t *testing.T, b bucket.Bucket, _ int64) {
	version := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 100_000+i) }
	must(t, put(b, "k", version(0), bucket.PutOptions{}))
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for i := range 10 {
			if err := put(b, "k", version(i), bucket.PutOptions{}); err != nil {
				t.Errorf("put: %v", err)
			}
		}
	})
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
		}
		got, info, err := Read(t.Context(), b, "k", 0, -1)
		if err != nil || int64(len(got)) != info.Size || len(got) == 0 || sha256.Sum256(got) != sha256.Sum256(version(int(got[0]-'a'))) {
			t.Errorf("read %d bytes of an object of %d: %v", len(got), info.Size, err)
		}
	}
	wg.Wait()
}

func keys(t *testing.T, b bucket.Bucket, _ int64) {
	for _, key := range []string{"", "/a", "a/", "a//b", "..", "a/../b", ".hidden", "a/.b", "a\x00b", "a b", "ä", `a\b`,
		string(Noise(10, 1)), fmt.Sprintf("%01000d", 1)} {
		if err := put(b, key, nil, bucket.PutOptions{}); err == nil {
			t.Errorf("put under the key %q", key)
		}
		if _, err := b.Stat(t.Context(), key); err == nil || errors.Is(err, bucket.ErrNotFound) {
			t.Errorf("stat of the key %q: %v", key, err)
		}
		if err := b.Delete(t.Context(), key); err == nil {
			t.Errorf("delete of the key %q", key)
		}
	}
}
