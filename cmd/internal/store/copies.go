package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// Kinds of copies outside the data directory.
const (
	BackupCopy  = "backup"  // a file
	OCFLCopy    = "ocfl"    // a storage root; the next export to it removes what was withdrawn
	BagCopy     = "bag"     // a folder or file
	ZipCopy     = "zip"     // a file
	CrateCopy   = "rocrate" // a file
	ExportCopy  = "export"  // a WARC or WACZ file that was exported
	WARCCopy    = "warc"    // a directory of WARC files of what was fetched
	AnswersCopy = "answers" // a directory of WARC files of what interfaces answered
	BucketCopy  = "bucket"  // a continuous backup, which loses what is withdrawn
)

// copyKey, with a kind and a name behind it, in SpaceMeta holds the JSON of a catalog.CopyElsewhere.
const copyKey = "store/copy/"

// maxCopies bounds how many copies Copies returns.
const maxCopies = 10_000

// IsTape reports whether a kind of copies is that of directories of WARC files, which lose withdrawn records.
func IsTape(kind string) bool { return kind == WARCCopy || kind == AnswersCopy }

// NoteCopy remembers that there is a copy of what this archive has, so that a withdrawal can change it or name it. name
// is that of a file or directory, which is made absolute for WARC files, or says who has the copy. A repeated note has
// the time of the first one for WARC files, of the last one for others. It does nothing if the archive is open for
// reading only.
func (s *Store) NoteCopy(ctx context.Context, kind, name string) error {
	if s.DB.ReadOnly() {
		return nil
	}
	if IsTape(kind) {
		full, err := filepath.Abs(name)
		if err != nil {
			return fmt.Errorf("note a copy: %w", err)
		}
		name = full
	}
	value, err := json.Marshal(catalog.CopyElsewhere{Kind: kind, Name: name, At: s.Clock().UTC()})
	if err != nil {
		return err
	}
	key := []byte(copyKey + kind + "/" + name)
	var known bool
	err = s.DB.View(func(txn *kv.Txn) (err error) { _, known, err = txn.Get(kv.SpaceMeta, key); return err })
	if err != nil || known && (IsTape(kind) || kind == BucketCopy) {
		return err
	}
	return s.DB.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceMeta, key, value) })
}

// NoteFile notes that a file or directory has a copy.
func (s *Store) NoteFile(ctx context.Context, kind, name string) error {
	full, err := filepath.Abs(name)
	if err != nil {
		return fmt.Errorf("note a copy: %w", err)
	}
	return s.NoteCopy(ctx, kind, full)
}

// Copies returns the copies that were noted, by kind and name.
func (s *Store) Copies() (list []catalog.CopyElsewhere, err error) {
	prefix := []byte(copyKey)
	err = s.DB.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceMeta, prefix, nil, func(k, v []byte) (bool, error) {
			if !bytes.HasPrefix(k, prefix) {
				return false, nil
			}
			var one catalog.CopyElsewhere
			if err := json.Unmarshal(v, &one); err != nil {
				return false, fmt.Errorf("note of a copy %q: %w", k, err)
			}
			list = append(list, one)
			return len(list) < maxCopies, nil
		})
	})
	return list, err
}
