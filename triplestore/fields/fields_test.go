package fields_test

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"odarchive/triplestore/fields"
)

func sample() []byte {
	b := binary.AppendUvarint(nil, 300)
	b = binary.AppendVarint(b, math.MinInt64)
	b = fields.AppendText(b, "Käse")
	b = fields.AppendText(b, "")
	return append(b, 7, 1, 2, 3)
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	r := fields.Reader{B: sample()}
	if a, b, c, d, e := r.Uvarint(), r.Varint(), r.Text(), r.Text(), r.Byte(); a != 300 || b != math.MinInt64 || c != "Käse" || d != "" ||
		e != 7 {
		t.Fatal(a, b, c, d, e)
	}
	if got := r.Bytes(3); string(got) != "\x01\x02\x03" {
		t.Fatal(got)
	}
	if err := r.End(); err != nil {
		t.Fatal(err)
	}
}

func TestARecordThatIsCutOffAnywhereIsBadAndGivesZeros(t *testing.T) {
	t.Parallel()
	whole := sample()
	for n := range whole {
		r := fields.Reader{B: whole[:n]}
		r.Uvarint()
		r.Varint()
		r.Text()
		r.Text()
		r.Byte()
		last := r.Bytes(3)
		if !r.Bad() || last != nil || !errors.Is(r.End(), fields.ErrBad) {
			t.Errorf("cut after %d bytes: bad %t, %v", n, r.Bad(), last)
		}
		if r.Uvarint() != 0 || r.Text() != "" || r.Byte() != 0 {
			t.Errorf("cut after %d bytes: values behind the fault", n)
		}
	}
}

func TestNumbersBeyondWhatTheRecordCanMeanAreFaults(t *testing.T) {
	t.Parallel()
	huge := binary.AppendUvarint(nil, math.MaxUint64)
	for name, read := range map[string]func(*fields.Reader){
		"text":  func(r *fields.Reader) { r.Text() },
		"count": func(r *fields.Reader) { r.Count(4) },
		"max":   func(r *fields.Reader) { r.Max(math.MaxInt64) },
		"bytes": func(r *fields.Reader) { r.Bytes(-1) },
	} {
		r := fields.Reader{B: append(huge[:len(huge):len(huge)], make([]byte, 20)...)}
		if read(&r); !r.Bad() {
			t.Error(name, "takes it")
		}
	}
	if r := (fields.Reader{B: []byte{0}}); r.End() == nil {
		t.Error("bytes that are left are no fault")
	}
}
