package archive

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// Capture is a version as capture indexes list it.
type Capture struct {
	catalog.Version
	Key    string // SURT key without scheme (package address, CDX)
	Status int    // HTTP status of the fetch that made it, 0 for none
}

// Captures calls f with the captures whose key begins with prefix, in the order of their keys and times, from the key
// after (inclusive; "": from the first) on, until f returns false; a URL's schemes share a key and mix. It reads one state
// and is not for slow callers: to go on later, remember the key.
func (a *Archive) Captures(ctx context.Context, prefix, after string, f func(Capture) (more bool, err error)) error {
	return a.view(func(t tables) error {
		var ids []string // of the resources that share the key
		var current string
		goOn := true
		give := func() (err error) {
			if len(ids) > 0 {
				goOn, err = t.capturesOf(ctx, current, ids, f)
			}
			ids = ids[:0]
			return err
		}
		from := []byte("k" + max(prefix, after))
		err := t.txn.Scan(kv.SpaceSearch, []byte("k"+prefix), from, func(k, _ []byte) (bool, error) {
			if err := ctx.Err(); err != nil {
				return false, err
			}
			surtKey, id, ok := bytes.Cut(k[1:], []byte{0})
			if !ok {
				return true, nil
			}
			if string(surtKey) != current {
				if err := give(); err != nil || !goOn {
					return false, err
				}
				current = string(surtKey)
			}
			ids = append(ids, string(id))
			return true, nil
		})
		if err != nil || !goOn {
			return err
		}
		return give()
	})
}

func (t tables) capturesOf(ctx context.Context, surtKey string, ids []string, f func(Capture) (bool, error)) (more bool, err error) {
	var all []catalog.Version
	for _, id := range ids {
		versions, err := t.versions(ctx, id)
		if err != nil {
			return false, err
		}
		all = append(all, versions...)
	}
	if len(ids) > 1 {
		slices.SortFunc(all, func(a, b catalog.Version) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
	}
	for _, v := range all {
		c := Capture{Version: v, Key: surtKey}
		var act catalog.Activity
		if _, err := t.get(key(tableActivity, v.At, rid(v.ID[:ridLen])), &act); err != nil {
			return false, err
		}
		c.Status = act.Status
		if more, err = f(c); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
