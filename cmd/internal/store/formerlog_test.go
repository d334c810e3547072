package store

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
)

// signedBefore is the checkpoint that a program of format 5 signed of the versions in testdata/format5.tar.gz: 270 URLs with a
// version each, of which one was withdrawn afterwards. The archive has no Badger, which is rebuilt.
const signedBefore = `localhost:8080/log
270
cJwZMzkMu2nHQPe1tsi1anlcShxEqrh3u68u7oOMkxg=

— localhost:8080/log 4bxJbf48EZy0cp9jkSoRT5pw5n0F5vbq9ZUsNbpzbZdSIxyzKhaNRXXtMAcsjHnueILvWNxtsfulaSlkXVNSEi733Qc=
`

const formerKey = "localhost:8080/log+e1bc496d+AabJLA2AZrfoanUBC9S9eq4vy+MuvjK5TWwng5/nddNt"

func TestTheTransparencyLogOfADirectoryOfFormat5IsTheSameAfterTheUpgrade(t *testing.T) {
	t.Parallel()
	cfg := formerConfig(unpack(t, "testdata/format5.tar.gz"))
	s, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	keys, err := transparency.Verifiers([]string{formerKey})
	if err != nil {
		t.Fatal(err)
	}
	trusted := transparency.Trusted{Keys: keys, Checkpoint: []byte(signedBefore)}
	proved := 0
	err = s.Archive.Resources(t.Context(), "", func(r catalog.Resource) bool {
		v, err := s.Archive.Newest(t.Context(), r.URL)
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Archive.Prove(v.ID, []byte(signedBefore), []string{formerKey})
		if err != nil {
			t.Fatal(err)
		}
		known, err := p.Verify(v.Digests.SHA256, trusted)
		if err != nil || known.URL != v.URL && v.Withdrawn == nil || known.URL != "" && v.Withdrawn != nil {
			t.Errorf("%s: %+v, %v", v.URL, known, err)
		}
		proved++
		return true
	})
	if err != nil || proved != 270 {
		t.Errorf("%d versions proved, %v", proved, err)
	}
	if c, err := s.Archive.CheckLeaves(t.Context()); err != nil || c.Found > 0 || c.Leaves != 270 {
		t.Errorf("%+v, %v", c, err)
	}
	dir := t.TempDir()
	if _, _, err := transparency.Export(t.Context(), s.DB, dir); err != nil {
		t.Fatal(err)
	}
	a, err := transparency.Audit(t.Context(), transparency.OfDirectory(dir), transparency.AuditOptions{Keys: keys})
	if err != nil || a.AllFaults > 0 || a.Versions != 270 {
		t.Errorf("%+v, %v", a, err)
	}
}

// An upgrade that ends anywhere goes on at the next opening, and the log is that of before.
func TestAnUpgradeOfTheTransparencyLogThatIsInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	cfg := formerConfig(unpack(t, "testdata/format5.tar.gz"))
	for stop := 0; ; stop += 3 {
		left := stop
		s, err := Open(stopping{t.Context(), &left}, cfg, slog.New(slog.DiscardHandler), Options{})
		if err == nil {
			defer s.Close()
			if c, err := s.Archive.CheckLeaves(t.Context()); err != nil || c.Found > 0 || c.Leaves != 270 || c.Checkpoints != 1 {
				t.Errorf("%+v, %v", c, err)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || stop > 3000 {
			t.Fatal(stop, err)
		}
	}
}
