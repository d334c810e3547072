// Package bucket stores objects in an S3-compatible object store, or in a directory.
//
// A Bucket maps keys to objects: bytes that are replaced as a whole or not at all. Put returns when the object is
// durable there; a reader sees the old object or the new one, never a part. With PutOptions.IfAbsent or IfMatch a Put
// is conditional, also among several processes. Objects have no other metadata than their size, an ETag that changes
// with the object, and a time.
//
// Open takes a URL, which never contains a secret: credentials come from the environment. The implementations retry
// what may pass by itself, a few times. Every request ends when its context ends or when it makes no progress for
// Options.Stall. An error wraps ErrUnavailable if the same call may succeed later.
//
// Package buckettest has the tests that each implementation must pass, a bucket in memory, and one that fails on order.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// Errors that callers decide on.
var (
	ErrNotFound    = errors.New("no such object")
	ErrExists      = errors.New("the object exists already")                      // Put with IfAbsent
	ErrChanged     = errors.New("the object is not the one that was expected")    // Put with IfMatch: another ETag, or none
	ErrUnavailable = errors.New("the object store cannot be reached at the time") // may pass by waiting
	// for its keys, its bucket or its form; does not pass by waiting
	ErrRefused = errors.New("the object store refuses the request")
)

// Bucket is a set of objects. All methods may be called concurrently.
type Bucket interface {
	// Put stores an object of size bytes. It reads body from its current position, perhaps several times, and not after
	// it has returned. When it returns nil, the object is durable. After an error other than ErrExists and ErrChanged
	// the object may have been stored nevertheless, as a whole.
	Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o PutOptions) error
	// Get returns length bytes of an object from offset on, or all bytes from there if length is negative. It returns
	// fewer if the object ends before. An offset beyond the end, or at it, yields no bytes. The reader returns an error
	// rather than io.EOF if the bytes were cut off on their way. It must be closed. Info is that of the whole object.
	Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Info, error)
	// Stat describes an object.
	Stat(ctx context.Context, key string) (Info, error)
	// List yields the objects whose keys begin with prefix and are greater than after, ordered by key in bytes. The
	// first error is the last element.
	List(ctx context.Context, prefix, after string) iter.Seq2[Info, error]
	// Delete removes an object. It is no error if there is none.
	Delete(ctx context.Context, key string) error
}

// Info describes an object.
type Info struct {
	Key      string
	Size     int64
	ETag     string // without quotes; another object under the same key has another one
	Modified time.Time
}

// PutOptions are the options of a Put. At most one of IfAbsent and IfMatch may be set.
type PutOptions struct {
	IfAbsent bool   // fail with ErrExists if there is an object
	IfMatch  string // fail with ErrChanged unless there is an object with this ETag
	SHA256   string // of the body, in hexadecimal, if the caller knows it; a body that differs is not stored, or not checked
}

func (o PutOptions) conditional() bool { return o.IfAbsent || o.IfMatch != "" }

// Options configure Open. The zero value is ready to use.
type Options struct {
	Stall     time.Duration       // time without progress after which a request is given up; 0 = 30 s
	Attempts  int                 // how often a request is tried; 0 = 4
	Backoff   time.Duration       // wait before the second attempt, doubled for each further one, at most 5 s; 0 = 200 ms
	PartSize  int64               // objects above this size are sent in parts of at least this size; 0 = 256 MiB, minimum 5 MiB
	Getenv    func(string) string // where credentials and AWS_REGION come from; nil = os.Getenv
	Transport http.RoundTripper   // nil = a transport of its own
	Logger    *slog.Logger        // nil = none; Debug: attempts that failed and are repeated
}

const (
	defaultStall    = 30 * time.Second
	defaultAttempts = 4
	defaultBackoff  = 200 * time.Millisecond
	maxBackoff      = 5 * time.Second
	defaultPartSize = 256 << 20
	minPartSize     = 5 << 20
	maxParts        = 10_000
)

