package content

import (
	"encoding/binary"

	"odarchive/triplestore/fields"
)

// Packs describe what their segments are for, so that files can be extracted from packs alone (Salvage): a file record
// names the segments of a file, a cut record the extent of the pieces that replace a segment. Both have the head of a
// segment with another mark, and zero as raw length and CRC-32. FORMAT.md describes their bodies. They are written
// before the fsync that precedes the file's transaction, so every stored file has its records.

const (
	fileRecordRuns = 32 << 10 // bytes of runs in one part of a file record
	maxLabel       = 16 << 10 // bytes of a label; a longer one is left out
)

// packedFile is one part of a file record. Files with many runs have several parts.
type packedFile struct {
	sha         Digest
	md5         [16]byte
	crc         uint32
	size        int64
	part, parts int
	label       []byte // in the first part
	runs        []run
}

func (t *packedFile) encode(page []byte) []byte {
	b := append(append(make([]byte, 0, 80+len(t.label)+len(page)), t.sha[:]...), t.md5[:]...)
	b = binary.BigEndian.AppendUint32(b, t.crc)
	b = binary.AppendUvarint(b, uint64(t.size))
	b = binary.AppendUvarint(b, uint64(t.part))
	b = binary.AppendUvarint(b, uint64(t.parts))
	b = binary.AppendUvarint(b, uint64(len(t.label)))
	b = append(b, t.label...)
	return append(b, page...)
}

func decodePackedFile(body []byte) (t packedFile, err error) {
	d := fields.Reader{B: body}
	var crc [4]byte
	copy(t.sha[:], d.Bytes(len(t.sha)))
	copy(t.md5[:], d.Bytes(len(t.md5)))
	copy(crc[:], d.Bytes(len(crc)))
	t.crc = binary.BigEndian.Uint32(crc[:])
	t.size, t.part, t.parts = d.Max(anySize), int(d.Max(anyCount)), int(d.Max(anyCount))
	t.label = d.Bytes(d.Count(1))
	if d.Bad() || t.part >= t.parts {
		return t, errRecord
	}
	t.runs, err = decodeRuns(nil, d.B)
	return t, err
}

// cutRecord names the pieces that replace a segment.
type cutRecord struct {
	parts  uint64 // the number of their extent
	pieces int
}

func (c cutRecord) encode() []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, c.parts), uint64(c.pieces))
}

func decodeCut(body []byte) (c cutRecord, err error) {
	d := fields.Reader{B: body}
	c.parts, c.pieces = d.Uvarint(), int(d.Max(maxExtent))
	if d.End() != nil {
		return c, errRecord
	}
	return c, nil
}

// appendRecords appends the file's record and those of its cuts, and counts them for their packs.
func (p *put) appendRecords(w *segmentWriter) error {
	for _, i := range p.order {
		l, c := &p.base.leaves[i], p.cuts[i]
		h := head{mark: cutMark, extent: l.extent, index: l.index}
		if err := p.appendRecord(w, h, cutRecord{parts: c.parts.num, pieces: len(c.parts.segments)}.encode()); err != nil {
			return err
		}
	}
	pages := encodePages(p.file.runs, fileRecordRuns)
	t := packedFile{sha: p.file.sha, md5: p.file.md5, crc: p.file.crc, size: p.file.size, parts: len(pages)}
	if len(p.label) <= maxLabel {
		t.label = p.label
	}
	for part, page := range pages {
		t.part = part
		if err := p.appendRecord(w, head{mark: fileMark, extent: p.file.family}, t.encode(page)); err != nil {
			return err
		}
		t.label = nil
	}
	return nil
}

func (p *put) appendRecord(w *segmentWriter, h head, body []byte) error {
	h.deflated = len(body)
	at, err := p.s.tail.append(&w.appender, h, body)
	if err == nil {
		p.records.addRecord(at, segmentHead+int64(len(body)))
	}
	return err
}

// addRecord counts a file or cut record.
func (d packDeltas) addRecord(at place, n int64) {
	p := d[at.pack]
	p.records += n
	p.end = max(p.end, at.offset+n)
	d[at.pack] = p
}
