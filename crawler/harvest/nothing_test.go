package harvest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
)

// listed is a source that does what it is told, and then ends well.
type listed struct {
	do func(from string, out Sink) error
}

func (l listed) Harvest(_ context.Context, from string, out Sink) error { return l.do(from, out) }

func TestAHarvestThatReadEverythingAndFoundNothingFails(t *testing.T) {
	t.Parallel()
	portal := func(out Sink, whole bool) error { return out.Portal(Portal{IRI: "http://a.example/"}, whole) }
	dataset := func(out Sink, urls ...string) error {
		d := Dataset{IRI: "http://a.example/d"}
		for _, u := range urls {
			d.Distributions = append(d.Distributions, Distribution{URL: u})
		}
		return out.Dataset(d)
	}
	for name, c := range map[string]struct {
		mark string // of the last harvest
		part Selection
		do   func(from string, out Sink) error
		want string // "" if it is no error
	}{
		"a portal without datasets": {do: func(_ string, out Sink) error { return portal(out, true) },
			want: "found nothing: the portal answers, but no dataset and no file came; asked: http://a.example/api (200 " +
				"application/json, 2 B)"},
		"a portal that counts ten": {do: func(_ string, out Sink) error {
			return errors.Join(portal(out, true), out.Unknown("", "the portal says that it lists 10 packages but returned 0"))
		}, want: "no dataset and no file came; the portal says that it lists 10 packages but returned 0; asked: "},
		"a list without addresses": {do: func(_ string, out Sink) error { return portal(out, false) }, want: "found nothing"},
		"only deleted datasets": {
			do:   func(_ string, out Sink) error { return errors.Join(portal(out, true), out.Gone("http://a.example/d")) },
			want: "found nothing"},
		"not even a portal": {do: func(string, Sink) error { return nil }, want: "found nothing; asked: "},
		"files without an address": {
			do:   func(_ string, out Sink) error { return errors.Join(portal(out, true), dataset(out, "mailto:a@b", "")) },
			want: "found nothing to fetch: of 2 listed files, none has an address"},
		"files that are only counted": {do: func(_ string, out Sink) error {
			return errors.Join(portal(out, true), out.Dataset(Dataset{IRI: "http://a.example/d", Unaddressed: 3}))
		}, want: "found nothing to fetch: of 3 listed files, none has an address that can be fetched; asked: http"},
		"an address without a scheme": {do: func(_ string, out Sink) error {
			return errors.Join(portal(out, true), dataset(out, "www.a.example/1.csv"))
		}},
		"a dataset without files":    {do: func(_ string, out Sink) error { return errors.Join(portal(out, true), dataset(out)) }},
		"addresses without datasets": {do: func(_ string, out Sink) error { return out.Seed(catalog.Seed{URL: "http://a.example/1.csv"}) }},
		"changes, and there are none": {mark: "since 2026", do: func(_ string, out Sink) error {
			out.Next("since 2026")
			return portal(out, false)
		}},
		"a whole harvest later, and everything is gone": {mark: "whole", do: func(_ string, out Sink) error { return portal(out, true) },
			want: "found nothing"},
		"the end of a list that was interrupted": {mark: "page 9", do: func(string, Sink) error { return nil }},
		"a list that was full when it was read to its end": {mark: Document{URL: "http://a.example/sitemap.xml", Tag: `"1"`}.Mark(),
			do:   func(_ string, out Sink) error { return portal(out, false) },
			want: "found nothing: the portal answers, but no dataset and no file came, though the last harvest found some; asked: "},
		"changes since a date": {part: Selection{Since: "2026-01-01"}, do: func(_ string, out Sink) error { return portal(out, false) }},
		"a document that has not changed": {mark: "tag", do: func(_ string, out Sink) error {
			out.NotModified("tag")
			return portal(out, true)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := &Asked{Doer: always("{}")}
			m := &memory{mark: c.mark, nothing: true}
			h := listed{func(from string, out Sink) error {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.example/api", nil)
				if err != nil {
					return err
				}
				resp, err := asked.Do(req)
				if err != nil {
					return err
				}
				if _, err = io.Copy(io.Discard, resp.Body); err != nil {
					return err
				}
				return errors.Join(c.do(from, out), resp.Body.Close())
			}}
			report, err := Run(t.Context(), "src", h, m, Options{Part: c.part, Asked: asked.String})
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrNothing) || !strings.Contains(report.Error, c.want)) {
				t.Errorf("%v, want %q; %q", err, c.want, report.Error)
			}
			if c.want != "" && m.mark != "" {
				t.Errorf("the next harvest goes on from %q", m.mark)
			}
			came := report.Datasets.N() + report.Seeds.N()
			if never := report.Portals.N() > 0 && c.mark == "" && came == 0; never && len(m.commits)+len(m.entries) > 0 {
				t.Errorf("a portal of which nothing came was kept: %q", m.commits)
			}
		})
	}
}

