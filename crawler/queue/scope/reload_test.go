package scope

import (
	"testing"

	"odarchive/triplestore/kv"
)

func TestRulesOfTheSettingsChangeAndStoredOnesStay(t *testing.T) {
	t.Parallel()
	db, err := kv.Open(t.TempDir(), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(db, Options{Deny: []string{"host:a.example", "host:c.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"host:b.example", "host:d.example"} {
		r, err := ParseRule(false, text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Change(t.Context(), true, "asked", r); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(host string) bool {
		return s.Test(Question{Area: Campaign, URL: "http://" + host + "/x", Size: -1}) != ""
	}
	changed, before := s.Changed(), s.Fingerprint()
	if err := s.Reload(t.Context(), nil, []string{"host:c.example", "host:d.example"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-changed:
	default:
		t.Error("nobody learns of the change")
	}
	if s.Fingerprint() == before {
		t.Error("the fingerprint is the same")
	}
	if err := s.Reload(t.Context(), nil, []string{"host:c.example", "nonsense:x"}); err == nil {
		t.Error("a malformed rule is accepted")
	}
	for host, want := range map[string]bool{"a.example": false, "b.example": true, "c.example": true, "d.example": true} {
		if refused(host) != want {
			t.Errorf("%s: refused %v", host, !want)
		}
	}
	if err := s.Reload(t.Context(), nil, nil); err != nil || !refused("d.example") || refused("c.example") { // it is stored, too
		t.Errorf("without rules of the settings: %v", err)
	}
}
