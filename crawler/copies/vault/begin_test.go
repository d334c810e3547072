package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
)

// answering is an object store that gives one answer.
func answering(t *testing.T, status int, code string) bucket.Bucket {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>so it is</Message></Error>", code)
	}))
	t.Cleanup(s.Close)
	b, err := bucket.Open(t.Context(), "s3://archive/backup?region=eu&endpoint="+s.URL, bucket.Options{
		Attempts: 2, Backoff: time.Millisecond, Getenv: func(name string) string {
			return map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}[name]
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAStartFailsIfTheBucketCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		fails  bool
	}{
		{404, "NoSuchBucket", true}, {400, "InvalidBucketName", true}, {403, "AccessDenied", true}, {403, "SignatureDoesNotMatch", true},
		{403, "InvalidAccessKeyId", true}, {301, "PermanentRedirect", true},
		{403, "RequestTimeTooSkewed", false}, {400, "ExpiredToken", false}, {400, "RequestTimeout", false}, {429, "SlowDown", false},
		{500, "InternalError", false}, {503, "ServiceUnavailable", false}, {502, "BadGateway", false},
	} {
		a := open4(t, filepath.Join(t.TempDir(), "data"))
		err := a.keep(answering(t, c.status, c.code), Options{})
		if c.fails != errors.Is(err, bucket.ErrRefused) || c.fails != (err != nil) {
			t.Errorf("%d %s: %v", c.status, c.code, err)
		}
		a.close()
	}
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	other := new(buckettest.Memory)
	put(t, other, "photos/1.jpg", "x")
	if err := a.keep(other, Options{}); err == nil || !strings.Contains(err.Error(), "empty prefix") {
		t.Errorf("other objects: %v", err)
	}
	if os.Geteuid() == 0 {
		return // may write everywhere
	}
	dir := t.TempDir()
	b, err := bucket.Open(t.Context(), "file://"+dir, bucket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, ".tmp"), 0o500); err != nil {
		t.Fatal(err)
	}
	if err := a.keep(b, Options{}); !errors.Is(err, bucket.ErrRefused) {
		t.Errorf("a directory that cannot be written: %v", err)
	}
}

// full is a bucket that can be read, and takes nothing.
type full struct {
	bucket.Bucket
	err error
}

func (f full) Put(context.Context, string, int64, io.ReadSeeker, bucket.PutOptions) error {
	return f.err
}

// A server that was killed starts again although its backup takes nothing: it has seen that nobody else writes it.
func TestAServerStartsAlthoughItsBackupTakesNothing(t *testing.T) {
	t.Parallel()
	for _, why := range []error{errors.New("no space left on device"), bucket.ErrRefused, bucket.ErrUnavailable} {
		b := new(buckettest.Memory)
		a := open4(t, filepath.Join(t.TempDir(), "data"))
		if err := a.keep(b, Options{}); err != nil {
			t.Fatal(err)
		}
		a.waitWhole()
		if _, err := Take(t.Context(), b,
			Candidate{Holder: Holder(a.dir), Lease: 200 * time.Millisecond, Force: true, check: a.keeper.check}); err != nil {
			t.Fatal(err) // a process that is killed now: it gives no lease back
		}
		a.close()
		a = open4(t, a.dir)
		if err := a.keep(full{b, why}, Options{Begun: true}); err != nil {
			t.Errorf("%v: %v", why, err)
		}
		if a.keeper.State().Epoch != 0 {
			t.Error("it says that it writes the backup")
		}
		a.mustPut(1)
		a.close()
	}
}