func TestWhoeverAskedAPortalWronglyIsToldHowToFindItsKind(t *testing.T) {
	t.Parallel()
	hint := "; 'odarchive harvest auto http://a.example/ --dry-run' says what kind of portal it is"
	for _, c := range []struct {
		fails error
		want  bool
	}{{nil, true}, {&StatusError{Status: 404}, true}, {&StatusError{Status: 500}, false}, {&StatusError{Status: 403}, false},
		{io.ErrUnexpectedEOF, false}} {
		report, err := Run(t.Context(), "src", listed{func(string, Sink) error { return c.fails }}, &memory{},
			Options{Address: "http://a.example/"})
		if err == nil || strings.HasSuffix(report.Error, hint) != c.want {
			t.Errorf("%v: %q", c.fails, report.Error)
		}
	}
}

func TestAPortalOfWhichNothingCameNowIsKeptIfSomethingDidBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		listed  int // datasets that are known
		mark    string
		fails   error
		commits int
	}{
		"datasets are known":          {listed: 3, commits: 1},
		"none is, and it breaks off":  {fails: errors.New("500")},
		"some are, and it breaks off": {listed: 3, fails: errors.New("500"), commits: 1},
		"it goes on from a mark":      {mark: "page 9", commits: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &memory{listed: c.listed, mark: c.mark, nothing: true}
			_, err := Run(t.Context(), "src", listed{func(_ string, out Sink) error {
				return errors.Join(out.Portal(Portal{IRI: "http://a.example/", Title: "A"}, true), c.fails)
			}}, m, Options{})
			if len(m.commits) != c.commits || err == nil {
				t.Errorf("commits %q, error %v", m.commits, err)
			}
		})
	}
}

func TestAnInterruptedHarvestOfWhichNothingWasLeftIsDone(t *testing.T) {
	t.Parallel()
	for listed, want := range map[int]bool{0: false, 3: true} {
		m := &memory{mark: "page 9", listed: listed, nothing: true}
		_, err := Run(t.Context(), "src", listedAs("http://a.example/"), m, Options{})
		if (err == nil) != want {
			t.Errorf("%d datasets came before: %v", listed, err)
		}
	}
}

// listedAs is a source of one portal, of which nothing comes.
func listedAs(iri string) listed {
	return listed{func(_ string, out Sink) error { return out.Portal(Portal{IRI: iri}, true) }}
}

func TestWhatASourceCountsAndDoesNotReturnIsTheReasonThatRemovalsAreNotKnown(t *testing.T) {
	t.Parallel()
	m := &memory{blind: true}
	report, err := Run(t.Context(), "src", listed{func(_ string, out Sink) error {
		return errors.Join(out.Portal(Portal{IRI: "http://a.example/"}, true), out.Dataset(Dataset{IRI: "http://a.example/d"}),
			out.Unknown(Short(5), "the portal says that it lists 58 entries but returned 53"))
	}}, m, Options{})
	if want := "removals not looked for: the portal says that it lists 58 entries but returned 53"; err != nil || report.Unknown != 5 ||
		report.Missing != 5 || !strings.HasSuffix(report.Change(), want) {
		t.Errorf("%v, %d not returned: %s", err, report.Unknown, report.Change())
	}
}

func TestAPortalThatWasNotReadHasNoFigures(t *testing.T) {
	t.Parallel()
	report, err := Run(t.Context(), "src", listed{func(_ string, out Sink) error {
		out.NotModified("tag")
		return out.Portal(Portal{IRI: "http://a.example/"}, true)
	}}, &memory{mark: "tag"}, Options{})
	if err != nil || report.Inserted.Known() || report.Withdrawn.Known() || report.Waiting.Known() {
		t.Errorf("%v, %s", err, report.Change())
	}
}

// always is a Doer that gives the same answer to everything.
type always string

func (a always) Do(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
		Body: io.NopCloser(strings.NewReader(string(a)))}, nil
}

func TestAsManyRequestsAreNamedAsAPersonReads(t *testing.T) {
	t.Parallel()
	asked := &Asked{Doer: always("")}
	for _, path := range []string{"1", "2", strings.Repeat("3", 200), "4", "5"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://u:secret@a.example/"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := asked.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if s := asked.String(); strings.Contains(s, "secret") || strings.Contains(s, "/4") || !strings.HasSuffix(s, ", and 2 more requests") ||
		len(s) > 400 {
		t.Error(s)
	}
}
