package catalog

import (
	"encoding/json"
	"testing"
)

func TestDigestsComeBackFromJSONInBothWaysOfWriting(t *testing.T) {
	t.Parallel()
	want := Digests{SHA256: [32]byte{1, 2, 255}, MD5: [16]byte{0xab, 15: 9}}
	b, err := json.Marshal(want)
	if err != nil || len(b) != 98 {
		t.Fatalf("%s, %v", b, err)
	}
	type arrays Digests
	old, err := json.Marshal(arrays(want))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{b, old} {
		var got Digests
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%s: %+v, %v", b, got, err)
		}
	}
	for _, bad := range []string{`"abc"`, `12`, `"` + string(make([]byte, 96)) + `"`} {
		var d Digests
		if err := json.Unmarshal([]byte(bad), &d); err == nil {
			t.Errorf("%q is taken for digests", bad)
		}
	}
}
