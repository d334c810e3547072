package sparql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// Federation sends the patterns of SERVICE to other SPARQL endpoints. It streams their answers.
type Federation struct {
	// Client sends the requests; nil means a client with default settings. It should refuse private networks. It
	// follows redirects only to allowed endpoints.
	Client *http.Client
	// Allow lists the endpoints that may be asked, as whole addresses or as hosts ("dbpedia.org", "localhost:3030").
	// "*" allows all. If Allow is empty, none may be asked.
	Allow []string
	// Named sends the requests to endpoints on this machine ("http://localhost:3030/sparql", "127.0.0.1:3030") that
	// Allow names, which Client may refuse; nil means Client.
	Named *http.Client
	// MaxRows and MaxBytes are the maximum of one answer; 0 means 1 million rows and 256 MiB.
	MaxRows  int64
	MaxBytes int64
	// Rows are the limits on single rows.
	Rows results.Limits

	any bool // any endpoint may be asked
}

const (
	defaultServiceRows  = 1_000_000
	defaultServiceBytes = 256 << 20
)

// service returns the function that exec calls for a SERVICE of a query.
func (e *Engine) service(w *work, o QueryOptions) func(context.Context, exec.ServiceRequest) (exec.ServiceRows, error) {
	if e.opts.Service == nil || o.Local {
		return func(_ context.Context, req exec.ServiceRequest) (exec.ServiceRows, error) {
			return nil, fmt.Errorf("sparql: SERVICE <%s>: federated queries are switched off: %w", req.Endpoint, ErrForbidden)
		}
	}
	f := *e.opts.Service
	f.any = o.Trusted
	known := &endpoints{strict: o.Strict, warn: func(text string) {
		if w.warn(text) {
			e.opts.Log.Warn("incomplete answer", "warning", text)
		}
	}}
	return func(ctx context.Context, req exec.ServiceRequest) (exec.ServiceRows, error) {
		if err := f.Allowed(req.Endpoint); err != nil {
			return nil, fmt.Errorf("sparql: SERVICE <%s>: %w", req.Endpoint, err)
		}
		return f.stream(ctx, req, known.of(req.Endpoint), w.idle), nil
	}
}

// remote marks an error of another server with ErrRemote. It never wraps io.EOF, which a server can cause by closing
// the connection, and which means the end of the rows.
func remote(err error) error {
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrIncomplete) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrRemote, sentence(err))
}

// Allowed returns nil if an endpoint may be asked, or an error that wraps ErrForbidden.
func (f *Federation) Allowed(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("an endpoint is an http or https address: %w", ErrForbidden)
	}
	if f.any || slices.Contains(f.Allow, "*") || f.names(u) {
		return nil
	}
	return fmt.Errorf("the endpoint is not on the list of those that may be asked: %w", ErrForbidden)
}

// names reports whether Allow has the address or the host of an endpoint.
func (f *Federation) names(u *url.URL) bool {
	return slices.ContainsFunc(f.Allow, func(a string) bool {
		return a == u.String() || strings.EqualFold(a, u.Host) || strings.EqualFold(a, u.Hostname())
	})
}

// namedHere reports whether an endpoint is on this machine, judged by the host in its address, and names returns true
// for it.
func (f *Federation) namedHere(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	ip := net.ParseIP(host)
	return (host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()) && f.names(u)
}

// ask sends one query. The rows have the values of vars, in their order.
func (f *Federation) ask(ctx context.Context, endpoint, text string, vars []algebra.Var) (_ *serviceRows, err error) {
	form := url.Values{"query": {text}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/sparql-results+json, application/sparql-results+xml;q=0.9, text/tab-separated-values;q=0.5")
	resp, err := f.client(r.URL).Do(r)
	if err != nil {
		return nil, err
	}
	rows, err := f.open(resp, vars)
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	return rows, nil
}

// client returns the client for an endpoint. It checks the target of every redirect.
func (f *Federation) client(endpoint *url.URL) *http.Client {
	c := http.Client{}
	named := f.Named != nil && f.namedHere(endpoint)
	switch {
	case named:
		c = *f.Named
	case f.Client != nil:
		c = *f.Client
	}
	inner := c.CheckRedirect
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if err := f.Allowed(r.URL.String()); err != nil {
			return err
		}
		if named && !f.namedHere(r.URL) {
			return fmt.Errorf("redirected from this machine to another: %w", ErrForbidden)
		}
		if inner != nil {
			return inner(r, via)
		}
		if len(via) >= 5 {
			return errors.New("too many redirects")
		}
		return nil
	}
	return &c
}

func (f *Federation) open(resp *http.Response, vars []algebra.Var) (*serviceRows, error) {
	if resp.StatusCode != http.StatusOK {
		return nil, refusalOf(resp)
	}
	mt, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	format, ok := results.ByName(mt)
	if !ok || format != results.JSON && format != results.XML && format != results.TSV {
		return nil, fmt.Errorf("the endpoint answered with %q, which is not a SPARQL result", mt)
	}
	s := &serviceRows{body: resp.Body, max: declaredMax(resp.Header), partial: declaredPartial(resp.Header)}
	bytes := f.MaxBytes
	if bytes <= 0 {
		bytes = defaultServiceBytes
	}
	in, err := results.NewReader(&limitedReader{r: resp.Body, left: bytes}, format, f.Rows)
	if err != nil {
		return nil, err
	}
	if _, ok := in.Boolean(); ok {
		return nil, errors.New("the endpoint answered with a boolean")
	}
	s.in = in
	for _, v := range vars {
		s.cols = append(s.cols, slices.Index(in.Vars(), string(v)))
	}
	s.row = make([]term.Key, len(vars))
	return s, nil
}

// serviceRows reads the solutions in one answer of an endpoint. The values of a row are in the order of the wanted
// variables.
type serviceRows struct {
	body io.Closer
	in   *results.Reader
	cols []int // for each wanted variable, its column; -1 if the answer lacks it
	row  []term.Key

	max     int  // rows of an answer to which the endpoint limits itself; 0 if it does not say
	partial bool // the endpoint says that the answer is not complete
}

// Next returns the next row, which is valid until the next call, or nil after the last one.
func (s *serviceRows) Next() ([]term.Key, error) {
	in, err := s.in.Next()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for i, c := range s.cols {
		s.row[i] = ""
		if c >= 0 {
			s.row[i] = in[c]
		}
	}
	return s.row, nil
}

func (s *serviceRows) Close() { s.body.Close() }

// limitedReader returns an error at its limit. An io.LimitedReader would return io.EOF, as if the body were complete.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (c *limitedReader) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("the answer is too long: %w", ErrTooLarge)
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.r.Read(p)
	c.left -= int64(n)
	return n, err
}
