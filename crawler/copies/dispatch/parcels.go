package dispatch

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
)

// parcelPrefix begins the keys of a bucket's objects that belong to results.
const parcelPrefix = content.ParcelPrefix

// Times of parcels in a bucket.
const (
	parcelAge   = 24 * time.Hour // of those that nobody has asked for: their workers were killed, or the writer
	parcelEvery = time.Hour      // pause between two looks for those
	bucketTime  = 5 * time.Second
)

// large stores the parts of results that are too large for a message: in a bucket, or else in JetStream.
type large struct {
	objects func(ctx context.Context) (jetstream.ObjectStore, error)
	bucket  bucket.Bucket // nil for none
}

// isPartName reports whether a text is a name that a worker gives a part. The writer deletes parts by their names, so
// that no other key of the bucket must be one.
func isPartName(name string) bool {
	name = strings.TrimSuffix(name, besideSuffix)
	return len(name) >= 20 && len(name) <= 64 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

const (
	besideSuffix = "-inside"
	beaconPrefix = "writer-" // no part is called so: no result makes the writer delete its beacon
)

// put stores a part. inBucket reports where; if the bucket fails, the part is in JetStream.
func (l large) put(ctx context.Context, name string, size int64, body io.ReadSeeker) (inBucket bool, err error) {
	if l.bucket != nil {
		if err := l.bucket.Put(ctx, parcelPrefix+name, size, body, bucket.PutOptions{IfAbsent: true}); err == nil {
			return true, nil
		} else if ctx.Err() != nil {
			return false, err
		}
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
	}
	objects, err := l.objects(ctx)
	if err == nil {
		_, err = objects.Put(ctx, jetstream.ObjectMeta{Name: name}, body)
	}
	return false, err
}

// open opens a part. One of more than max bytes is cut off, or refused.
func (l large) open(ctx context.Context, name string, inBucket bool, max int64) (io.ReadCloser, error) {
	if !inBucket {
		objects, err := l.objects(ctx)
		if err != nil {
			return nil, err
		}
		o, err := objects.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		return bounded{io.LimitReader(o, max), o}, nil
	}
	if l.bucket == nil {
		return nil, malformed("a part in a bucket, and there is none")
	}
	body, info, err := l.bucket.Get(ctx, parcelPrefix+name, 0, max)
	if err != nil {
		return nil, err
	}
	if info.Size > max {
		return nil, errors.Join(malformed("an object of %d bytes", info.Size), body.Close())
	}
	return body, nil
}

// bounded is the beginning of a part.
type bounded struct {
	io.Reader
	io.Closer
}

// delete deletes a part. If that fails, the part is deleted when it is old.
func (l large) delete(name string, inBucket bool) {
	ctx, cancel := context.WithTimeout(context.Background(), bucketTime)
	defer cancel()
	switch {
	case !inBucket:
		if objects, err := l.objects(ctx); err == nil {
			_ = objects.Delete(ctx, name)
		}
	case l.bucket != nil:
		_ = l.bucket.Delete(ctx, parcelPrefix+name)
	}
}

// beacon is an object by which workers recognise the writer's bucket as theirs.
type beacon struct {
	bucket bucket.Bucket
	log    *slog.Logger
	name   atomic.Pointer[string] // nil as long as it is not there
}

// light stores the beacon.
func (b *beacon) light(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, bucketTime)
	defer cancel()
	name := beaconPrefix + rand.Text()
	if err := b.bucket.Put(ctx, parcelPrefix+name, int64(len(name)), strings.NewReader(name),
		bucket.PutOptions{IfAbsent: true}); err != nil {
		b.log.Warn("large parcels of workers go over NATS, since the bucket cannot be written", "error", err)
		return
	}
	if old := b.name.Swap(&name); old != nil {
		_ = b.bucket.Delete(ctx, parcelPrefix+*old) // or it is deleted when it is old
	}
}

// keep stores the beacon if it is not there, and removes old parcels, until ctx ends; then it removes the beacon.
func (b *beacon) keep(ctx context.Context) {
	for ctx.Err() == nil {
		if b.name.Load() == nil {
			b.light(ctx)
		}
		if n, err := b.sweep(ctx, time.Now()); err != nil && ctx.Err() == nil {
			b.log.Warn("old parcels were not removed from the bucket", "error", err)
		} else if n > 0 {
			b.log.Info("parcels that no result has named were removed from the bucket", "parcels", n)
		}
		_ = pause(ctx, parcelEvery)
	}
	if name := b.name.Load(); name != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bucketTime)
		defer cancel()
		_ = b.bucket.Delete(ctx, parcelPrefix+*name)
	}
}

// sweep deletes what is older than parcelAge, and returns how much that was.
func (b *beacon) sweep(ctx context.Context, now time.Time) (deleted int, err error) {
	own := ""
	if name := b.name.Load(); name != nil {
		own = parcelPrefix + *name
	}
	var old []string
	for info, err := range b.bucket.List(ctx, parcelPrefix, "") {
		if err != nil {
			return 0, err
		}
		if info.Key != own && now.Sub(info.Modified) > parcelAge {
			old = append(old, info.Key)
		}
	}
	for _, key := range old {
		if err := b.bucket.Delete(ctx, key); err != nil {
			return deleted, err
		}
		deleted++
	}
	return deleted, nil
}

// sharedBucket returns the bucket of a worker if the writer has the same one; nil otherwise.
func sharedBucket(ctx context.Context, b bucket.Bucket, beacon string, log *slog.Logger) bucket.Bucket {
	if b == nil {
		return nil
	}
	err := errors.New("the archive has none, or cannot write it")
	if beacon != "" {
		limited, cancel := context.WithTimeout(ctx, bucketTime)
		defer cancel()
		if name, ok := strings.CutPrefix(beacon, beaconPrefix); !ok || !isPartName(name) {
			err = fmt.Errorf("%.80q is not the name of an object", beacon)
		} else if _, err = b.Stat(limited, parcelPrefix+beacon); err == nil {
			return b
		} else if errors.Is(err, bucket.ErrNotFound) {
			err = errors.New("it is not the archive's")
		}
	}
	log.Warn("the bucket is not used: large parcels go over NATS", "error", err)
	return nil
}

// openParcel opens the parcel of a result, wherever it is.
func openParcel(ctx context.Context, parts large, r *Result) (io.ReadCloser, error) {
	if r.Object == "" {
		return io.NopCloser(bytes.NewReader(r.Parcel)), nil
	}
	size := r.Finding.Body.Size // which has no parcel that is much larger
	o, err := parts.open(ctx, r.Object, r.ObjectInBucket, size+size/16+1<<20)
	if err != nil {
		return nil, fmt.Errorf("the parcel of a result: %w", err)
	}
	return o, nil
}

// fetchBeside returns what is inside the file of a result, if that did not fit into the message.
func fetchBeside(ctx context.Context, parts large, r *Result) ([]byte, error) {
	o, err := parts.open(ctx, r.Beside, r.BesideInBucket, maxPart+1)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	b, err := io.ReadAll(o)
	if err == nil && len(b) > maxPart {
		err = malformed("an object of more than %d bytes", maxPart)
	}
	return b, err
}
