package bagit

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"odarchive/crawler/exchange/preserve"
)

// digests are those that manifests state of a file, by algorithm.
type digests map[string]string

// algorithms are those of manifests that this program knows.
func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha224":
		return sha256.New224()
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	}
	return nil
}

// compare reports what is there and not listed, or listed and not there (§3).
func (r *reading) compare() {
	for _, p := range r.names() {
		if isPayload(p) && r.payload[p] == nil {
			r.bad(fmt.Errorf("%.200q is in no manifest", p))
		}
	}
	octets, streams := int64(0), 0
	complete := true
	for p := range r.payload {
		size, there := r.sizes[p]
		if !there {
			complete = false
			r.damage(p)
			r.bad(fmt.Errorf("%.200q is not there: complete the bag first, if it is to be fetched", p))
			continue
		}
		octets += size
		streams++
	}
	for p := range r.tags {
		if _, there := r.sizes[p]; !there {
			r.damage(p)
			r.bad(fmt.Errorf("%.200q is not there", p))
		}
	}
	if want, stated := r.info["payload-oxum"]; stated && complete && want != fmt.Sprintf("%d.%d", octets, streams) {
		r.bad(fmt.Errorf("the payload is %d.%d, the Payload-Oxum %.50q", octets, streams, want))
	}
}

// checkAll compares all digests, and notes the files that have others.
func (r *reading) checkAll(ctx context.Context) error {
	for _, all := range []map[string]digests{r.tags, r.payload} {
		for p, want := range all {
			if r.damaged[p] {
				continue
			}
			body, err := r.body(ctx, p, want)
			if err == nil {
				_, err = io.Copy(io.Discard, body)
				err = errors.Join(err, body.file.Close())
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.damage(p)
				r.bad(fmt.Errorf("%.200q: %w", p, err))
			}
		}
	}
	return nil
}

// checking reads a file. At its end, the error is a *preserve.Bad if a digest is another than expected.
type checking struct {
	checked
	file io.Closer
	kind []string
	want digests
}

func (r *reading) body(ctx context.Context, p string, want digests) (*checking, error) {
	if r.sizes[p] > r.max && isPayload(p) {
		return nil, preserve.Badf("it has %d bytes, more than %d", r.sizes[p], r.max)
	}
	f, err := r.open(p)
	if err != nil {
		return nil, &preserve.Bad{Err: err}
	}
	c := &checking{checked: checked{ctx: ctx, r: io.LimitReader(f, r.sizes[p]+1)}, file: f, want: want}
	for kind := range want {
		c.kind = append(c.kind, kind)
		c.sums = append(c.sums, newHash(kind))
	}
	return c, nil
}

func (c *checking) Read(p []byte) (int, error) {
	n, err := c.checked.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		for i, kind := range c.kind {
			if got := hex.EncodeToString(c.sums[i].Sum(nil)); got != c.want[kind] {
				return n, preserve.Badf("its %s is %.16s…, expected %.16s…", kind, got, c.want[kind])
			}
		}
	case err != nil && c.ctx.Err() == nil:
		err = &preserve.Bad{Err: err}
	}
	return n, err
}
