package bundle

import (
	"context"
	"iter"
	"strings"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
	"odarchive/vocab/xsd"
)

// Rows of an answer to a query. A row is valid until the next one; unbound columns are empty keys. An error ends them.
type Rows = iter.Seq2[[]term.Key, error]

// Archive knows versions. All three give ok == false for what they do not know.
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
func Collect(ctx context.Context, rows Rows, a Archive, limit int) ([]Entry, error) {
	c := newCollector(a, limit)
	asked := make(map[term.Key]struct{})
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
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			e, ok, err := find(ctx, a, address)
			if err == nil && ok {
				err = c.add(e)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return c.entries, nil
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
