package oai

import (
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
)

// trouble is something wrong with what the repository answered; what to do about it is decided where lists are read.
type trouble struct {
	kind string // "http", "network", "xml", "html", "loop", or the protocol's code: "badResumptionToken"
	err  error
}

func (t *trouble) Error() string { return t.err.Error() }
func (t *trouble) Unwrap() error { return t.err }

func troublef(kind, layout string, a ...any) *trouble {
	return &trouble{kind, fmt.Errorf(layout, a...)}
}

// client sends the protocol's requests to one repository.
type client struct {
	base  string // without a query of ours
	doer  harvest.Doer
	stats *Stats
	tries int
}

// ask sends one request. An error that is a *trouble comes from the repository, any other from the caller's side. The
// protocol's own errors are in the page, whatever status they came with.
func (c *client) ask(ctx context.Context, args url.Values, emit func(record) error) (page, error) {
	address := withQuery(c.base, args)
	answer, err := harvest.Ask(ctx, counting{c.doer, c.stats}, harvest.Request{URL: address, Accept: "text/xml, application/xml;q=0.9, */*;q=0.1", Tries: c.tries})
	if ctx.Err() != nil {
		return page{}, ctx.Err()
	}
	if err != nil {
		var status *harvest.StatusError
		if errors.As(err, &status) {
			if p, _ := parse(status.Body, emit); len(p.Errors) > 0 { // an error of the protocol, told with a status of its own
				return p, nil
			}
			return page{}, &trouble{"http", err}
		}
		return page{}, &trouble{"network", err}
	}
	c.moved(address, answer.URL)
	p, err := parse(answer.Body, emit)
	var mine sinkError
	switch {
	case errors.As(err, &mine):
		return p, mine.error
	case errors.Is(err, errNoOAI) && harvest.LooksLikeHTML(answer.Body):
		return p, troublef("html", "%s answered with a page of HTML, not with OAI-PMH", address)
	case err != nil:
		return p, &trouble{"xml", fmt.Errorf("%s: %w", address, err)}
	}
	return p, nil
}

// moved takes over where redirects lead to, so that not every request takes the long way.
func (c *client) moved(asked, answered string) {
	if asked == answered {
		return
	}
	_, query, _ := strings.Cut(asked, "?")
	if base, same := strings.CutSuffix(answered, query); same {
		c.base = strings.TrimRight(base, "?&")
	}
}

func withQuery(base string, args url.Values) string {
	sep := "?"
	if strings.Contains(base, "?") {
		sep = "&"
	}
	return base + sep + args.Encode()
}

// repository is the base URL of an address as people give it: without the arguments of a request.
func repository(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("oai: %q is no address of a repository", address)
	}
	q := u.Query()
	for _, arg := range []string{"verb", "metadataPrefix", "set", "from", "until", "resumptionToken", "identifier"} {
		q.Del(arg)
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String(), nil
}

// counting sends requests, counts them and their bytes, and opens compressed answers.
type counting struct {
	doer  harvest.Doer
	stats *Stats
}

func (c counting) Do(req *http.Request) (*http.Response, error) {
	req.Header.Set("Accept-Encoding", "gzip, deflate")
	c.stats.Requests++
	resp, err := c.doer.Do(req)
	if err != nil {
		return nil, err
	}
	wire := &countingBody{resp.Body, c.stats}
	resp.Body = wire
	if resp.Uncompressed {
		return resp, nil
	}
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "gzip", "x-gzip":
		resp.Body = &lazy{from: wire, open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
	case "deflate":
		resp.Body = &lazy{from: wire, open: inflate}
	}
	return resp, nil
}

// inflate reads what servers call deflate: zlib, as it should be, or bare.
func inflate(r io.Reader) (io.Reader, error) {
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	again := io.MultiReader(strings.NewReader(string(head)), r)
	if head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		return zlib.NewReader(again)
	}
	return flate.NewReader(again), nil
}

type countingBody struct {
	io.ReadCloser
	stats *Stats
}

func (c *countingBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.stats.Bytes += int64(n)
	return n, err
}

// lazy opens a decoder with the first read, so that its fault is one of reading.
type lazy struct {
	from io.ReadCloser
	open func(io.Reader) (io.Reader, error)
	r    io.Reader
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.r == nil {
		r, err := l.open(l.from)
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(p)
}

func (l *lazy) Close() error { return l.from.Close() }
