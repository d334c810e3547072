package ranges

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"odarchive/crawler/web/spool"
)

// host is a host with one file.
type host struct {
	t        *testing.T
	spool    *spool.Spool
	text     []byte
	etag     string
	whole    bool // it does not answer ranges
	short    int  // it sends so many bytes at most
	requests []string
	sent     int64
}

func newHost(t *testing.T, size int) *host {
	t.Helper()
	s, err := spool.New(t.TempDir(), spool.Options{Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, spool: s, text: make([]byte, size), etag: `"1"`}
	for i := range h.text {
		h.text[i] = byte(i>>12 ^ i)
	}
	t.Cleanup(func() {
		if memory, disk := s.Usage(); memory+disk != 0 {
			t.Errorf("%d and %d bytes stay in the spool", memory, disk)
		}
	})
	return h
}

func (h *host) get(_ context.Context, from, to int64, condition string, only bool) (Part, error) {
	h.requests = append(h.requests, fmt.Sprintf("%d-%d %s", from, to, condition))
	p := Part{From: from, Total: int64(len(h.text)), ETag: h.etag}
	send := h.text[from:min(to, p.Total)]
	if h.whole || condition != "" && condition != h.etag {
		if p.Whole = true; only {
			return p, nil
		}
		p.From, send = 0, h.text
	} else if h.short > 0 {
		send = send[:min(len(send), h.short)]
	}
	p.Body = h.spool.CreatePlain()
	if _, err := p.Body.Write(send); err != nil {
		h.t.Fatal(err)
	}
	h.sent += int64(len(send))
	return p, p.Body.Finish()
}

func (h *host) open(limit int64) *File {
	h.t.Helper()
	f, err := Open(h.t.Context(), "http://a.example/x", 0, 64<<10, limit, h.get)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := f.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return f
}

func TestAFileIsReadOnceWithFewRequests(t *testing.T) {
	t.Parallel()
	h := newHost(t, 50<<20)
	f := h.open(1 << 30)
	for range 2 {
		b, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
		if err != nil || !bytes.Equal(b, h.text) {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
	}
	if h.sent != int64(len(h.text)) || len(h.requests) > 8 || f.Fetched() != h.sent {
		t.Errorf("%d of %d bytes sent in %d requests", h.sent, len(h.text), len(h.requests))
	}
}

func TestReadingHereAndThereTakesLittle(t *testing.T) {
	t.Parallel()
	h := newHost(t, 50<<20)
	f := h.open(1 << 30)
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 1000)
	for i := range 40 {
		at := random.Int64N(f.Size() - 1000)
		if i < 3 { // as a reader of zips
			at = f.Size() - 1000*int64(i+1)
		}
		if n, err := f.ReadAt(b, at); n != len(b) || err != nil || !bytes.Equal(b, h.text[at:at+1000]) {
			t.Fatalf("%d bytes at %d, %v", n, at, err)
		}
	}
	if h.sent > 4<<20 || len(h.requests) > 39 {
		t.Errorf("%d bytes sent in %d requests", h.sent, len(h.requests))
	}
	if n, err := f.ReadAt(b, f.Size()-10); n != 10 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if n, err := f.ReadAt(b, f.Size()+10); n != 0 || err != io.EOF {
		t.Errorf("behind the end: %d, %v", n, err)
	}
}

func TestReadingOnInSmallStepsTakesFewRequests(t *testing.T) {
	t.Parallel()
	h := newHost(t, 10<<20)
	f := h.open(1 << 30)
	for at := f.Size() - 30; at > 9<<20; at -= 1000 {
		if _, err := f.ReadAt(make([]byte, 30), at); err != nil {
			t.Fatal(err)
		}
	}
	for at := int64(0); at+30 < f.Size(); at += 700 {
		if _, err := f.ReadAt(make([]byte, 30), at); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size())); err != nil || !bytes.Equal(b, h.text) || len(h.requests) > 25 ||
		h.sent != f.Size() {
		t.Errorf("%d bytes, %v; %d bytes in %d requests", len(b), err, h.sent, len(h.requests))
	}
}

func TestAHostMaySendLessThanItIsAskedForOrAll(t *testing.T) {
	t.Parallel()
	h := newHost(t, 300_000)
	h.short = 10_000
	if b, err := io.ReadAll(io.NewSectionReader(h.open(1<<20), 0, 300_000)); err != nil || !bytes.Equal(b, h.text) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	h = newHost(t, 300_000)
	h.whole = true
	if b, err := io.ReadAll(io.NewSectionReader(h.open(1<<20), 0, 300_000)); err != nil || !bytes.Equal(b, h.text) || len(h.requests) != 1 {
		t.Errorf("%d bytes, %v, requests %q", len(b), err, h.requests)
	}
}

func TestAFileThatChangesIsAnErrorThatStays(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*host){
		"its ETag was \"1\" and is \"2\" now":    func(h *host) { h.etag = `"2"` },
		"it had 300000 bytes and has 300001 now": func(h *host) { h.text = append(h.text, 0) },
		"does not send parts of the file":        func(h *host) { h.whole = true },
	} {
		h := newHost(t, 300_000)
		f := h.open(1 << 20)
		change(h)
		for range 2 {
			if _, err := f.ReadAt(make([]byte, 10), 200_000); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		if len(h.requests) != 2 || h.requests[1][len(h.requests[1])-3:] != `"1"` {
			t.Errorf("requests %q", h.requests)
		}
	}
}

func TestTheLimitIsThatOfAllRequests(t *testing.T) {
	t.Parallel()
	h := newHost(t, 1<<20)
	f := h.open(200_000)
	n, err := io.Copy(io.Discard, io.NewSectionReader(f, 0, f.Size()))
	if !errors.Is(err, ErrTooMuch) || n != 200_000 || h.sent != 200_000 {
		t.Errorf("%d bytes read, %d sent, %v", n, h.sent, err)
	}
}

func TestAHostThatSendsCrumbsIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	h := newHost(t, 1<<20)
	h.short = 7
	_, err := io.ReadAll(io.NewSectionReader(h.open(1<<30), 0, 1<<20))
	if err == nil || !strings.Contains(err.Error(), "far less than it is asked for") || len(h.requests) > 2*maxShort {
		t.Errorf("%d requests, %v", len(h.requests), err)
	}
}
