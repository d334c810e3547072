package frontier

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// migrate rewrites the records that are in the places of format 1, records of them in a transaction. If the process is
// killed, the next New continues. In format 1, the record of a group was stored under its name, that of a URL under its key,
// and the index of ready groups had no values. Later formats left the URLs' records there until they were written.
func (f *Frontier) migrate(ctx context.Context, records int) error {
	for after, more := "", true; more; {
		err := f.db.Update(ctx, func(txn *kv.Txn) (err error) {
			after, more, err = f.migratePart(txn, after, records)
			return err
		})
		if err != nil {
			return fmt.Errorf("frontier: from format 1: %w", err)
		}
	}
	for after, more := "", true; more; {
		var keys []string
		err := f.db.View(func(txn *kv.Txn) (err error) {
			keys, after, more, err = recordsByKey(txn, after, records)
			return err
		})
		if err != nil {
			return fmt.Errorf("frontier: from format 1: %w", err)
		}
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			for _, key := range keys {
				u, known, err := get(txn, key)
				if errors.Is(err, ErrDamaged) || err == nil && !known { // a lease restores it
					continue
				}
				if err == nil {
					err = u.save(txn)
				}
				if err != nil {
					return err
				}
			}
			if more {
				return nil
			}
			return txn.Delete(kv.SpaceHosts, []byte(keyMigrating))
		})
		if err != nil {
			return fmt.Errorf("frontier: from format 1: %w", err)
		}
	}
	return nil
}

// recordsByKey returns the keys under which records of URLs are stored, most of them at most, after a key. last is the key
// at which it stopped.
func recordsByKey(txn *kv.Txn, after string, most int) (keys []string, last string, more bool, err error) {
	last = after
	err = txn.Scan(kv.SpaceFrontier, nil, []byte(after), func(k, v []byte) (bool, error) {
		if len(v) != 8 && string(k) != after {
			if more = len(keys) == most; more {
				return false, nil
			}
			keys = append(keys, string(k))
			last = string(k)
		}
		return true, nil
	})
	return keys, last, more, err
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

// decode2 reads a record of version 1 or 2.
func (u *URL) decode2(b []byte) error {
	u.Blacklisted, u.Liar = b[1]&1 != 0, b[1]&2 != 0
	r := reader{fields.Reader{B: b[2:]}}
	u.URL = r.Text()
	u.Group = r.Text()
	u.Added = fromMS(r.Varint())
	u.Due = fromMS(r.Varint())
	u.Priority = r.float()
	if b[0] == 1 {
		u.decodeSeed1(&r)
	} else {
		u.Format = r.Text()
		u.MediaType = r.Text()
		u.Period = time.Duration(r.Varint()) * time.Second
	}
	u.Fetches = int(r.Varint())
	u.Errors = int(r.Varint())
	u.Changes = int(r.Varint())
	u.ETag = r.Text()
	u.LastModified = r.Text()
	u.Why = r.Text()
	u.History = r.history(0)
	if r.Bad() {
		return errRecord
	}
	return nil
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
