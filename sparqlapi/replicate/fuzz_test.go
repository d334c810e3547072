package replicate

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/kv"
)

// answer returns the frames of an answer of /replicate/log.
func answer(records []kv.Record, end End) []byte {
	var b []byte
	for _, r := range records {
		head := append(le(r.Number, 8), le(uint64(r.Sum), 4)...)
		b = appendFrame(b, frameRecord, head, r.Body)
	}
	last, err := json.Marshal(end)
	if err != nil {
		panic(err)
	}
	return appendFrame(b, frameEnd, last)
}

func le(v uint64, n int) (b []byte) {
	for range n {
		b = append(b, byte(v))
		v >>= 8
	}
	return b
}

func FuzzReadLog(f *testing.F) {
	f.Add([]byte{})
	f.Add(answer(nil, End{Number: 1}))
	f.Add(answer([]kv.Record{{Number: 1, Sum: 7, Body: []byte("a")}, {Number: 2, Sum: 1 << 31}},
		End{Number: 2, Set: "x-1", Open: []content.PackFile{{Name: "000000000001.open", Size: 5}}}))
	f.Add(appendFrame(nil, frameRecord, []byte("short")))
	f.Add([]byte{frameRecord, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		records, end, err := ReadLog(bytes.NewReader(b))
		if err != nil {
			if !errors.Is(err, ErrWire) || records != nil {
				t.Fatalf("%d records, %v", len(records), err)
			}
			return
		}
		again, end2, err := ReadLog(bytes.NewReader(answer(records, end)))
		if err != nil || len(again) != len(records) || end2.Number != end.Number {
			t.Fatalf("what was read is not read again: %v", err)
		}
		for i, r := range again {
			if r.Number != records[i].Number || r.Sum != records[i].Sum || !bytes.Equal(r.Body, records[i].Body) {
				t.Fatalf("record %d changed", i)
			}
		}
	})
}

func TestAnAnswerThatWasCutOrChangedIsRefused(t *testing.T) {
	whole := answer([]kv.Record{{Number: 1, Sum: 7, Body: []byte("abc")}}, End{Number: 1})
	for i := range whole {
		if _, _, err := ReadLog(bytes.NewReader(whole[:i])); !errors.Is(err, ErrWire) {
			t.Errorf("cut at %d: %v", i, err)
		}
		changed := bytes.Clone(whole)
		changed[i] ^= 1
		if _, _, err := ReadLog(bytes.NewReader(changed)); !errors.Is(err, ErrWire) {
			t.Errorf("changed at %d: %v", i, err)
		}
	}
}
