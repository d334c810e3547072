// Package replicate is how a replica follows an archive over HTTP: the routes of the writer (API), and what they send
// (Identity, PackList, and the frames of a log). FORMAT.md describes the wire.
//
// A replica loads a state (/replicate/state), copies the packs (/replicate/packs), and then asks for the log behind its
// position (/replicate/log) again and again. Each answer names the committed size of the open packs, taken after the
// records were read: whoever copies the packs up to there first has every byte that the records name. The package
// applies nothing.
package replicate

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/url"
	"strconv"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/kv"
)

// Version is the version of the wire. A replica refuses another one.
const Version = 1

// Identity says which archive it is.
type Identity struct {
	Version     int    `json:"version"` // of the wire
	Program     string `json:"program"` // version of the writer's program
	Base        string `json:"base"`
	Log         string `json:"log"`         // id of the log
	Number      uint64 `json:"number"`      // of its last durable write set
	Description string `json:"description"` // the file odarchive.json
}

// PackList is the list of the files with stored bytes.
type PackList struct {
	Set   string             `json:"set"` // changes whenever a file comes, goes or is renamed
	Files []content.PackFile `json:"files"`
}

// End is the last frame of a log.
type End struct {
	Number uint64             `json:"number"` // of the writer's last durable write set when the records had been read
	More   bool               `json:"more"`   // there are more records
	Set    string             `json:"set"`    // of PackList
	Open   []content.PackFile `json:"open"`   // open packs, with the size that covers the records
}

// Kinds of frames.
const (
	frameRecord = 'r' // number (8), checksum (4), body
	frameEnd    = 'e' // End as JSON
)

const (
	frameHead = 9 // kind (1), length (4), CRC-32C of kind, length and body (4)
	maxFrame  = 64<<20 + 12
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends a frame to b.
func appendFrame(b []byte, kind byte, parts ...[]byte) []byte {
	at, n := len(b), 0
	for _, p := range parts {
		n += len(p)
	}
	b = append(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	b = append(b, 0, 0, 0, 0)
	for _, p := range parts {
		b = append(b, p...)
	}
	sum := crc32.Update(crc32.Checksum(b[at:at+5], castagnoli), castagnoli, b[at+frameHead:])
	binary.LittleEndian.PutUint32(b[at+5:], sum)
	return b
}

// ErrWire means that an answer is truncated or differs from its checksums.
var ErrWire = errors.New("malformed answer of the writer")

// readFrame reads a frame. The body grows with what arrives, so a wrong length allocates nothing.
func readFrame(r io.Reader) (kind byte, body []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrWire, err)
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes", ErrWire, n)
	}
	if body, err = io.ReadAll(io.LimitReader(r, int64(n))); err != nil || len(body) < int(n) {
		return 0, nil, fmt.Errorf("%w: a frame is truncated: %w", ErrWire, errors.Join(err))
	}
	if crc32.Update(crc32.Checksum(head[:5], castagnoli), castagnoli, body) != binary.LittleEndian.Uint32(head[5:]) {
		return 0, nil, fmt.Errorf("%w: a frame differs from its checksum", ErrWire)
	}
	return head[0], body, nil
}

// ReadLog reads the answer of /replicate/log. An answer with more than such an answer holds is an ErrWire.
func ReadLog(r io.Reader) (records []kv.Record, end End, err error) {
	size := 0
	for {
		kind, body, err := readFrame(r)
		switch {
		case err != nil:
			return nil, end, err
		case kind == frameEnd:
			if err := json.Unmarshal(body, &end); err != nil {
				return nil, end, fmt.Errorf("%w: %w", ErrWire, err)
			}
			return records, end, nil
		case kind != frameRecord || len(body) < 12:
			return nil, end, fmt.Errorf("%w: a frame of kind %q and %d bytes", ErrWire, kind, len(body))
		case size >= maxRecords:
			return nil, end, fmt.Errorf("%w: records of more than %d bytes", ErrWire, size)
		}
		size += frameHead + len(body)
		records = append(records,
			kv.Record{Number: binary.LittleEndian.Uint64(body), Sum: binary.LittleEndian.Uint32(body[8:]), Body: body[12:]})
	}
}

// PositionQuery returns a position as parameters of an address.
func PositionQuery(at kv.Position) url.Values {
	return url.Values{"log": {hex.EncodeToString(at.Log[:])}, "after": {strconv.FormatUint(at.Number, 10)},
		"sum": {fmt.Sprintf("%08x", at.Sum)}}
}

// ParsePosition parses the parameters of PositionQuery.
func ParsePosition(q url.Values) (at kv.Position, err error) {
	id, err := hex.DecodeString(q.Get("log"))
	if err != nil || len(id) != len(at.Log) {
		return at, fmt.Errorf("log=%.40q is not the id of a log", q.Get("log"))
	}
	copy(at.Log[:], id)
	if at.Number, err = strconv.ParseUint(q.Get("after"), 10, 64); err != nil {
		return at, fmt.Errorf("after=%.40q is not a number", q.Get("after"))
	}
	sum, err := strconv.ParseUint(q.Get("sum"), 16, 32)
	if err != nil {
		return at, fmt.Errorf("sum=%.40q is not a checksum", q.Get("sum"))
	}
	at.Sum = uint32(sum)
	return at, nil
}
