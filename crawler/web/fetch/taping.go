package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"odarchive/crawler/address"
	"sync"
)

// Taping returns a transport like that of Portals, which also gives a tape each request and its response, as they were
// on the wire. A response is recorded when its body has been read to its end or is closed, before that call returns.
// What the reader did not want of a body is missing there, too.
func (f *Fetcher) Taping(tape Tape) http.RoundTripper { return &taping{f, tape} }

type taping struct {
	f    *Fetcher
	tape Tape
}

func (t *taping) RoundTrip(req *http.Request) (*http.Response, error) {
	public := *req.URL
	public.User = nil
	now := t.f.opts.Now
	ex := &Exchange{URL: public.String(), FinalURL: public.String(), Start: now()}
	base := &client{f: t.f, login: true}
	trace := &traced{ex: ex, now: now, keep: t.f.opts.Spool, login: base.settings(req).Secret}
	out := req.WithContext(httptrace.WithClientTrace(req.Context(), trace.hooks()))
	asked := &teeBody{ReadCloser: req.Body}
	if req.Body != nil && req.Body != http.NoBody {
		out.Body = asked
	}
	resp, err := base.RoundTrip(out)
	wire := trace.close(req.Method+" "+req.URL.RequestURI(), resp)
	if resp != nil && resp.ProtoMajor == 2 {
		wire.sent(posted(req, asked))
	}
	hidden := address.SecretsIn(req.Context())
	hop := Hop{URL: hidden.Replace(ex.URL), Start: ex.Start, RemoteAddr: ex.RemoteAddr}
	record := func(cut string) {
		wire.finish(ex, hop, cut)
		ex.End = now()
		ex.URL, ex.FinalURL = hidden.Replace(ex.URL), hidden.Replace(ex.FinalURL)
		if len(ex.Hops) > 0 && clean(hidden, ex.Hops) {
			t.tape.Record(context.WithoutCancel(req.Context()), ex, nil, false)
		}
		ex.release()
	}
	if err != nil {
		record("disconnect")
		return nil, err
	}
	body := &tapedBody{ReadCloser: resp.Body, record: record}
	if resp.ProtoMajor == 2 {
		body.wire = wire
	}
	resp.Body = body
	return resp, nil
}

// posted returns the body of a request over HTTP/2. An answer may come before all of it is sent.
func posted(req *http.Request, asked *teeBody) []byte {
	if req.GetBody == nil {
		return asked.bytes()
	}
	body, err := req.GetBody()
	if err != nil {
		return asked.bytes()
	}
	defer body.Close()
	all, err := io.ReadAll(io.LimitReader(body, maxRequest))
	if err != nil {
		return asked.bytes()
	}
	return all
}

// tapedBody is the body of a response that is recorded at its end.
type tapedBody struct {
	io.ReadCloser
	wire   *capture // nil if the connection records
	record func(cut string)
	once   sync.Once
}

func (b *tapedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.wire != nil && n > 0 {
		b.wire.received(p[:n])
	}
	var timeout interface{ Timeout() bool }
	switch {
	case err == io.EOF:
		b.end("")
	case errors.As(err, &timeout) && timeout.Timeout():
		b.end("time")
	case err != nil:
		b.end("disconnect")
	}
	return n, err
}

func (b *tapedBody) Close() error {
	b.end("length")
	return b.ReadCloser.Close()
}

func (b *tapedBody) end(cut string) { b.once.Do(func() { b.record(cut) }) }

// teeBody keeps the beginning of a request's body while it is sent.
type teeBody struct {
	io.ReadCloser

	mu   sync.Mutex
	kept bytes.Buffer
}

func (b *teeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept.Write(p[:min(n, maxRequest-b.kept.Len())])
	return n, err
}

func (b *teeBody) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.kept.Bytes())
}
