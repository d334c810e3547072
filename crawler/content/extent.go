package content

import (
	"encoding/binary"
	"fmt"
)

// extent is the record of segments that were written together.
type extent struct {
	num, family uint64
	segments    []segment
}

func (x *extent) encode() []byte {
	b := []byte{formatVersion}
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
	d := decoder{b: val}
	var version [1]byte
	d.bytes(version[:])
	if version[0] > formatVersion {
		return nil, ErrNewer
	}
	x.family = d.uint()
	n := d.int(maxExtent)
	x.segments = make([]segment, n)
	for i := range x.segments {
		g := &x.segments[i]
		var crc [4]byte
		g.raw, g.deflated = int(d.int(maxRaw)), int(d.int(maxStored))
		d.bytes(crc[:])
		g.crc, g.pack = binary.BigEndian.Uint32(crc[:]), d.uint()
		if g.pack != 0 {
			g.offset = d.int(anySize)
		}
		if g.cut = d.uint(); g.cut != 0 {
			g.parts = d.uint()
		}
	}
	if d.bad || len(d.b) != 0 {
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
