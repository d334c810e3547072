package bucket

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

// putMark is the metadata with a random number of each Put. It tells a Put that was repeated, because the answer to it
// was lost, whether the object that is there now is its own.
const putMark = "Odarchive-Put"

// abortTime bounds the request that discards the parts of an upload that failed.
const abortTime = 10 * time.Second

// Put implements Bucket.
func (b *s3) Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o PutOptions) error {
	if err := checkPut(key, size, o); err != nil {
		return err
	}
	start, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("bucket: put %s: %w", key, err)
	}
	p := &put{b: b, key: key, start: start, size: size, body: body, o: o, mark: rand.Text()}
	if size > b.o.PartSize {
		err = p.inParts(ctx)
	} else {
		err = p.whole(ctx)
	}
	return err
}

// put is one call of Put.
type put struct {
	b           *s3
	key         string
	start, size int64
	body        io.ReadSeeker
	o           PutOptions
	mark        string
}

// whole sends the object in one request.
func (p *put) whole(ctx context.Context) error {
	sum := p.o.SHA256
	if sum == "" {
		var err error
		if sum, err = p.digest(0, p.size); err != nil {
			return err
		}
	}
	options := p.options(true)
	return p.conditionally(ctx, func(w *watch) error {
		part := p.section(w, 0, p.size)
		defer part.stop()
		_, err := p.b.core.PutObject(w.ctx, p.b.name, p.b.prefix+p.key, part, p.size, "", sum, options)
		return err
	})
}

// inParts sends the object in several requests. It comes into being with the last one.
func (p *put) inParts(ctx context.Context) (err error) {
	if p.o.conditional() { // before anything is sent in vain
		info, err := p.b.Stat(ctx, p.key)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if p.o.IfAbsent && err == nil || p.o.IfMatch != "" && (err != nil || info.ETag != p.o.IfMatch) {
			return p.refused()
		}
	}
	name := p.b.prefix + p.key
	var id string
	marked := minio.PutObjectOptions{UserMetadata: map[string]string{putMark: p.mark}}
	err = p.b.try(ctx, "put", p.key, func(w *watch, _ int) (err error) {
		defer w.end()
		id, err = p.b.core.NewMultipartUpload(w.ctx, p.b.name, name, marked)
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(abortTime, p.b.o.Stall))
			defer cancel()
			_ = p.b.core.AbortMultipartUpload(ctx, p.b.name, name, id) // a rule of the bucket's may discard it, too
		}
	}()
	size := max(p.b.o.PartSize, (p.size+maxParts-1)/maxParts)
	var parts []minio.CompletePart
	for at := int64(0); at < p.size; at += size {
		n := min(size, p.size-at)
		sum, err := p.digest(at, n)
		if err != nil {
			return err
		}
		err = p.b.try(ctx, "put", p.key, func(w *watch, _ int) error {
			defer w.end()
			part := p.section(w, at, n)
			defer part.stop()
			done, err := p.b.core.PutObjectPart(w.ctx, p.b.name, name, id, len(parts)+1, part, n,
				minio.PutObjectPartOptions{Sha256Hex: sum, DisableContentSha256: true})
			if err == nil {
				parts = append(parts, minio.CompletePart{PartNumber: len(parts) + 1, ETag: done.ETag})
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return p.conditionally(ctx, func(w *watch) error {
		_, err := p.b.core.CompleteMultipartUpload(w.ctx, p.b.name, name, id, parts, p.options(false))
		return err
	})
}

// conditionally sends the request that makes the object. If it had to be repeated and is then refused, or its upload is
// unknown, the object that is there may be its own.
func (p *put) conditionally(ctx context.Context, send func(*watch) error) error {
	repeated := false
	err := p.b.try(ctx, "put", p.key, func(w *watch, attempt int) error {
		defer w.end()
		repeated = attempt > 0
		return send(w)
	})
	refused := errors.Is(err, errPrecondition) || errors.Is(err, ErrNotFound)
	if !refused {
		return err
	}
	if repeated {
		object, failed := p.b.stat(ctx, p.key)
		if failed == nil && object.UserMetadata[putMark] == p.mark {
			return nil
		}
		if failed != nil && !errors.Is(failed, ErrNotFound) {
			return failed
		}
	}
	if !p.o.conditional() {
		return err
	}
	return p.refused()
}

func (p *put) refused() error {
	if p.o.IfAbsent {
		return fmt.Errorf("bucket: put %s: %w", p.key, ErrExists)
	}
	return fmt.Errorf("bucket: put %s: %w", p.key, ErrChanged)
}

func (p *put) options(marked bool) minio.PutObjectOptions {
	o := minio.PutObjectOptions{DisableContentSha256: true} // as a stream in signed pieces; its SHA-256 is signed instead
	if marked {
		o.UserMetadata = map[string]string{putMark: p.mark}
	}
	if p.o.IfAbsent {
		o.SetMatchETagExcept("*")
	}
	if p.o.IfMatch != "" {
		o.SetMatchETag(p.o.IfMatch)
	}
	return o
}

// digest returns the SHA-256 of n bytes of the body, in hexadecimal.
func (p *put) digest(at, n int64) (string, error) {
	h := sha256.New()
	_, err := p.body.Seek(p.start+at, io.SeekStart)
	if err == nil {
		_, err = io.CopyN(h, p.body, n)
	}
	if err != nil {
		return "", fmt.Errorf("bucket: put %s: read the body: %w", p.key, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (p *put) section(w *watch, at, n int64) *section {
	return &section{w: w, body: p.body, start: p.start + at, size: n}
}

// section is a part of a body as one request reads it. After stop, the request cannot read any more: net/http may do so
// for a moment after it has returned.
type section struct {
	w           *watch
	start, size int64

	mu      sync.Mutex // guards the fields below
	body    io.ReadSeeker
	at      int64
	stopped bool
}

func (s *section) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return 0, errors.New("bucket: the request has ended")
	}
	if s.at >= s.size {
		return 0, io.EOF
	}
	s.w.progress()
	n, err := s.body.Read(b[:min(int64(len(b)), s.size-s.at)])
	s.at += int64(n)
	if err == io.EOF && s.at < s.size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// Seek only returns to the start, as minio-go does before it sends.
func (s *section) Seek(offset int64, whence int) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if offset != 0 || whence != io.SeekStart || s.stopped {
		return 0, errors.New("bucket: a body can only be read from its start")
	}
	_, err := s.body.Seek(s.start, io.SeekStart)
	s.at = 0
	return 0, err
}

func (s *section) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}
