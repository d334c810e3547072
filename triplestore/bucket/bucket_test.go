package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
)

const partSize = 5 << 20

func TestADirectoryIsABucket(t *testing.T) {
	t.Parallel()
	buckettest.Run(t, partSize+1000, func(t *testing.T) bucket.Bucket {
		b, err := bucket.Open(t.Context(), "file://"+t.TempDir(), bucket.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}

func TestABucketInMemoryIsABucket(t *testing.T) {
	t.Parallel()
	buckettest.Run(t, partSize+1000, func(t *testing.T) bucket.Bucket {
		return buckettest.NewFaulty(&buckettest.Memory{}, 1)
	})
}

func TestABucketOfAnObjectStoreIsABucket(t *testing.T) {
	t.Parallel()
	g := buckettest.StartGateway(t)
	var n atomic.Int32
	buckettest.Run(t, partSize+1000, func(t *testing.T) bucket.Bucket {
		b, err := bucket.Open(t.Context(), strings.Replace(g.URL, "/prefix", fmt.Sprintf("/prefix-%d", n.Add(1)), 1),
			bucket.Options{Getenv: g.Getenv, PartSize: partSize, Backoff: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
}

// breaker is a transport on which requests go wrong.
type breaker struct {
	mu   sync.Mutex
	fail func(*http.Request) (lose bool, err error)
}

func (b *breaker) RoundTrip(r *http.Request) (*http.Response, error) {
	b.mu.Lock()
	fail := b.fail
	b.mu.Unlock()
	lose, err := fail(r)
	if err != nil && !lose {
		return nil, err
	}
	response, sent := http.DefaultTransport.RoundTrip(r)
	if sent != nil || err == nil {
		return response, sent
	}
	response.Body.Close()
	return nil, err
}

type netError struct{ error }

func (netError) Timeout() bool   { return true }
func (netError) Temporary() bool { return true }

func TestAConditionalPutWhoseAnswerWasLostSucceeds(t *testing.T) {
	t.Parallel()
	g := buckettest.StartGateway(t)
	var puts atomic.Int32
	transport := &breaker{fail: func(r *http.Request) (bool, error) {
		if (r.Method == http.MethodPut && r.URL.Query().Get("partNumber") == "" || r.Method == http.MethodPost &&
			r.URL.Query().Has("uploadId")) && puts.Add(1)%2 == 1 {
			return true, netError{errors.New("the connection was lost")}
		}
		return false, nil
	}}
	b := g.Open(bucket.Options{Transport: transport, Backoff: time.Millisecond, PartSize: partSize})
	for _, size := range []int{100, partSize + 100} {
		key := fmt.Sprint("k", size)
		if err := b.Put(t.Context(), key, int64(size), bytes.NewReader(buckettest.Noise(size, 1)),
			bucket.PutOptions{IfAbsent: true}); err != nil {
			t.Fatalf("put of %d bytes if absent: %v", size, err)
		}
		info, err := b.Stat(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Put(t.Context(), key, int64(size), bytes.NewReader(buckettest.Noise(size, 2)),
			bucket.PutOptions{IfMatch: info.ETag}); err != nil {
			t.Fatalf("put of %d bytes if unchanged: %v", size, err)
		}
		if err := b.Put(t.Context(), key, int64(size), bytes.NewReader(buckettest.Noise(size, 3)),
			bucket.PutOptions{IfAbsent: true}); !errors.Is(err, bucket.ErrExists) {
			t.Fatalf("put of %d bytes over somebody else's: %v", size, err)
		}
	}
}

func TestARequestToAStoreThatDoesNotAnswerEnds(t *testing.T) {
	t.Parallel()
	g := buckettest.StartGateway(t)
	b := g.Open(bucket.Options{Stall: 100 * time.Millisecond, Attempts: 2, Backoff: time.Millisecond})
	if err := b.Put(t.Context(), "k", 3, strings.NewReader("abc"), bucket.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	use := func(what string) {
		big := buckettest.Noise(20<<20, 1)
		if err := b.Put(t.Context(), "k2", int64(len(big)), bytes.NewReader(big), bucket.PutOptions{}); !errors.Is(err,
			bucket.ErrUnavailable) {
			t.Errorf("put to a store that %s: %v", what, err)
		}
		if _, _, err := buckettest.Read(t.Context(), b, "k", 0, -1); !errors.Is(err, bucket.ErrUnavailable) {
			t.Errorf("get from a store that %s: %v", what, err)
		}
		if _, err := b.Stat(t.Context(), "k"); !errors.Is(err, bucket.ErrUnavailable) {
			t.Errorf("stat in a store that %s: %v", what, err)
		}
		if err := b.Delete(t.Context(), "k"); !errors.Is(err, bucket.ErrUnavailable) {
			t.Errorf("delete from a store that %s: %v", what, err)
		}
		for _, err := range b.List(t.Context(), "", "") {
			if !errors.Is(err, bucket.ErrUnavailable) {
				t.Errorf("list of a store that %s: %v", what, err)
			}
		}
	}
	g.Pause()
	use("does not answer")
	g.Continue()
	if err := b.Put(t.Context(), "k", 3, strings.NewReader("abc"), bucket.PutOptions{}); err != nil {
		t.Errorf("put after the store has answered again: %v", err)
	}
	g.Kill()
	use("is away")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := b.Stat(ctx, "k"); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Errorf("stat after the context ended: %v", err)
	}
}

func TestAWrongSecretIsNotUnavailabilityAndIsNotRepeated(t *testing.T) {
	t.Parallel()
	g := buckettest.StartGateway(t)
	const secret = "a-secret-that-is-wrong"
	b, err := bucket.Open(t.Context(), g.URL, bucket.Options{Getenv: func(name string) string {
		if name == "AWS_SECRET_ACCESS_KEY" {
			return secret
		}
		return g.Getenv(name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = b.Get(t.Context(), "k", 0, -1)
	if err == nil || errors.Is(err, bucket.ErrUnavailable) || errors.Is(err, bucket.ErrNotFound) || strings.Contains(err.Error(), secret) {
		t.Errorf("get with a wrong secret: %v", err)
	}
	missing, err := bucket.Open(t.Context(), strings.Replace(g.URL, "s3://archive", "s3://missing", 1), bucket.Options{Getenv: g.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = missing.Get(t.Context(), "k", 0, -1)
	if err == nil || errors.Is(err, bucket.ErrNotFound) || !strings.Contains(err.Error(), "missing") {
		t.Errorf("get from a bucket that does not exist: %v", err)
	}
}

func TestURLsOfBuckets(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for url, want := range map[string]string{
		"s3://bkt/p?endpoint=http://127.0.0.1:1&region=eu": "no credentials",
		"s3://user:pass@b/p":                   "contains a user or a password",
		"s3://b?endpoint=http://user:sesame@h": "contains a user or a password",
		"s3://b?secret=sesame":                 "unknown parameter",
		"s3://b?endpoint=ftp://h":              "http://HOST:PORT",
		"s3://b?endpoint=http://h/path":        "http://HOST:PORT",
		"s3:///p":                              "names no bucket",
		"s3://bkt/a/../c":                      "not a key",
		"gs://b":                               `unknown scheme "gs"`,
		"file://relative/x":                    "absolute path",
		"file:relative":                        "form",
		"":                                     "unknown scheme",
		"s3://b/\x00sesame":                    "cannot be parsed",
	} {
		_, err := bucket.Open(t.Context(), url, bucket.Options{Getenv: func(name string) string {
			if name == "AWS_SHARED_CREDENTIALS_FILE" {
				return "/nonexistent"
			}
			return none(name)
		}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sesame") ||
			strings.Contains(err.Error(), "pass@") {
			t.Errorf("%q: got %v, want %q", url, err, want)
		}
	}
	if err := bucket.Check("s3://bucket/some/prefix?endpoint=https://h:1&region=x"); err != nil {
		t.Error(err)
	}
}
