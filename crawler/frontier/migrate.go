package frontier

import (
	"context"
	"fmt"
	"time"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// migrate rewrites the groups' records of format 1, groups of them in a transaction. If the process is killed, the next
// New continues. In format 1, a record was stored under its group's name, and the index of ready groups had no values.
func (f *Frontier) migrate(ctx context.Context, groups int) error {
	for after, more := "", true; more; {
		err := f.db.Update(ctx, func(txn *kv.Txn) (err error) {
			after, more, err = f.migratePart(txn, after, groups)
			if err == nil && !more {
				err = txn.Delete(kv.SpaceHosts, []byte(keyMigrating))
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("frontier: from format 1: %w", err)
		}
	}
	return nil
}

// migratePart rewrites the next records, from the group from on. last is the group at which it stopped.
func (f *Frontier) migratePart(txn *kv.Txn, from string, groups int) (last string, more bool, err error) {
	n := 0
	err = txn.Scan(kv.SpaceHosts, []byte(prefixHost), hostKey(from), func(k, v []byte) (bool, error) {
		last = string(k[len(prefixHost):])
		if more = n == groups; more {
			return false, nil
		}
		n++
		if len(v) == 8 { // done already
			return true, nil
		}
		h := &host{group: last}
		if h.decode1(v) != nil {
			if h, err = f.remake(txn, last, true); err != nil {
				return false, err
			}
		}
		if err := txn.Set(kv.SpaceHosts, readyKey(h.ready, last), h.encode()); err != nil {
			return false, err
		}
		return true, txn.Set(kv.SpaceHosts, hostKey(last), appendTime(nil, h.ready))
	})
	return last, more, err
}

// decodeSeed1 reads what sources say of a URL in its record of version 1, and keeps the declared format and period.
func (u *URL) decodeSeed1(r *reader) {
	r.Text() // title
	u.Format = r.Text()
	u.MediaType = r.Text()
	for range 3 { // portal, dataset, its title
		r.Text()
	}
	r.Varint() // size
	u.Period = time.Duration(r.Varint()) * time.Second
	r.Varint() // modified
	r.float()  // priority when it was added
	r.Varint() // depth
	for n := r.count(); n > 0; n-- {
		for range 3 { // portal, dataset, its title
			r.Text()
		}
	}
}

// decode1 decodes a record of format 1. Its lanes have no heads.
func (h *host) decode1(b []byte) error {
	if len(b) == 0 || b[0] != 1 {
		return h.damaged()
	}
	r := reader{fields.Reader{B: b[1:]}}
	h.ready = r.Varint()
	low := r.Varint() // nothing is queued with an earlier due time
	h.notBefore, h.wait = r.Varint(), r.Text()
	for _, b := range []byte(r.Text()) {
		h.lanes = append(h.lanes, lane{band: b, more: true, from: low})
	}
	h.urls, h.visits, h.versions, h.bytes, h.lastVisit = r.Varint(), r.Varint(), r.Varint(), r.Varint(), r.Varint()
	for i := range h.outcomes {
		h.outcomes[i] = r.Varint()
	}
	if r.End() != nil {
		return h.damaged()
	}
	return nil
}
