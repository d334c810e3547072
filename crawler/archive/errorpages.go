package archive

import (
	"context"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
)

// Bounds of what one visit looks at, and marks, among the versions of the same bytes.
const (
	sameBytesRead    = 2000
	sameBytesMarked  = 500
	sameBytesWritten = 1 << 20 // bytes of records
)

// SameBytes counts the other URLs of a URL's host of which a version has the same bytes, up to most.
func (a *Archive) SameBytes(ctx context.Context, url string, sha256 [32]byte, most int) (n int, err error) {
	id, err := ResourceID(url)
	if err != nil {
		return 0, err
	}
	err = a.view(func(t tables) error {
		r, known, err := t.resource(id)
		if err != nil || !known {
			return err
		}
		others := map[string]bool{}
		err = t.eachOfHost(ctx, r.Host, sha256, func(other record, _ int) bool {
			if other.ID != id {
				others[other.ID] = true
			}
			return len(others) < most
		})
		n = len(others)
		return err
	})
	return n, err
}

// eachOfHost calls f with the versions of some bytes under URLs of a host, until it returns false.
func (t tables) eachOfHost(ctx context.Context, host string, sha256 [32]byte, f func(r record, n int) bool) error {
	read := 0
	return t.scan(ctx, key(tableByDigest, sha256[:]), nil, func(k, _ []byte) (bool, error) {
		id, n := versionOfDigest(k)
		r, known, err := t.resource(id)
		if err != nil {
			return false, err
		}
		read++
		return (!known || r.Host != host || f(r, n)) && read < sameBytesRead, nil
	})
}

// markErrorPages takes the versions of some bytes under URLs of a host for what they are: pages that say that there is no
// file. They stay in the archive under their IRIs, and count no more as versions of the data.
func (a *Archive) markErrorPages(ctx context.Context, txn *triplestore.Txn, t tables, host string, sha256 [32]byte, why string) error {
	type found struct {
		id string
		n  int
	}
	var list []found
	err := t.eachOfHost(ctx, host, sha256, func(r record, n int) bool {
		list = append(list, found{r.ID, n})
		return len(list) < sameBytesMarked
	})
	if err != nil {
		return err
	}
	written := 0
	for _, f := range list {
		n, err := a.markErrorPage(txn, t, ns.VersionID(f.id, f.n), why)
		if written += n; err != nil || written > sameBytesWritten {
			return err
		}
	}
	return nil
}

// markErrorPage says how many bytes of strangers' texts it has written again, about.
func (a *Archive) markErrorPage(txn *triplestore.Txn, t tables, version, why string) (written int, err error) {
	v, known, err := t.version(version)
	if err != nil || !known || v.ErrorPage != "" {
		return 0, err
	}
	marked := v
	marked.ErrorPage = why
	id, n, _ := ns.SplitVersionID(version)
	r, _, err := t.resource(id)
	if err != nil {
		return 0, err
	}
	r.ErrorPages++
	if err := t.set(key(tableVersion, rid(id), n), marked); err != nil {
		return 0, err
	}
	if err := t.txn.Delete(storedSpace, storedKey(id, n)); err != nil { // hardly anybody asks for it now
		return 0, err
	}
	if err := t.set(key(tableResource, rid(id)), r); err != nil {
		return 0, err
	}
	if err := t.uncount(r, v); err != nil {
		return 0, err
	}
	return headersSize(v.Headers) + headersSize(v.Request) + sourcesSize(r.Sources), replace(txn, describe.Version(a.mint, v), describe.Version(a.mint, marked))
}

// uncount takes a version out of the figures; r is the record after it.
func (t tables) uncount(r record, v catalog.Version) error {
	for _, c := range tallies(r, v.At, v.Type) {
		err := t.count(c.name, c.what, func(n *tally) {
			n.Versions--
			n.Bytes -= v.Size
			if r.Versions == r.ErrorPages {
				n.Crawled--
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