func (o Options) withDefaults() Options {
	if o.Stall <= 0 {
		o.Stall = defaultStall
	}
	if o.Attempts <= 0 {
		o.Attempts = defaultAttempts
	}
	if o.Backoff <= 0 {
		o.Backoff = defaultBackoff
	}
	if o.PartSize <= 0 {
		o.PartSize = defaultPartSize
	}
	o.PartSize = max(o.PartSize, minPartSize)
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Open opens a bucket. The URL is s3://BUCKET/PREFIX?endpoint=http://HOST:PORT&region=REGION or file:///DIR. Keys are
// relative to the prefix. Without an endpoint the bucket is Amazon's. Credentials are read from AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; without them, from the file named by AWS_SHARED_CREDENTIALS_FILE or
// ~/.aws/credentials. Open sends no request: a store that is away now may be used later. A directory is created.
func Open(ctx context.Context, rawURL string, o Options) (Bucket, error) {
	o = o.withDefaults()
	u, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "file" {
		return openDir(ctx, u.Path)
	}
	return openS3(u, o)
}

// Check reports what is wrong with a URL for Open. It sends no request.
func Check(rawURL string) error {
	_, err := parse(rawURL)
	return err
}

// parse checks a URL. Its errors do not repeat what may be a secret.
func parse(rawURL string) (*url.URL, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, errors.New("bucket: the URL cannot be parsed; expected s3://BUCKET/PREFIX?endpoint=http://HOST:PORT or file:///DIR")
	}
	if u.User != nil {
		return nil, errors.New("bucket: the URL contains a user or a password; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead")
	}
	if u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("bucket: the URL must have the form s3://BUCKET/PREFIX?endpoint=http://HOST:PORT or file:///DIR")
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || u.RawQuery != "" || !strings.HasPrefix(u.Path, "/") {
			return nil, errors.New("bucket: a directory must be given as file:///DIR, with its absolute path")
		}
	case "s3":
		return u, checkS3(u)
	default:
		return nil, fmt.Errorf("bucket: unknown scheme %q; expected s3 or file", u.Scheme)
	}
	return u, nil
}

func checkS3(u *url.URL) error {
	if u.Host == "" {
		return errors.New("bucket: the URL names no bucket; expected s3://BUCKET/PREFIX")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return errors.New("bucket: the query of the URL cannot be parsed")
	}
	for name := range query {
		if name != "endpoint" && name != "region" {
			return fmt.Errorf(
				"bucket: unknown parameter %q in the URL; expected endpoint and region (credentials are set in the environment)", name)
		}
	}
	if endpoint := query.Get("endpoint"); endpoint != "" {
		e, err := url.Parse(endpoint)
		if err != nil || e.Scheme != "http" && e.Scheme != "https" || e.Host == "" || e.Path != "" && e.Path != "/" || e.RawQuery != "" {
			return errors.New("bucket: the endpoint must have the form http://HOST:PORT or https://HOST:PORT")
		}
		if e.User != nil {
			return errors.New("bucket: the endpoint contains a user or a password; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead")
		}
	}
	if err := s3utils.CheckValidBucketName(u.Host); err != nil {
		return fmt.Errorf("bucket: %q is not the name of a bucket: %s", u.Host, strings.ToLower(err.Error()[:1])+err.Error()[1:])
	}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		return CheckKey(prefix)
	}
	return nil
}

// CheckKey returns an error about a key that some implementation could not store: each of its parts between slashes
// must be 1 to 200 printable ASCII characters, and not begin with a dot. No key may be another one's directory.
func CheckKey(key string) error {
	if len(key) > 900 {
		return fmt.Errorf("bucket: the key is longer than 900 bytes: %.40q", key)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || len(part) > 200 || part[0] == '.' {
			return fmt.Errorf("bucket: not a key: %q", key)
		}
		for i := range len(part) {
			if c := part[i]; c <= ' ' || c > '~' || c == '\\' {
				return fmt.Errorf("bucket: not a key: %q", key)
			}
		}
	}
	return nil
}

// checkPut returns the error about options that contradict each other, or a key.
func checkPut(key string, size int64, o PutOptions) error {
	if o.IfAbsent && o.IfMatch != "" {
		return errors.New("bucket: put: IfAbsent and IfMatch exclude each other")
	}
	if size < 0 {
		return errors.New("bucket: put: negative size")
	}
	return CheckKey(key)
}
