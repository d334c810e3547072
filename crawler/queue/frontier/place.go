package frontier

import (
	"fmt"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// Records of URLs are sorted by due time, so that those that a crawl needs one after the other are neighbours on the
// disk, however many there are. The entry of a URL's key has the due time only.

// get returns the record of the URL with a key. known is false if there is none.
func get(txn *kv.Txn, key string) (u *URL, known bool, err error) {
	var at int64
	known, err = txn.Read(kv.SpaceFrontier, []byte(key), func(v []byte) error {
		if len(v) != 8 {
			return errRecord
		}
		at = readTime(v)
		return nil
	})
	if err == nil && known {
		if u, err = getAt(txn, entry{at, key}); err == nil && u == nil {
			err = errRecord
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", key, err)
	}
	return u, known, nil
}

// getAt returns the record of the URL with e.key if it is due at e.due, else nil.
func getAt(txn *kv.Txn, e entry) (*URL, error) {
	u := &URL{Key: e.key, known: true, stored: e.due}
	ok, err := txn.Read(kv.SpaceDue, recordKey(e.due, e.key), u.decode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.key, err)
	}
	if !ok {
		return nil, nil
	}
	if ms(u.Due) != e.due { // a record is stored under its own due time
		return nil, fmt.Errorf("%s: %w", e.key, errRecord)
	}
	return u, nil
}

// isConsistent reports whether the record's key and group are those of its URL.
func (u *URL) isConsistent() bool {
	parsed, err := address.Parse(u.URL)
	return err == nil && keyOf(parsed) == u.Key && parsed.Group() == u.Group
}

// find is get, faster if the URL is due at e.due.
func find(txn *kv.Txn, e entry) (u *URL, known bool, err error) {
	if u, err = getAt(txn, e); err != nil || u != nil {
		return u, u != nil, err
	}
	return get(txn, e.key)
}

// save writes the record under its due time and deletes the old one.
func (u *URL) save(txn *kv.Txn) error {
	due := ms(u.Due)
	if !u.known || due != u.stored {
		if u.known {
			if err := txn.Delete(kv.SpaceDue, recordKey(u.stored, u.Key)); err != nil {
				return err
			}
		}
		if err := txn.Set(kv.SpaceFrontier, []byte(u.Key), appendTime(nil, due)); err != nil {
			return err
		}
		u.known, u.stored = true, due
	}
	return txn.Set(kv.SpaceDue, recordKey(due, u.Key), u.encode(nil))
}
