package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// sealMark begins the last member of a small JSON object, the checksum of all bytes before it.
const sealMark = `,"sum":"`

// sealJSON returns v, which must encode as an object with members, with a checksum as its last member.
func sealJSON(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(text, []byte("}"))
	return fmt.Appendf(bytes.Clone(body), "%s%08x\"}", sealMark, crc32.Checksum(body, castagnoli)), nil
}

// unsealJSON decodes what sealJSON has returned into v, which must be zero. The first programs did not write checksums:
// a text without one must be, byte by byte, what they wrote.
func unsealJSON(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%w: it cannot be read", ErrBroken)
	}
	text = bytes.TrimSpace(text)
	at := bytes.LastIndex(text, []byte(sealMark))
	if at < 0 {
		old, err := json.Marshal(v)
		if w, ok := v.(*writerState); ok && (w.Number > 0 || len(w.Files) > 0 || w.Released) { // these came later
			old = nil
		}
		if err != nil || !bytes.Equal(old, text) {
			return fmt.Errorf("%w: it has no checksum", ErrBroken)
		}
		return nil
	}
	if want := fmt.Sprintf("%s%08x\"}", sealMark, crc32.Checksum(text[:at], castagnoli)); string(text[at:]) != want {
		return fmt.Errorf("%w: it differs from its checksum", ErrBroken)
	}
	return nil
}
