package catalog

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// Digests are the digests of one file's bytes, after content decoding.
type Digests struct {
	SHA256 [32]byte
	MD5    [16]byte
}

var errDigests = errors.New("digests are 96 hexadecimal digits: SHA-256, then MD5")

// MarshalJSON writes both digests as one string of hexadecimal digits, since decoding arrays of numbers would take most
// of the time of reading records.
func (d Digests) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 98), '"')
	b = hex.AppendEncode(b, d.SHA256[:])
	b = hex.AppendEncode(b, d.MD5[:])
	return append(b, '"'), nil
}

// UnmarshalJSON decodes what MarshalJSON writes, and the arrays of numbers of older records.
func (d *Digests) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		type arrays Digests
		return json.Unmarshal(b, (*arrays)(d))
	}
	if len(b) != 98 || b[0] != '"' {
		return errDigests
	}
	if _, err := hex.Decode(d.SHA256[:], b[1:65]); err != nil {
		return errDigests
	}
	if _, err := hex.Decode(d.MD5[:], b[65:97]); err != nil {
		return errDigests
	}
	return nil
}
