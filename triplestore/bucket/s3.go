package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// s3 is a bucket of an S3-compatible object store. Requests are retried here and not by minio-go, which cannot know
// whether a conditional request that failed halfway had succeeded.
type s3 struct {
	core    *minio.Core
	name    string
	prefix  string // of all keys: empty, or ending with a slash
	o       Options
	log     *slog.Logger
	secrets []string // are cut out of error messages
}

var _ Bucket = (*s3)(nil)

// amazon is the endpoint of a URL that names none.
const amazon = "https://s3.amazonaws.com"

func openS3(u *url.URL, o Options) (Bucket, error) {
	query := u.Query()
	endpoint := query.Get("endpoint")
	lookup := minio.BucketLookupPath // what every gateway understands, also at an IP address
	if endpoint == "" {
		endpoint, lookup = amazon, minio.BucketLookupAuto
	}
	e, err := url.Parse(endpoint)
	if err != nil {
		return nil, errors.New("bucket: the endpoint cannot be parsed")
	}
	region := query.Get("region")
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region == "" {
			region = o.Getenv(name)
		}
	}
	if region == "" && endpoint != amazon {
		region = "us-east-1" // of Amazon, the client asks
	}
	keys, secrets, err := credentialsFrom(o.Getenv)
	if err != nil {
		return nil, err
	}
	transport := o.Transport
	if transport == nil {
		transport = newTransport(o.Stall)
	}
	core, err := minio.NewCore(e.Host, &minio.Options{
		Creds: keys, Secure: e.Scheme == "https", Region: region, BucketLookup: lookup, Transport: transport,
		MaxRetries: 1, TrailingHeaders: false, // some gateways refuse trailing checksums; the SHA-256 is in the head
	})
	if err != nil {
		return nil, fmt.Errorf("bucket: open %s: %w", u.Host, err)
	}
	b := &s3{core: core, name: u.Host, o: o, log: o.Logger, secrets: secrets}
	if p := strings.Trim(u.Path, "/"); p != "" {
		b.prefix = p + "/"
	}
	return b, nil
}

func credentialsFrom(getenv func(string) string) (*credentials.Credentials, []string, error) {
	id, secret, token := getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN")
	if id != "" && secret != "" {
		return credentials.NewStaticV4(id, secret, token), []string{secret, token, id}, nil
	}
	if id != "" || secret != "" {
		return nil, nil, errors.New("bucket: only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set")
	}
	keys := credentials.NewFileAWSCredentials(getenv("AWS_SHARED_CREDENTIALS_FILE"), getenv("AWS_PROFILE"))
	value, err := keys.GetWithContext(nil)
	if err != nil || value.AccessKeyID == "" {
		return nil, nil, errors.New("bucket: no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	return keys, []string{value.SecretAccessKey, value.SessionToken, value.AccessKeyID}, nil
}

func newTransport(stall time.Duration) http.RoundTripper {
	dialer := &net.Dialer{Timeout: min(stall, 10*time.Second), KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: min(stall, 10*time.Second),
		MaxIdleConnsPerHost: 256, MaxIdleConns: 256, IdleConnTimeout: time.Minute, ExpectContinueTimeout: time.Second,
		DisableCompression: true, WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
	}
}

// Get implements Bucket.
func (b *s3) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Info, error) {
	if err := CheckKey(key); err != nil {
		return nil, Info{}, err
	}
	offset = max(offset, 0)
	if length == 0 {
		info, err := b.Stat(ctx, key)
		return http.NoBody, info, err
	}
	var options minio.GetObjectOptions
	ranged := offset > 0 || length > 0
	switch {
	case length > 0:
		options.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case ranged:
		options.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	var body io.ReadCloser
	var info Info
	err := b.try(ctx, "get", key, func(w *watch, _ int) (err error) {
		defer func() {
			if err != nil {
				w.end()
			}
		}()
		r, object, header, err := b.core.GetObject(w.ctx, b.name, b.prefix+key, options)
		if err != nil {
			return err
		}
		want := object.Size
		info = Info{Key: key, Size: object.Size, ETag: object.ETag, Modified: object.LastModified}
		if ranged {
			var first, last int64
			if _, err := fmt.Sscanf(header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &info.Size); err != nil ||
				first != offset ||
				last < first || length > 0 && last-first >= length {
				r.Close()
				return errors.New("the object store did not answer with the range that was asked for")
			}
			want = last - first + 1
		}
		w.pause()
		body = &download{watch: w, b: b, key: key, r: r, left: want}
		return nil
	})
	if errors.Is(err, errRange) {
		info, err = b.Stat(ctx, key)
		return http.NoBody, info, err
	}
	return body, info, err
}

// download is the body of a Get. It fails if bytes are missing, or do not arrive.
type download struct {
	*watch
	b    *s3
	key  string
	r    io.ReadCloser
	left int64
}

func (d *download) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > d.left {
		p = p[:d.left]
	}
	d.progress()
	n, err := d.r.Read(p)
	d.pause()
	d.left -= int64(n)
	if d.left == 0 {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		err = fmt.Errorf("bucket: get %s: %w", d.key, d.b.explain(d.watch, err))
	}
	return n, err
}

func (d *download) Close() error {
	err := d.r.Close()
	d.end()
	return err
}

// Stat implements Bucket.
func (b *s3) Stat(ctx context.Context, key string) (Info, error) {
	if err := CheckKey(key); err != nil {
		return Info{}, err
	}
	object, err := b.stat(ctx, key)
	return Info{Key: key, Size: object.Size, ETag: object.ETag, Modified: object.LastModified}, err
}

func (b *s3) stat(ctx context.Context, key string) (object minio.ObjectInfo, err error) {
	err = b.try(ctx, "stat", key, func(w *watch, _ int) error {
		defer w.end()
		object, err = b.core.StatObject(w.ctx, b.name, b.prefix+key, minio.StatObjectOptions{})
		return err
	})
	return object, err
}

// List implements Bucket.
func (b *s3) List(ctx context.Context, prefix, after string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for {
			stopped, last := false, after
			err := b.try(ctx, "list", prefix, func(w *watch, _ int) error {
				defer w.end()
				options := minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}
				if after != "" {
					options.StartAfter = b.prefix + after
				}
				for object := range b.core.ListObjectsIter(w.ctx, b.name, options) {
					if object.Err != nil {
						return object.Err
					}
					w.pause()
					key, ok := strings.CutPrefix(object.Key, b.prefix)
					if !ok || key <= after && key <= last || CheckKey(key) != nil {
						continue // of a server that ignores where to start, or somebody else's
					}
					if key <= last {
						return errors.New("the object store does not list keys in order")
					}
					last = key
					if !yield(Info{Key: key, Size: object.Size, ETag: strings.Trim(object.ETag, `"`), Modified: object.LastModified}, nil) {
						stopped = true
						return nil
					}
					w.progress()
				}
				return nil
			})
			if err == nil || stopped {
				return
			}
			if last == after || context.Cause(ctx) != nil || !errors.Is(err, ErrUnavailable) {
				yield(Info{}, err)
				return
			}
			after = last // it went on for a while: so try again from there
		}
	}
}

// Delete implements Bucket.
func (b *s3) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	err := b.try(ctx, "delete", key, func(w *watch, _ int) error {
		defer w.end()
		return b.core.RemoveObject(w.ctx, b.name, b.prefix+key, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
