package detect

import (
	"bytes"
	"encoding/binary"
)

// arrowStream recognises the first message of Arrow's streaming format: a mark, the length of its metadata, and the
// metadata as a FlatBuffers table (Arrow columnar format, "Encapsulated message format"). Programs before Arrow 0.15
// wrote no mark; without it, the fields of the table must be those of a message with a schema.
func arrowStream(b []byte) bool {
	if len(b) < 24 {
		return false
	}
	marked := bytes.HasPrefix(b, []byte("\xff\xff\xff\xff"))
	if marked {
		b = b[4:]
	}
	length, root := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if length < 16 || length >= 16<<20 || root < 4 || root >= 256 || root%4 != 0 {
		return false
	}
	return marked && length%8 == 0 || !marked && (length+4)%8 == 0 && schemaMessage(b[4:], int(root))
}

// schemaMessage reports whether the table at a place is a message of Arrow with a schema (Message.fbs): a version of 0
// to 4, which is left out if it is 0, the kind 1, a schema, and no body.
func schemaMessage(b []byte, at int) bool {
	if at > len(b)-4 {
		return false
	}
	shape := at - int(int32(binary.LittleEndian.Uint32(b[at:])))
	if shape < 4 || shape > len(b)-12 {
		return false
	}
	field := func(n, size int) []byte {
		offset := int(binary.LittleEndian.Uint16(b[shape+4+2*n:]))
		if offset == 0 || offset > 64 || at+offset > len(b)-size {
			return nil
		}
		return b[at+offset : at+offset+size]
	}
	fields := int(binary.LittleEndian.Uint16(b[shape:])-4) / 2
	if fields < 3 || fields > 8 {
		return false
	}
	version, kind, schema := field(0, 2), field(1, 1), field(2, 4)
	return (version == nil || version[0] <= 4 && version[1] == 0) && kind != nil && kind[0] == 1 && schema != nil &&
		binary.LittleEndian.Uint32(schema) < 1024
}
