package bundle

import (
	"context"
	"iter"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
	"odarchive/vocab/xsd"
)

// Rows of an answer to a query. A row is valid until the next one; unbound columns are empty keys. An error ends them.
type Rows = iter.Seq2[[]term.Key, error]

// Archive knows versions. All give ok == false for what they do not know, and may be called concurrently.
type Archive interface {
	// Version gives the entry of a version IRI.
	Version(ctx context.Context, iri string) (e Entry, ok bool, err error)
	// Latest gives the entry of the latest version of a resource URL.
	Latest(ctx context.Context, url string) (e Entry, ok bool, err error)
	// ByID gives the entry of a version id ("{ID}_{N}"), or of the latest version of a resource id.
	ByID(ctx context.Context, id string) (e Entry, ok bool, err error)
	// OfType gives the latest versions of a media type, or of the kind that a short word like "csv" stands for.
	OfType(ctx context.Context, mediaType string) iter.Seq2[Entry, error]
}

// collector gathers entries, each version once.
type collector struct {
	archive Archive
	limit   int
	entries []Entry
	iris    map[string]struct{} // of the versions that are in
}

func newCollector(a Archive, limit int) *collector {
	return &collector{archive: a, limit: limit, iris: make(map[string]struct{})}
}

func (c *collector) add(e Entry) error {
	if _, in := c.iris[e.VersionIRI]; in {
		return nil
	}
	if c.limit > 0 && len(c.entries) >= c.limit {
		return problem.Newf(413, "Too many versions", "a zip holds at most %d versions; select fewer", c.limit)
	}
	c.iris[e.VersionIRI] = struct{}{}
	c.entries = append(c.entries, e)
	return nil
}

// Collect gives the versions that rows name in any column: a version by its IRI, a resource by its URL, which stands for
// its latest version. Each version comes once, in the order of the rows. More than limit are a problem of status 413;
// 0 is no limit.
func Collect(ctx context.Context, rows Rows, a Archive, limit int) (entries []Entry, err error) {
	c := newCollector(a, limit)
	asked := make(map[term.Key]struct{})
	finders, ctx := errgroup.WithContext(ctx)
	finders.SetLimit(runtime.GOMAXPROCS(0))
	defer func() {
		if failed := finders.Wait(); failed != nil {
			entries, err = nil, failed
		}
	}()
	next := new(batch)
	var batches []*batch // under way, in the order of the rows
	start := func() error {
		b := next
		b.done = make(chan struct{})
		next = new(batch)
		batches = append(batches, b)
		finders.Go(func() error { return b.find(ctx, a) })
		if len(batches) < 2*runtime.GOMAXPROCS(0) {
			return nil
		}
		first := batches[0]
		batches = batches[1:]
		return c.addAll(first)
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		for _, k := range row {
			address, ok := addressOf(k)
			if !ok {
				continue
			}
			if _, again := asked[k]; again {
				continue
			}
			asked[k] = struct{}{}
			if next.addresses = append(next.addresses, address); len(next.addresses) < batchSize {
				continue
			}
			if err := start(); err != nil {
				return nil, err
			}
		}
	}
	if err := start(); err != nil {
		return nil, err
	}
	for _, b := range batches {
		if err := c.addAll(b); err != nil {
			return nil, err
		}
	}
	return c.entries, nil
}

// batch is some addresses that are looked up together.
type batch struct {
	addresses []string
	found     []Entry // of those that are known
	done      chan struct{}
}

const batchSize = 256

func (b *batch) find(ctx context.Context, a Archive) error {
	defer close(b.done)
	for _, address := range b.addresses {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, ok, err := find(ctx, a, address)
		if err != nil {
			return err
		}
		if ok {
			b.found = append(b.found, e)
		}
	}
	return nil
}

// addAll waits for a batch and adds what it has found. If it has failed, Collect learns of that in the end.
func (c *collector) addAll(b *batch) error {
	<-b.done
	for _, e := range b.found {
		if err := c.add(e); err != nil {
			return err
		}
	}
	return nil
}

// find looks an address up: a version's IRI, else a resource's URL.
func find(ctx context.Context, a Archive, address string) (e Entry, ok bool, err error) {
	if e, ok, err = a.Version(ctx, address); ok || err != nil {
		return e, ok, err
	}
	return a.Latest(ctx, address)
}

// addressOf gives what may be an address: an IRI, or a string that is an absolute web address.
func addressOf(k term.Key) (string, bool) {
	switch k.Kind() {
	case term.KindIRI:
		return k.Value(), true
	case term.KindLiteral:
		if d := k.Datatype(); d != xsd.AnyURI && d != xsd.String {
			return "", false
		}
		v := k.Value()
		return v, strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") || strings.HasPrefix(v, "ftp://")
	}
	return "", false
}
