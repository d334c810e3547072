package content

import (
	"encoding/binary"
	"fmt"

	"odarchive/triplestore/fields"
)

// extent is the record of up to maxExtent segments that were written together.
type extent struct {
	num, family uint64
	segments    []segment
}

func (x *extent) encode() []byte {
	b := []byte{recordVersion}
	b = binary.AppendUvarint(b, x.family)
	b = binary.AppendUvarint(b, uint64(len(x.segments)))
	for _, g := range x.segments {
		b = binary.AppendUvarint(b, uint64(g.raw))
		b = binary.AppendUvarint(b, uint64(g.deflated))
		b = binary.BigEndian.AppendUint32(b, g.crc)
		b = binary.AppendUvarint(b, g.pack)
		if g.pack != 0 {
			b = binary.AppendUvarint(b, uint64(g.offset))
		}
		b = binary.AppendUvarint(b, g.cut)
		if g.cut != 0 {
			b = binary.AppendUvarint(b, g.parts)
		}
	}
	return b
}

func decodeExtent(num uint64, val []byte) (*extent, error) {
	x := &extent{num: num}
	d := fields.Reader{B: val}
	var version [1]byte
	copy(version[:], d.Bytes(len(version)))
	if version[0] > recordVersion {
		return nil, ErrNewer
	}
	x.family = d.Uvarint()
	n := d.Max(maxExtent)
	x.segments = make([]segment, n)
	for i := range x.segments {
		g := &x.segments[i]
		var crc [4]byte
		g.raw, g.deflated = int(d.Max(maxRaw)), int(d.Max(maxStored))
		copy(crc[:], d.Bytes(len(crc)))
		g.crc, g.pack = binary.BigEndian.Uint32(crc[:]), d.Uvarint()
		if g.pack != 0 {
			g.offset = d.Max(anySize)
		}
		if g.cut = d.Uvarint(); g.cut != 0 {
			g.parts = d.Uvarint()
		}
	}
	if d.End() != nil {
		return nil, fmt.Errorf("extent %d: %w", num, errRecord)
	}
	return x, nil
}

func readExtent(tx getter, num uint64) (x *extent, err error) {
	found, err := tx.Read(refsSpace, numKey(keyExtent, num), func(val []byte) (err error) {
		x, err = decodeExtent(num, val)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("extent %d is missing: %w", num, errRecord)
	}
	return x, recordError(err)
}
