package portalapi

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portaltest"
)

// walk walks through a list in pages of two numbers. fetch, if not nil, may replace the answer.
func walk(t *testing.T, token string, total int, fetch func(at string) (Page, error, bool)) (got []string, notes *portaltest.Notes,
	err error) {
	t.Helper()
	notes = &portaltest.Notes{}
	err = Listing{
		Out: notes,
		Fetch: func(_ context.Context, at string, _ int) (Page, error) {
			if fetch != nil {
				if p, err, answered := fetch(at); answered {
					return p, err
				}
			}
			first := int(loose.String(at).Int())
			p := Page{Total: total}
			for i := first; i < min(first+2, total); i++ {
				p.Items = append(p.Items, loose.String(fmt.Sprint(i)))
			}
			if first+2 < total {
				p.Next = fmt.Sprint(first + 2)
			}
			return p, nil
		},
		ID:   loose.Value.JSON,
		Item: func(_ context.Context, v loose.Value) error { got = append(got, v.Text()); return nil },
	}.Walk(t.Context(), ParseMark(token))
	return got, notes, err
}

func TestAListIsWalkedToItsEnd(t *testing.T) {
	t.Parallel()
	got, notes, err := walk(t, "", 5, nil)
	if err != nil || strings.Join(got, "") != "01234" || len(notes.Marks) != 3 || len(notes.Skipped) > 0 {
		t.Fatalf("%v, %q, marks %q", err, got, notes.Marks)
	}
	if got, _, err = walk(t, notes.Marks[0], 5, nil); err != nil || strings.Join(got, "") != "234" {
		t.Fatalf("from %q: %v, %q", notes.Marks[0], err, got)
	}
}

func TestAPageThatTheSourceHasForgottenBeginsTheListAnew(t *testing.T) {
	t.Parallel()
	got, _, err := walk(t, "at=lost&n=4", 5, func(at string) (Page, error, bool) {
		return Page{}, &harvest.StatusError{URL: "https://a.example/", Status: 400}, at == "lost"
	})
	if err != nil || strings.Join(got, "") != "01234" {
		t.Fatalf("%v, %q", err, got)
	}
	if _, _, err = walk(t, "at=lost&n=4", 5, func(at string) (Page, error, bool) {
		return Page{}, &harvest.StatusError{URL: "https://a.example/", Status: 503}, at == "lost"
	}); err == nil {
		t.Fatal("a server in trouble is no forgotten page")
	}
}

func TestAListWithoutAnEndIsGivenUp(t *testing.T) {
	t.Parallel()
	pages := 0
	_, _, err := walk(t, "", 9, func(string) (Page, error, bool) {
		pages++
		return Page{Items: []loose.Value{loose.String("x")}, Next: fmt.Sprint(pages), Total: 9}, nil, true
	})
	if err == nil || !strings.Contains(err.Error(), "repeats itself after 1 of 9 entries") || pages > 5 {
		t.Fatalf("%v after %d pages", err, pages)
	}
}

func TestAListThatIsShorterThanItSaysIsTold(t *testing.T) {
	t.Parallel()
	_, notes, err := walk(t, "", 9, func(string) (Page, error, bool) {
		return Page{Items: []loose.Value{loose.String("x")}, Total: 9}, nil, true
	})
	if err != nil || len(notes.Skipped) != 1 || notes.Skipped[0] != "the portal says that it lists 9 entries but returned 1" {
		t.Fatalf("%v, %q", err, notes.Skipped)
	}
}

func TestHarvestsTakeTurnsBetweenAllAndWhatChanged(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct{ about, token, since, want string }{
		{"the first", "", "", "began=2026-03-01T00%3A00%3A00Z&whole=2026-03-01T00%3A00%3A00Z"},
		{"the next", "next=2026-02-28T00:00:00Z&whole=2026-02-27T00:00:00Z", "",
			"began=2026-03-01T00%3A00%3A00Z&since=2026-02-27T23%3A50%3A00Z&top=2026-02-28T00%3A00%3A00Z&whole=2026-02-27T00%3A00%3A00Z"},
		{"a week later", "next=2026-02-28T00:00:00Z&whole=2026-02-20T00:00:00Z", "",
			"began=2026-03-01T00%3A00%3A00Z&whole=2026-03-01T00%3A00%3A00Z"},
		{"cut off", "at=5&n=9&whole=2026-02-27T00:00:00Z", "", "at=5&n=9&whole=2026-02-27T00%3A00%3A00Z"},
		{"a part", "", "2026-01-01T00:00:00Z", "began=2026-03-01T00%3A00%3A00Z&since=2026-01-01T00%3A00%3A00Z"},
		{"a part that was cut off", "at=5&since=2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "at=5&since=2026-01-01T00%3A00%3A00Z"},
		{"no mark of ours", "%zz;", "", "began=2026-03-01T00%3A00%3A00Z&whole=2026-03-01T00%3A00%3A00Z"},
	} {
		if got := Begin(c.token, c.since, now).String(); got != c.want {
			t.Errorf("%s: %q begins as %s, want %s", c.about, c.token, got, c.want)
		}
	}
}

func TestAChangeInTheFutureHidesNoOther(t *testing.T) {
	t.Parallel()
	m := Begin("", "", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	for _, changed := range []string{"2026-02-01", "2099-12-31", "soon", "2026-01-01"} {
		m.Saw(changed)
	}
	if got, want := m.Next(), "next=2026-02-01T00%3A00%3A00Z&whole=2026-03-01T00%3A00%3A00Z"; got != want {
		t.Errorf("the next begins at %s, want %s", got, want)
	}
}
