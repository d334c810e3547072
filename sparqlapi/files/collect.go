package files

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Rows are the rows of a query's answer. A row is valid until the next one; unbound columns are empty keys. An error
// ends the rows.
type Rows = iter.Seq2[[]term.Key, error]

// collector gathers entries, each file once.
type collector struct {
	finder
	limit   int
	entries []Entry
}

// add appends the entries of what is known. It takes ownership of the slice. More than limit entries are a problem of
// status 413.
func (c *collector) add(entries []Entry) error {
	entries = keep(entries, func(e *Entry) bool { return e.ID != "" || e.LeftOut != "" })
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
	return problem.Newf(http.StatusRequestEntityTooLarge, "Too many versions", "a zip holds at most %d versions; select fewer", c.limit)
}

// unique drops repeated entries, in place.
func unique(entries []Entry) []Entry {
	seen := make(map[string]struct{}, len(entries))
	return keep(entries, func(e *Entry) bool {
		before := len(seen)
		seen[e.key()] = struct{}{}
		return len(seen) > before
	})
}

// keep is slices.DeleteFunc with the opposite condition, and without copying entries to where they already are.
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

// lookUpAtOnce is how many addresses are looked up in one pass: in a large archive, looking up more at once costs less
// for each.
const lookUpAtOnce = 1 << 17

// Collect returns what rows name in any column: a version, or a file inside one, by its IRI below mint's base, or a
// resource by its URL, which means its latest version. Each file comes once, in the order of the rows. A version below
// another base is an entry that is left out, with that as the reason. More than limit entries are a problem of status
// 413; 0 means no limit. If all are below another base, the error is a problem of status 404 that names that base.
func Collect(ctx context.Context, rows Rows, a BundleArchive, mint ns.Mint, limit int) ([]Entry, error) {
	c := &collector{finder: finder{a, mint}, limit: limit}
	var recent recentKeys
	var addresses []string
	lookUp := func() error {
		found, err := c.find(ctx, addresses)
		if err != nil {
			return err
		}
		c.setElsewhere(addresses, found)
		addresses = addresses[:0]
		return c.add(found)
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		for _, k := range row {
			address, ok := addressOf(k)
			if !ok || recent.seen(k) {
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
	if len(c.entries) > 0 && !slices.ContainsFunc(c.entries, func(e Entry) bool { return e.elsewhere == "" }) {
		return nil, problem.New(http.StatusNotFound, "Nothing to download",
			"no selected version is of this archive; the first is "+c.entries[0].elsewhere+": "+c.entries[0].LeftOut)
	}
	return unique(c.entries), nil
}

// setElsewhere sets the entries of the addresses that were not found and are versions below another base: that is how
// the versions of an archive whose base was changed appear, which must not be missing without a word.
func (c *collector) setElsewhere(addresses []string, entries []Entry) {
	for i, address := range addresses {
		if entries[i].ID != "" || strings.HasPrefix(address, c.mint.Base) {
			continue
		}
		if base, ok := ns.BaseOf(address); ok {
			entries[i].elsewhere = address
			entries[i].LeftOut = fmt.Sprintf(
				"its IRI is below %.200s, and this archive runs with the base %s: start it with --base %[1]s if it is its own", base,
				c.mint.Base)
		}
	}
}

// recentKeys remembers some recent keys, so that a term that is in every row, such as a type, is looked up once.
type recentKeys [256]term.Key

// seen reports whether k is remembered, and remembers it.
func (r *recentKeys) seen(k term.Key) bool {
	i := xxhash.Sum64String(string(k)) % uint64(len(r))
	again := r[i] == k
	r[i] = k
	return again
}

// addressOf returns the value of a term that may be an address: an IRI, or a string that is an absolute web address.
func addressOf(k term.Key) (string, bool) {
	switch k.Kind() {
	case term.KindIRI:
		return k.Value(), true
	case term.KindLiteral:
		if d := k.Datatype(); d != vocab.XSDAnyURI && d != vocab.XSDString {
			return "", false
		}
		v := k.Value()
		return v, strings.HasPrefix(v, "http://") || strings.HasPrefix(v, "https://") || strings.HasPrefix(v, "ftp://")
	}
	return "", false
}
