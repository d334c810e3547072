package vault

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// oldWriter is a writer.json as the first programs wrote it.
const oldWriter = `{"epoch":3,"holder":"8f2a","url":"http://a/","lease":15000,"beat":7,"nonce":"00ff","at":"2026-11-24T16:00:00Z"}`

func TestASmallObjectWithoutItsChecksumIsDamaged(t *testing.T) {
	t.Parallel()
	sealed, err := sealJSON(writerState{Epoch: 3, Holder: "8f2a", Lease: 15000, Nonce: "00ff", At: time.Now().UTC().Truncate(time.Second),
		Number: 9})
	if err != nil {
		t.Fatal(err)
	}
	sound := map[string]string{"sealed": string(sealed), "old": oldWriter}
	for name, text := range sound {
		var s writerState
		if err := unsealJSON([]byte(text), &s); err != nil || s.Epoch != 3 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	body, _, _ := strings.Cut(string(sealed), sealMark)
	for _, text := range []string{
		"", "{}", "null", "[]", `{"sum":""}`, `{"sum":"00000000"}`, body + "}", body + `,"tum":"00000000"}`,
		strings.Replace(string(sealed), `"sum"`, `"tum"`, 1), strings.Replace(string(sealed), `"epoch":3`, `"epoch":2`, 1),
		strings.Replace(oldWriter, `"beat"`, `"beau"`, 1), strings.Replace(oldWriter, `,"nonce":"00ff"`, "", 1),
		`{"epoch":9,"holder":"8f2a"}`,
	} {
		var s writerState
		if err := unsealJSON([]byte(text), &s); !errors.Is(err, ErrBroken) {
			t.Errorf("%s was taken for %+v, %v", text, s, err)
		}
	}
	var d description
	if err := unsealJSON([]byte("{}"), &d); !errors.Is(err, ErrBroken) {
		t.Errorf("{} was taken for a description: %v", err)
	}
}

// FuzzSealed reads small objects that anything may have written.
func FuzzSealed(f *testing.F) {
	sealed, err := sealJSON(writerState{Epoch: 1, Holder: "a", Files: []string{"x"}})
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{string(sealed), oldWriter, "{}", `{"sum":""}`, sealMark, `{"url":",\"sum\":\"","sum":"00000000"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s writerState
		if err := unsealJSON(text, &s); err != nil {
			if !errors.Is(err, ErrBroken) {
				t.Fatal(err)
			}
			return
		}
		if !strings.Contains(string(text), sealMark) {
			if again, err := json.Marshal(s); err != nil || string(again) != strings.TrimSpace(string(text)) {
				t.Fatalf("%s was taken for %s", text, again)
			}
		}
		again, err := sealJSON(s)
		if err != nil {
			t.Fatal(err)
		}
		var same writerState
		if err := unsealJSON(again, &same); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
