package describe

import (
	"slices"

	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

// Replace turns the description before of a thing into after, writing only the difference. Either may repeat a quad.
func Replace(txn *triplestore.Txn, before, after []term.Quad) error {
	if slices.Equal(before, after) {
		return nil
	}
	if len(before) == 0 {
		for _, q := range after {
			if err := txn.Insert(q); err != nil {
				return err
			}
		}
		return nil
	}
	isNew := make(map[term.Quad]bool, len(after))
	for _, q := range after {
		isNew[q] = true
	}
	for _, q := range before {
		if _, stays := isNew[q]; stays {
			isNew[q] = false
			continue
		}
		if err := txn.Delete(q); err != nil {
			return err
		}
	}
	for _, q := range after {
		if !isNew[q] {
			continue
		}
		if err := txn.Insert(q); err != nil {
			return err
		}
	}
	return nil
}
