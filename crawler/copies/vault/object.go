package vault

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"odarchive/triplestore/wal"
)

// An object of the tail or the log begins with objectMagic and a kind. FORMAT.md describes it.
const (
	objectMagic  = "ODVAULT1"
	objectFamily = "ODVAULT"
	kindFence    = 'F'
	kindRecords  = 'R'

	objectHead = 8 + 1 + 8 + 16 // magic, kind, epoch, nonce
	entryHead  = 4 + 4 + 8 + 8  // length, checksum of the record, number, time
	objectFoot = 4              // CRC-32C

	maxObject = 96 << 20 // bytes of an object that is read; a record has up to 64 MiB
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entry is a record with the time of its commit.
type entry struct {
	wal.Record
	at milli
}

// batch is the content of an object with records.
type batch struct {
	epoch   uint64
	nonce   [16]byte // of the Append that made it, so that a writer recognises its own object
	log     [16]byte // id of the log
	before  uint32   // checksum of the record before the first
	entries []entry
}

// fence is the content of an object that begins an epoch.
type fence struct {
	Epoch  uint64 `json:"epoch"`
	Holder Holder `json:"holder"`
	Log    string `json:"log"`    // id of the log, hexadecimal
	Number uint64 `json:"number"` // of the last record before the epoch
	Sum    uint32 `json:"sum"`    // its checksum
	Last   milli  `json:"last"`   // time of that record, milliseconds since 1970
	At     milli  `json:"at"`     // when the epoch began
	// New says that the epoch does not continue the one before: its history begins with its first state file.
	New bool `json:"new,omitempty"`
	// Prev is the nonce of the process that began the epoch before, hexadecimal; "" if there was none, or if a program
	// has put the fence that did not write it yet.
	Prev string `json:"prev,omitempty"`

	seq   uint64
	nonce [16]byte
}

func appendHead(b []byte, kind byte, epoch uint64, nonce [16]byte) []byte {
	b = append(append(b, objectMagic...), kind)
	b = binary.LittleEndian.AppendUint64(b, epoch)
	return append(b, nonce[:]...)
}

func seal(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// batchHead is the length of what precedes the records.
const batchHead = objectHead + 16 + 4

func (o *batch) encode() []byte {
	n := batchHead + objectFoot
	for _, e := range o.entries {
		n += entryHead + len(e.Body)
	}
	b := appendHead(make([]byte, 0, n), kindRecords, o.epoch, o.nonce)
	b = append(b, o.log[:]...)
	b = binary.LittleEndian.AppendUint32(b, o.before)
	for _, e := range o.entries {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(e.Body)))
		b = binary.LittleEndian.AppendUint32(b, e.Sum)
		b = binary.LittleEndian.AppendUint64(b, e.Number)
		b = binary.LittleEndian.AppendUint64(b, uint64(e.at))
		b = append(b, e.Body...)
	}
	return seal(b)
}

func (f fence) encode(nonce [16]byte) ([]byte, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return seal(append(appendHead(nil, kindFence, f.Epoch, nonce), text...)), nil
}

// object is a decoded object of the tail or the log; one of its fields is set.
type object struct {
	batch *batch
	fence *fence
	nonce [16]byte
}

// decode reads an object of the tail or the log. The bodies of records are parts of b.
func decode(b []byte) (o object, err error) {
	broken := func(why string) (object, error) { return object{}, fmt.Errorf("%w: %s", ErrBroken, why) }
	if len(b) < objectHead+objectFoot {
		return broken("an object is too short")
	}
	body, foot := b[:len(b)-objectFoot], b[len(b)-objectFoot:]
	if string(b[:len(objectFamily)]) == objectFamily && string(b[:8]) != objectMagic {
		return object{}, ErrNewer
	}
	if string(b[:8]) != objectMagic || crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(foot) {
		return broken("an object differs from its checksum")
	}
	epoch := binary.LittleEndian.Uint64(b[9:])
	copy(o.nonce[:], b[17:])
	switch b[8] {
	case kindFence:
		o.fence = &fence{nonce: o.nonce}
		if err := json.Unmarshal(body[objectHead:], o.fence); err != nil || o.fence.Epoch != epoch {
			return broken("the beginning of an epoch cannot be read")
		}
		return o, nil
	case kindRecords:
		if len(body) < batchHead {
			return broken("an object is too short")
		}
		o.batch = &batch{epoch: epoch, nonce: o.nonce}
		copy(o.batch.log[:], body[objectHead:])
		o.batch.before = binary.LittleEndian.Uint32(body[objectHead+16:])
		return o, o.batch.decodeEntries(body[batchHead:])
	default:
		return object{}, ErrNewer
	}
}

func (o *batch) decodeEntries(b []byte) error {
	for len(b) > 0 {
		if len(b) < entryHead {
			return fmt.Errorf("%w: a record is truncated", ErrBroken)
		}
		n := binary.LittleEndian.Uint32(b)
		e := entry{Record: wal.Record{Sum: binary.LittleEndian.Uint32(b[4:]), Number: binary.LittleEndian.Uint64(b[8:])},
			at: milli(binary.LittleEndian.Uint64(b[16:]))}
		if uint64(n) > uint64(len(b)-entryHead) {
			return fmt.Errorf("%w: record %d is truncated", ErrBroken, e.Number)
		}
		if len(o.entries) > 0 && e.Number != o.entries[len(o.entries)-1].Number+1 {
			return fmt.Errorf("%w: record %d does not follow record %d", ErrBroken, e.Number, o.entries[len(o.entries)-1].Number)
		}
		e.Body = b[entryHead : entryHead+int(n)]
		o.entries = append(o.entries, e)
		b = b[entryHead+int(n):]
	}
	if len(o.entries) == 0 || o.entries[0].Number == 0 {
		return fmt.Errorf("%w: an object without records", ErrBroken)
	}
	return nil
}

// span describes the batch, as an object of the log.
func (o *batch) span(level int) span {
	first, last := o.entries[0], o.entries[len(o.entries)-1]
	return span{epoch: o.epoch, first: first.Number, last: last.Number, from: first.at, to: last.at, sum: last.Sum, level: level}
}
