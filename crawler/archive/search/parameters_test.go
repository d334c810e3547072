package search

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

func TestASearchIsReadFromAnAddress(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for address, want := range map[string]string{
		"q=+wien+&type=csv&since=30d":                       `wien type:"csv" since:2026-10-24`,
		"type=text/csv&licence=CC-BY&rows=100..9999":        "type=text/csv licence=CC-BY rows:100..9999",
		"license=CC0&publisher=Stadt+Wien&size=..9":         `licence=CC0 publisher="Stadt Wien" size:..9`,
		"portal=http://p.example/&outcome=archive&host=a.b": "portal=http://p.example/ host=a.b outcome=archive",
		"before=2026&dataset=http://d.example/1":            "dataset=http://d.example/1 before:2026-01-01",
		"":                                                  "",
	} {
		q, err := url.ParseQuery(address)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parameters(q, now)
		if text := Text(s); err != nil || text != want {
			t.Errorf("%s: %s, %v; want %s", address, text, err, want)
		}
	}
	for _, address := range []string{"since=never", "rows=many", "size=-1", "sort=colour", "before=x"} {
		q, _ := url.ParseQuery(address)
		if _, err := Parameters(q, now); !errors.Is(err, catalog.ErrQuestion) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if q := Query(catalog.Search{Text: "a \"b\\ c\" \n x", Type: "text/csv"}); !strings.Contains(q,
		`arc:search ("a \"b\\ c\"   x type=text/csv" ?score)`) {
		t.Errorf("query %s", q)
	}
}
