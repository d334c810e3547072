package tier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"odarchive/triplestore/bucket"
)

// ownerKey is the object that says whose the bucket is.
const ownerKey = "OWNER"

// ownership is what this process says about itself, and when it last saw that the bucket agrees.
type ownership struct {
	archive, holder string
	stored          bool // the journal has objects
	checked         time.Time
	lost            error
}

// ownerMark is the content of the object OWNER.
type ownerMark struct {
	Archive string    `json:"archive"`
	Holder  string    `json:"holder"` // of the folder
	Host    string    `json:"host,omitempty"`
	Dir     string    `json:"dir,omitempty"`
	Since   time.Time `json:"since"`
}

// ownerEvery is how often the mark is read again before something is changed in the bucket.
const ownerEvery = time.Minute

// maxOwner bounds the bytes of a mark.
const maxOwner = 64 << 10

// errOther reports a bucket that is not the one that the journal speaks of.
var errOther = fmt.Errorf(
	"the bucket has no object %s, although files of this folder are said to be in it: it is another bucket, or not all objects were copied",
	ownerKey)

// claim makes the bucket this folder's. If the bucket is away and the folder has used it before, work asks again.
func (f *FS) claim(parent context.Context, before bool) error {
	ctx, cancel := context.WithTimeout(parent, f.o.Limit)
	defer cancel()
	mark, etag, err := f.readOwner(ctx)
	switch {
	case errors.Is(err, bucket.ErrNotFound) && f.owner.stored:
		return errOther
	case errors.Is(err, bucket.ErrNotFound):
		err = f.putOwner(ctx, bucket.PutOptions{IfAbsent: true})
		if errors.Is(err, bucket.ErrExists) {
			err = f.confirm(ctx)
		}
	case err != nil:
	case mark.Archive != f.owner.archive:
		return f.owned(mark)
	case mark.Holder == f.owner.holder:
	case !f.o.TakeOver:
		return f.owned(mark)
	default:
		err = f.putOwner(ctx, bucket.PutOptions{IfMatch: etag})
	}
	if err == nil {
		f.owner.checked = time.Now()
		return nil
	}
	if before && !errors.Is(err, ErrOwned) && !errors.Is(err, bucket.ErrChanged) {
		f.log.Warn("the bucket cannot be reached; files that are only there cannot be read for now", "error", err)
		return nil
	}
	if parent.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", bucket.ErrUnavailable, err)
	}
	return err
}

// confirm returns an error unless the bucket is this folder's.
func (f *FS) confirm(ctx context.Context) error {
	mark, _, err := f.readOwner(ctx)
	if errors.Is(err, bucket.ErrNotFound) {
		return errOther
	}
	if err != nil {
		return err
	}
	if mark.Archive != f.owner.archive || mark.Holder != f.owner.holder {
		return f.owned(mark)
	}
	return nil
}

// stillOwner confirms now and then that nobody else has taken the bucket, before something is changed there.
func (f *FS) stillOwner(ctx context.Context) error {
	f.mu.Lock()
	checked, lost := f.owner.checked, f.owner.lost
	f.mu.Unlock()
	if lost != nil {
		return lost
	}
	if time.Since(checked) < ownerEvery {
		return nil
	}
	err := f.confirm(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.owner.checked = time.Now()
	} else if errors.Is(err, ErrOwned) {
		f.owner.lost = err
		f.log.Error("another archive has taken the bucket: nothing is uploaded or deleted any more", "error", err)
	}
	return err
}

func (f *FS) readOwner(ctx context.Context) (mark ownerMark, etag string, err error) {
	r, info, err := f.o.Bucket.Get(ctx, ownerKey, 0, maxOwner)
	if err != nil {
		return mark, "", err
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		return mark, "", err
	}
	if json.Unmarshal(raw, &mark) != nil || mark.Archive == "" {
		return mark, "", fmt.Errorf("%w: its object %s is not a mark of an archive", ErrOwned, ownerKey)
	}
	return mark, info.ETag, nil
}

func (f *FS) putOwner(ctx context.Context, o bucket.PutOptions) error {
	host, _ := os.Hostname() // for people only
	raw, err := json.Marshal(ownerMark{Archive: f.owner.archive, Holder: f.owner.holder, Host: host, Dir: f.o.Dir,
		Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	return f.o.Bucket.Put(ctx, ownerKey, int64(len(raw)), bytes.NewReader(raw), o)
}

// owned returns the sentence about somebody else's bucket.
func (f *FS) owned(mark ownerMark) error {
	if mark.Archive == f.owner.archive {
		return fmt.Errorf(
			"%w: another copy of this archive, in %s on %s, has used it since %s; stop that one, and take the bucket over (--take-bytes) "+
				"if it does not come back",
			ErrOwned, mark.Dir, mark.Host, mark.Since.Format(time.DateTime))
	}
	return fmt.Errorf("%w: the one in %s on %s has used it since %s; choose another bucket or prefix", ErrOwned, mark.Dir, mark.Host,
		mark.Since.Format(time.DateTime))
}
