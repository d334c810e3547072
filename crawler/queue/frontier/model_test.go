package frontier

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"

	"pgregory.net/rapid"
)

// simple is a simple model of the frontier.
type simple struct {
	due       map[string]time.Time // zero: not queued
	black     map[string]bool
	notBefore map[string]time.Time // by group
	closed    map[string]time.Time // by door
	visits    map[string]int
}

func (s *simple) ready(now time.Time, leased map[string]*Lease) (urls []string) {
	for u, due := range s.due {
		g := groupOf(u)
		if !due.IsZero() && !due.After(now) && !s.black[u] && !s.notBefore[g].After(now) && !s.closed[doorOfURL(u)].After(now) &&
			leased[g] == nil {
			urls = append(urls, u)
		}
	}
	return urls
}

func groupOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return rest[:10]
}

func doorOfURL(url string) string {
	scheme, _, _ := strings.Cut(url, "://")
	return scheme + "://" + groupOf(url)
}

// TestAnyHistoryIsThatOfASimpleModel compares the frontier with a model over random sequences of adding, leasing,
// finishing, failing, injecting, restarting and advancing the clock.
func TestAnyHistoryIsThatOfASimpleModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		db, err := kv.Open("", kv.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		c := &clock{noon}
		reopen := func() *Frontier {
			f, err := New(db, Options{Now: c.Now, LeaseJobs: 3})
			if err != nil {
				t.Fatal(err)
			}
			f.window.size = 2
			return f
		}
		f := reopen()
		m := &simple{map[string]time.Time{}, map[string]bool{}, map[string]time.Time{}, map[string]time.Time{}, map[string]int{}}
		leased := map[string]*Lease{}
		steps := 0
		url := rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("%s://h%d.example/%d", rapid.SampledFrom(schemes).Draw(t, "scheme"), rapid.IntRange(0, 5).Draw(t, "host"),
				rapid.IntRange(0, 5).Draw(t, "url"))
		})
		hold := func() *Lease {
			groups := slices.Sorted(maps.Keys(leased))
			if len(groups) == 0 {
				return nil
			}
			return leased[rapid.SampledFrom(groups).Draw(t, "group")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				u := url.Draw(t, "url")
				n, err := f.Add(t.Context(), catalog.Seed{URL: u, Priority: float64(rapid.IntRange(-1, 1).Draw(t, "priority"))})
				if err != nil {
					t.Fatal(err)
				}
				_, known := m.due[u]
				if (n == 1) == known {
					t.Fatalf("%s: added %d although known: %v", u, n, known)
				}
				if !known {
					m.due[u] = c.now
				}
			},
			"add many": func(t *rapid.T) { // more than a group's record has room for
				scheme, host, first, priority := rapid.SampledFrom(schemes).Draw(t, "scheme"), rapid.IntRange(0, 5).Draw(t, "host"),
					rapid.IntRange(0, 100).Draw(t, "first"), float64(rapid.IntRange(-1, 1).Draw(t, "priority"))
				var seeds []catalog.Seed
				for i := range 3 * headSize {
					u := fmt.Sprintf("%s://h%d.example/%d", scheme, host, first+i)
					seeds = append(seeds, catalog.Seed{URL: u, Priority: priority})
					if _, known := m.due[u]; !known {
						m.due[u] = c.now
					}
				}
				if _, err := f.Add(t.Context(), seeds...); err != nil {
					t.Fatal(err)
				}
			},
			"inject": func(t *rapid.T) {
				u, black, score := url.Draw(t, "url"), rapid.Bool().Draw(t, "blacklisted"), float64(rapid.IntRange(-5, 5).Draw(t, "score"))
				if _, err := f.Inject(t.Context(), Injection{URL: u, Score: &score, Blacklisted: &black}); err != nil {
					t.Fatal(err)
				}
				if _, known := m.due[u]; !known {
					m.due[u] = c.now
				}
				m.black[u] = black
			},
			"make due": func(t *rapid.T) {
				u := url.Draw(t, "url")
				err := f.MakeDue(t.Context(), u)
				due, known := m.due[u]
				if known == errors.Is(err, ErrUnknown) {
					t.Fatalf("%s: %v", u, err)
				}
				if known && (due.IsZero() || due.After(c.now)) {
					m.due[u] = c.now
				}
			},
			"time passes": func(t *rapid.T) {
				c.now = c.now.Add(time.Duration(rapid.IntRange(1, 300).Draw(t, "minutes")) * time.Minute)
			},
			"lease": func(t *rapid.T) {
				l, err := f.TryLease(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				ready := m.ready(c.now, leased)
				if (l == nil) != (len(ready) == 0) {
					t.Fatalf("leased %s, ready are %v", urlsOf(l), ready)
				}
				if l == nil {
					return
				}
				for _, j := range l.Jobs {
					if !slices.Contains(ready, j.URL) {
						t.Fatalf("%s is leased but not ready", j.URL)
					}
					if j.Fetches != m.visits[j.URL] {
						t.Fatalf("%s: %d visits, want %d", j.URL, j.Fetches, m.visits[j.URL])
					}
				}
				leased[l.Group] = l
			},
			"finish": func(t *rapid.T) {
				l := hold()
				if l == nil {
					return
				}
				j, ok := l.Next()
				if !ok {
					return
				}
				r := Result{Visit: schedule.Visit{At: c.now, Outcome: catalog.Unchanged}}
				if again := rapid.IntRange(0, 600).Draw(t, "again"); again > 0 {
					r.NextDue = c.now.Add(time.Duration(again) * time.Minute)
				}
				r.HostBackoff = time.Duration(rapid.SampledFrom([]int{0, 0, 1, 60, 3600}).Draw(t, "backoff")) * time.Second
				r.DoorBackoff = time.Duration(rapid.SampledFrom([]int{0, 0, 1, 60, 3600}).Draw(t, "door")) * time.Second
				fail := rapid.IntRange(0, 4).Draw(t, "fails") == 0
				err := db.Update(t.Context(), func(txn *kv.Txn) error {
					if err := f.Done(txn, l, j, r); err != nil {
						return err
					}
					if fail {
						return errors.New("aborted")
					}
					return nil
				})
				if fail {
					if err := f.Release(t.Context(), l, time.Time{}, ""); err != nil {
						t.Fatal(err)
					}
					delete(leased, l.Group)
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				m.due[j.URL] = r.NextDue
				m.visits[j.URL]++
				if r.HostBackoff > 0 {
					m.notBefore[l.Group] = c.now.Add(r.HostBackoff)
				}
				m.closed[doorOfURL(j.URL)] = c.now.Add(r.DoorBackoff)
				if len(l.done) == len(l.Jobs) || max(r.HostBackoff, r.DoorBackoff) > Moment {
					delete(leased, l.Group)
				}
			},
			"release": func(t *rapid.T) {
				if l := hold(); l != nil {
					until := c.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "minutes")) * time.Minute)
					if door := rapid.Bool().Draw(t, "a door"); door {
						if err := f.ReleaseDoor(t.Context(), l, l.Jobs[0].URL, until, "test"); err != nil {
							t.Fatal(err)
						}
						if until.After(c.now) {
							m.closed[doorOfURL(l.Jobs[0].URL)] = until
						}
					} else if err := f.Release(t.Context(), l, until, "test"); err != nil {
						t.Fatal(err)
					} else if until.After(c.now) {
						m.notBefore[l.Group] = until
					}
					delete(leased, l.Group)
				}
			},
			"restart": func(t *rapid.T) {
				f = reopen()
				clear(leased)
			},
			"replan": func(t *rapid.T) {
				until := time.Duration(rapid.IntRange(1, 600).Draw(t, "minutes")) * time.Minute
				_, err := f.Replan(t.Context(), time.Time{}, func(u *URL) (time.Time, string) { return c.now.Add(until), "test" })
				if err != nil {
					t.Fatal(err)
				}
				for u, due := range m.due {
					if due.After(c.now) && m.visits[u] > 0 && !m.black[u] {
						m.due[u] = c.now.Add(until)
					}
				}
			},
			"": func(t *rapid.T) {
				s, err := f.Stats()
				if err != nil || s.URLs != len(m.due) || s.Leased != len(leased) {
					t.Fatalf("stats %+v, %v; want %d URLs, %d leases", s, err, len(m.due), len(leased))
				}
				for u := range m.due {
					g, until := groupOf(u), m.notBefore[groupOf(u)]
					if door := m.closed[doorOfURL(u)]; door.After(until) {
						until = door
					}
					w, waits, err := f.Wait(g, doorOfURL(u))
					if err != nil || waits != until.After(c.now) || waits && !w.Until.Equal(until) {
						t.Fatalf("%s waits: %v, %v, %v; want until %v", u, w, waits, err, until)
					}
					break // of any
				}
				if steps++; steps%10 == 0 {
					if err := inconsistency(f); err != nil {
						t.Fatal(err)
					}
				}
			},
		})
	})
}
