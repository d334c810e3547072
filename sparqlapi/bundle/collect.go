package bundle

import (
	"context"
	"iter"
	"strings"

	"github.com/cespare/xxhash/v2"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
	"odarchive/vocab/xsd"
)

// Rows of an answer to a query. A row is valid until the next one; unbound columns are empty keys. An error ends them.
type Rows = iter.Seq2[[]term.Key, error]

// Archive knows versions. Both may be called concurrently.
type Archive interface {
	// Find gives the entries that addresses stand for, in their order: the IRI or id of a version, or the IRI of a file in it; the URL or id of a resource,
	// for its latest version. Where it knows none the entry has no VersionIRI; where it cannot give the bytes, LeftOut says why.
	Find(ctx context.Context, addresses []string) ([]Entry, error)
	// OfType gives the latest versions of a media type, or of the kind that a short word like "csv" stands for.
	OfType(ctx context.Context, mediaType string) ([]Entry, error)
}

// collector gathers entries, each version once.
type collector struct {
	archive Archive
	limit   int
	entries []Entry
}

// add takes entries over, without what was not found.
func (c *collector) add(entries []Entry) error {
	entries = keep(entries, func(e *Entry) bool { return e.VersionIRI != "" })
	if c.entries == nil {
		c.entries = entries
	} else {
		c.entries = append(c.entries, entries...)
	}
	if c.limit <= 0 || len(c.entries) <= c.limit {
		return nil
	}
	if c.entries = unique(c.entries); len(c.entries) <= c.limit {
		return nil
	}
	return problem.Newf(413, "Too many versions", "a zip holds at most %d versions; select fewer", c.limit)
}

// unique drops the entries whose version stands in them already.
func unique(entries []Entry) []Entry {
	seen := make(map[string]struct{}, len(entries))
	return keep(entries, func(e *Entry) bool {
		before := len(seen)
		seen[e.VersionIRI] = struct{}{}
		return len(seen) > before
	})
}

// keep is slices.DeleteFunc the other way round, without copying entries that stay where they are.
func keep(entries []Entry, stays func(*Entry) bool) []Entry {
	n := 0
	for i := range entries {
		if !stays(&entries[i]) {
			continue
		}
		if n < i {
			entries[n] = entries[i]
		}
		n++
	}
	clear(entries[n:])
	return entries[:n]
}

// lookUpAtOnce is how many addresses are looked up in one pass: in a large archive a pass costs less for each of many.
const lookUpAtOnce = 1 << 17

// Collect gives the versions that rows name in any column: a version, or a file inside one, by its IRI, a resource by its URL, which stands for
// its latest version. Each version comes once, in the order of the rows. More than limit are a problem of status 413;
// 0 is no limit.
func Collect(ctx context.Context, rows Rows, a Archive, limit int) ([]Entry, error) {
	c := &collector{archive: a, limit: limit}
	var asked recent
	var addresses []string
	lookUp := func() error {
		found, err := a.Find(ctx, addresses)
		addresses = addresses[:0]
		if err != nil {
			return err
		}
		return c.add(found)
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		for _, k := range row {
			address, ok := addressOf(k)
			if !ok || asked.lately(k) {
				continue
			}
			if addresses = append(addresses, address); len(addresses) < lookUpAtOnce {
				continue
			}
			if err := lookUp(); err != nil {
				return nil, err
			}
		}
	}
	if err := lookUp(); err != nil {
		return nil, err
	}
	return unique(c.entries), nil
}

// recent knows some of the keys that came lately: what stands in every row, as a type does, is looked up once.
type recent [256]term.Key

func (r *recent) lately(k term.Key) bool {
	i := xxhash.Sum64String(string(k)) % uint64(len(r))
	again := r[i] == k
	r[i] = k
	return again
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
