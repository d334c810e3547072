package diary

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/triplestore/kv"
)

// Unreadable calls f with the stretches whose records cannot be decoded, by their resource and start, until f fails.
func (t Txn) Unreadable(ctx context.Context, f func(resource string, start time.Time) error) error {
	return t.scan(ctx, []byte{tableStretch}, nil, func(k, raw []byte) (bool, error) {
		_, err := decodeStretch(k, raw)
		if !isBad(err) || len(k) != stretchKeyLen {
			return true, err
		}
		return true, f(string(k[1:1+records.IDLen]), moment(timeAt(k[1+records.IDLen:])))
	})
}

// Drop removes the record of a stretch, and those of its visits. Timelines skip visits that are in no stretch.
func (t Txn) Drop(ctx context.Context, resource string, start time.Time) error {
	ms := start.UnixMilli()
	keys := [][]byte{stretchKey(resource, ms)}
	err := t.scan(ctx, visitsPrefix(resource, ms), nil, func(k, _ []byte) (bool, error) {
		keys = append(keys, bytes.Clone(k))
		return true, nil
	})
	for _, k := range keys {
		if err == nil {
			err = t.Delete(kv.SpaceArchive, k)
		}
	}
	if err != nil {
		return fmt.Errorf("archive: drop the visits of %s from %s: %w", resource, start.Format(time.RFC3339), err)
	}
	return nil
}
