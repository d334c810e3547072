package frontier

import (
	"fmt"
	"math"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// The records of URLs lie in the order of their due times: those that a crawl needs one after the other are neighbours on the
// disk, however many there are. Under a URL's key stands only when it is due.

// notByTime is the place of a record of format 1, which stands under its URL's key itself until it is written the next time.
const notByTime = math.MinInt64

// get finds the record of a URL by its key.
func get(txn *kv.Txn, key string) (u *URL, known bool, err error) {
	var at int64
	known, err = txn.Read(kv.SpaceFrontier, []byte(key), func(v []byte) error {
		if len(v) == 8 {
			at = readTime(v)
			return nil
		}
		u = &URL{Key: key, known: true, stored: notByTime}
		return u.decode(v)
	})
	if err == nil && known && u == nil {
		if u, err = getAt(txn, entry{at, key}); err == nil && u == nil {
			err = errRecord
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", key, err)
	}
	return u, known, nil
}

// getAt reads the record of a URL that is due at a time; nil where it is due at another one.
func getAt(txn *kv.Txn, e entry) (*URL, error) {
	u := &URL{Key: e.key, known: true, stored: e.due}
	ok, err := txn.Read(kv.SpaceDue, recordKey(e.due, e.key), u.decode)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.key, err)
	}
	if !ok {
		return nil, nil
	}
	if ms(u.Due) != e.due { // it stands under its own time
		return nil, fmt.Errorf("%s: %w", e.key, errRecord)
	}
	return u, nil
}

// own reports whether a record is that of the URL under whose key it stands, in the group the URL belongs to.
func (u *URL) isConsistent() bool {
	parsed, err := address.Parse(u.URL)
	return err == nil && keyOf(parsed) == u.Key && parsed.Group() == u.Group
}

// find is get, where the URL is probably due at a time.
func find(txn *kv.Txn, e entry) (u *URL, known bool, err error) {
	if u, err = getAt(txn, e); err != nil || u != nil {
		return u, u != nil, err
	}
	return get(txn, e.key)
}

// save writes the record of a URL where it belongs.
func (u *URL) save(txn *kv.Txn) error {
	due := ms(u.Due)
	if !u.known || due != u.stored {
		if u.known && u.stored != notByTime {
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
