package search

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"odarchive/crawler/archive/diary"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// Captures calls f with the captures whose keys begin with prefix, ordered by key and time, starting at the key after
// (inclusive; "": the first), until f returns false or an error. URLs that differ in their scheme share a key. f must
// not be slow, since one state of the database is held meanwhile; a slow caller continues later from the key it
// reached.
func (x *Index) Captures(ctx context.Context, prefix, after string, f func(catalog.Capture) (more bool, err error)) error {
	return records.View(x.db, func(t records.Txn) error {
		var ids []string // of the resources that share the key current
		var current string
		more := true
		flush := func() (err error) {
			if len(ids) > 0 {
				more, err = eachCapture(ctx, t, current, ids, f)
			}
			ids = ids[:0]
			return err
		}
		from := []byte("k" + max(prefix, after))
		err := t.Scan(kv.SpaceSearch, []byte("k"+prefix), from, func(k, _ []byte) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			captureKey, id, ok := bytes.Cut(k[1:], []byte{0})
			if !ok {
				return true, nil
			}
			if string(captureKey) != current {
				if err := flush(); err != nil || !more {
					return false, err
				}
				current = string(captureKey)
			}
			ids = append(ids, string(id))
			return true, nil
		})
		if err != nil || !more {
			return err
		}
		return flush()
	})
}

// eachCapture calls f with the captures of the resources that share a key.
func eachCapture(ctx context.Context, t records.Txn, key string, ids []string, f func(catalog.Capture) (bool, error)) (more bool,
	err error) {
	var all []catalog.Version
	for _, id := range ids {
		versions, err := t.Versions(ctx, id)
		if err != nil {
			return false, err
		}
		all = append(all, versions...)
	}
	byTime := func(a, b catalog.Version) int { return a.At.Compare(b.At) }
	if len(ids) > 1 {
		byTime = func(a, b catalog.Version) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) }
	}
	slices.SortStableFunc(all, byTime) // an imported version may be older than those before it
	for _, v := range all {
		act, _, err := diary.Txn{Txn: t.Txn}.Visit(v.ID[:records.IDLen], v.At)
		if err != nil {
			return false, err
		}
		if more, err := f(catalog.Capture{Version: v, Key: key, Status: act.Status}); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
