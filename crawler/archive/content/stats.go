package content

import (
	"encoding/binary"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Stats are the store's figures.
type Stats struct {
	Files    int64
	RawBytes int64 // of the files, as they were fetched
	Packs    int
	Bytes    int64 // of the packs
	Waste    int64 // bytes of the packs that nothing needs and Compact may free
	Records  int64 // bytes of the packs that are file and cut records, which describe files to Salvage
}

// Stats returns the figures of what is committed now.
func (s *Store) Stats() (st Stats, err error) {
	err = s.db.View(func(tx *kv.Txn) error {
		if st.Files, st.RawBytes, err = totals(tx); err != nil {
			return err
		}
		return tx.Scan(refsSpace, []byte{keyPack}, nil, func(_, val []byte) (bool, error) {
			p, err := decodePack(val)
			st.Packs++
			st.Bytes += p.end
			st.Waste += p.waste()
			st.Records += p.records
			return true, recordError(err)
		})
	})
	return st, err
}

func (p packRecord) waste() int64 { return max(p.end-packHead-p.live-p.records, 0) }

func totals(tx getter) (files, raw int64, err error) {
	_, err = tx.Read(refsSpace, stateKey("totals"), func(val []byte) error {
		d := fields.Reader{B: val}
		files, raw = d.Max(anySize), d.Max(anySize)
		if d.Bad() {
			return errRecord
		}
		return nil
	})
	return files, raw, recordError(err)
}

func addTotals(tx *kv.Txn, files, raw int64) error {
	f, r, err := totals(tx)
	if err != nil {
		return err
	}
	val := binary.AppendUvarint(nil, uint64(max(f+files, 0)))
	return tx.Set(refsSpace, stateKey("totals"), binary.AppendUvarint(val, uint64(max(r+raw, 0))))
}
