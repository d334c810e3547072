package records

import (
	"bytes"
	"context"
	"fmt"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// upgradeKey in SpaceMeta holds the format of the records. While they are upgraded, it holds the next format, a space,
// and the key of the last record that was looked at.
const (
	upgradeKey = "archive/records"
	format     = "3" // 2: all records are JSON; 1 or nothing: not packed, and with the sketches of all versions
)

// Bounds of a transaction of Upgrade.
const (
	upgradedPerTxn = 2000    // records that are looked at
	upgradedBytes  = 2 << 20 // of them, about
)

// Upgrade rewrites the records of an older program in the format of this one: binary or packed, and with the
// sketches of the latest versions alone. It continues where it was interrupted, and is quick if there is nothing to do. Nothing else may
// write meanwhile.
func Upgrade(ctx context.Context, db *kv.DB, sample Sample) error {
	for done := false; !done; {
		err := db.Update(ctx, func(txn *kv.Txn) (err error) {
			done, err = upgradeSome(ctx, Txn{txn}, sample)
			return err
		})
		if err != nil {
			return fmt.Errorf("archive: upgrade records: %w", err)
		}
	}
	return nil
}

// upgradeSome upgrades the records after the last one that was looked at, and reports whether there are no more.
func upgradeSome(ctx context.Context, t Txn, sample Sample) (done bool, err error) {
	mark, _, err := t.Get(kv.SpaceMeta, []byte(upgradeKey))
	if err != nil || string(mark) == format {
		return true, err
	}
	var last []byte
	if rest, begun := bytes.CutPrefix(mark, []byte(format+" ")); begun {
		last = rest
	}
	type record struct{ key, value []byte }
	var old []record
	seen, size := 0, 0
	full := func() bool { return seen >= upgradedPerTxn || size >= upgradedBytes }
	for _, table := range []byte{tableFailure, tableInside, tableResource, tableVersion, tableChange} { // in the order of keys
		var from []byte
		if len(last) > 0 && last[0] == table {
			from = append(bytes.Clone(last), 0)
		}
		if len(last) > 0 && last[0] > table || full() {
			continue
		}
		err := t.scan(ctx, key(table), from, func(k, v []byte) (bool, error) {
			last = append(last[:0], k...)
			seen++
			if isPiece := table == tableInside && len(k) != len(VersionKey(table, "", 0))+IDLen; isPiece || isCurrent(table, v) {
				return !full(), nil
			}
			if v[0] == insidePieces {
				size = upgradedBytes // a transaction holds one of them
			}
			old, size = append(old, record{bytes.Clone(k), bytes.Clone(v)}), size+len(v)
			return !full(), nil
		})
		if err != nil {
			return false, err
		}
	}
	for _, r := range old {
		if err := t.upgrade(r.key, r.value, sample); err != nil {
			return false, err
		}
	}
	if full() {
		return false, t.Set(kv.SpaceMeta, []byte(upgradeKey), append([]byte(format+" "), last...))
	}
	return true, t.Set(kv.SpaceMeta, []byte(upgradeKey), []byte(format))
}

// isCurrent reports whether a record has the format of this program, or need not have it.
func isCurrent(table byte, v []byte) bool {
	return len(v) == 0 || v[0] == binaryRecord || v[0] == packed && table != tableResource && table != tableVersion
}

// upgrade rewrites a record. One that cannot be read stays as it is: a check of the archive reports it.
func (t Txn) upgrade(k, raw []byte, sample Sample) (err error) {
	switch k[0] {
	case tableInside:
		return t.upgradeInside(k, sample)
	case tableResource:
		var r Resource
		if decode(k, raw, &r) == nil {
			err = t.set(k, r)
		}
		return err
	case tableVersion:
		var v catalog.Version
		if decode(k, raw, &v) == nil {
			err = t.set(k, v)
		}
		return err
	}
	if raw, err = pack(raw); err != nil {
		return err
	}
	return t.Set(kv.SpaceArchive, k, raw)
}

// upgradeInside rewrites what is inside a version, unless it cannot be read.
func (t Txn) upgradeInside(k []byte, sample Sample) error {
	resource, n := VersionAt(k)
	in, err := t.Inside(ns.VersionID(resource, n))
	if err != nil || in == nil {
		return nil
	}
	r, known, err := t.Resource(resource)
	if err != nil {
		return err
	}
	p, err := PackInside(in, sample)
	if err != nil {
		return err
	}
	if !known || n != r.Versions-1 {
		p.sketches = nil
	}
	var former [][]byte
	err = t.Scan(kv.SpaceArchive, k, nil, func(k, _ []byte) (bool, error) { former = append(former, bytes.Clone(k)); return true, nil })
	if err != nil {
		return err
	}
	for _, k := range former {
		if err := t.drop(k); err != nil {
			return err
		}
	}
	return t.saveInside(resource, n, p)
}
