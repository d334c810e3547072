package kv

import "bytes"

// ViewAscending is View for a function that reads many keys in ascending order, or several such series at once, one for
// each first byte of the keys in a space. A key near the one before it in its series is reached step by step, which
// costs a fraction of a look-up. Other reads cost what they cost in View, or a little more.
func (db *DB) ViewAscending(f func(*Txn) error) error {
	return db.View(func(t *Txn) error {
		if t.base.over != nil { // a cursor would merge the pending writes at each step
			return f(t)
		}
		t.series = map[seriesID]*series{}
		defer func() {
			for _, s := range t.series {
				s.cursor.Close()
			}
		}()
		return f(t)
	})
}

type seriesID struct {
	space Space
	first byte
}

// series is the reads of ascending keys of one table.
type series struct {
	cursor *Cursor
	far    int // how many reads in a row were not near the one before
}

// maxFar is the number of reads in a row that may be far from the one before. After that the keys of the series are
// looked up one by one, because a search by a cursor costs more than a look-up.
const maxFar = 4

// readSeries does the same as Snapshot.read, with a cursor if the series has near keys. known is false if it has not.
func (t *Txn) readSeries(space Space, key []byte, f func([]byte) error) (known, ok bool, err error) {
	id := seriesID{space: space}
	if len(key) > 0 {
		id.first = key[0]
	}
	s := t.series[id]
	if s == nil {
		s = &series{cursor: t.Cursor(space)}
		t.series[id] = s
	}
	if s.far > maxFar {
		return false, false, nil
	}
	_, err = s.cursor.Seek(key, func(k, val []byte) error {
		if !bytes.Equal(k, key) {
			return nil
		}
		ok = true
		return f(val)
	})
	if s.far++; s.cursor.stepped {
		s.far = 0
	}
	return true, ok, err
}
