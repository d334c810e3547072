package ui_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/ui"
)

func fixityIn(state string) ui.Fixity {
	now := time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC)
	f := ui.Fixity{State: state, Rate: 8 << 20,
		Parts: []ui.FixityPart{
			{
				Name: "packs",
				Round: disk.Round{Began: now.Add(-time.Hour), Done: 1 << 30, Total: 4 << 30, Finished: now.Add(-2 * time.Hour),
					Rounds: 3}}},
		Damages: []disk.Damage{
			{File: "packs/1-aa.pack", Offset: 4096, Why: "differs from its checksum", Found: now.Add(-time.Hour), Mended: now,
				How: "parity"},
			{File: "packs/2.open", Offset: 7, Why: "<b>torn</b>", Found: now, Lost: "version x_1"},
		}}
	f.Count()
	if state != ui.Sound {
		f.Reason = "The disk says no."
	}
	return f
}

func TestFixityIsAPageForPeopleAndJSONForPrograms(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		ui.Sound: "No damage is known", ui.ReadOnly: "read-only", ui.Damaged: "1 damage", ui.WritesStopped: "accepts no more writes",
	} {
		pages, err := ui.New(ui.Options{Archive: newWorld(), Fixity: func() ui.Fixity { return fixityIn(state) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pages.Close() })
		h := pages.Handler()
		page := body(t, get(t, h, "/fixity"))
		for _, text := range []string{want, "25 %", "packs/1-aa.pack", "from parity", "&lt;b&gt;torn", "version x_1",
			"The background check reads at most "} {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page lacks %q", state, text)
			}
		}
		home := body(t, get(t, h, "/crawls"))
		if strings.Contains(home, `role="alert"`) != (state != ui.Sound) ||
			strings.Contains(home, "The disk says no.") != (state != ui.Sound) {
			t.Errorf("%s: every page says why the archive cannot do all it should, and only then", state)
		}
		for _, r := range []string{"/fixity?format=json", "/fixity"} {
			req := httptest.NewRequest("GET", r, nil)
			req.Header.Set("Accept", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			var got ui.Fixity
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.State != state || got.Mended != 1 || got.Unmended != 1 ||
				got.Lost != 1 || got.Damages[0].File != "packs/2.open" {
				t.Errorf("%s %s: %v %s", state, r, err, w.Body)
			}
		}
	}
}
