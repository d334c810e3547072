package archive

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

const ours = "a,b\n1,2\n"

func hours(n int) time.Time { return day.Add(time.Duration(n) * time.Hour) }

// unchangedVisits makes visits that are answered 304.
func unchangedVisits(t *testing.T, a *Archive, url string, at ...int) {
	t.Helper()
	for _, n := range at {
		act := catalog.Activity{URL: url, Start: hours(n), End: hours(n).Add(time.Second), Outcome: catalog.Unchanged, Status: 304}
		if _, err := a.Commit(t.Context(), Visit{Activity: act}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// history returns the versions by date, each as its number, its hour and whether it has our bytes.
func history(t *testing.T, a *Archive, url string) (s string) {
	t.Helper()
	for _, v := range byDate(t, a, url) {
		whose := "theirs"
		if v.Size == int64(len(ours)) {
			whose = "ours"
		}
		s += fmt.Sprintf("%d@%d=%s ", v.N, int(v.At.Sub(day).Hours()), whose)
	}
	return s
}

// holds checks that triples, and all that lists versions, agree with the records.
func holds(t *testing.T, a *Archive, url string) {
	t.Helper()
	derived := map[term.Quad]bool{}
	err := a.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			derived[q] = true
		}
		return nil
	})
	if stored := triplesOf(t, a); err != nil || !maps.Equal(derived, stored) {
		for q := range stored {
			if !derived[q] {
				t.Errorf("does not follow from the records: %v", q)
			}
		}
		t.Errorf("%d quads follow from the records, %d are stored, %v", len(derived), len(stored), err)
	}
	id := latestResource(t, a, url)
	v, err := a.Latest(t.Context(), url)
	newest, err2 := a.Newest(t.Context(), url)
	found, err3 := a.Find(t.Context(), []Wanted{WantLatest(id)})
	if err != nil || err2 != nil || err3 != nil || newest.ID != v.ID || found[0].ID != v.ID {
		t.Errorf("the latest version is %s, %s, %s; %v %v %v", v.ID, newest.ID, found[0].ID, err, err2, err3)
	}
	all, err := a.Versions(t.Context(), url)
	s, err2 := a.Stats(t.Context())
	logged, err3 := a.VersionsLogged(t.Context(), 0, 1000)
	if err != nil || err2 != nil || err3 != nil || s.Versions != len(all) || len(logged) != len(all) {
		t.Errorf("%d versions, %d counted, %d logged; %v %v %v", len(all), s.Versions, len(logged), err, err2, err3)
	}
	if c, err := a.CheckLog(t.Context(), false); err != nil || c.Found != 0 {
		t.Errorf("log of events: %q, %v", c.Faults, err)
	}
	if c, err := a.CheckLeaves(t.Context()); err != nil || c.Found != 0 || c.Leaves != int64(len(all)) {
		t.Errorf("transparency log: %d leaves, %q, %v", c.Leaves, c.Faults, err)
	}
	acts, err := a.Activities(t.Context(), catalog.ActivityQuery{URL: url, Limit: 10_000})
	visits := 0
	for _, act := range acts {
		visits += act.Visits
	}
	if err != nil || s.Visits != visits {
		t.Errorf("%d visits are counted, %d listed, %v", s.Visits, visits, err)
	}
}

// confirmPast makes a visit of another archive that found the bytes of a version once more.
func confirmPast(t *testing.T, a *Archive, v catalog.Version, at time.Time) {
	t.Helper()
	known, _, err := a.Captured(t.Context(), Capture{v.URL, at, v.Digests})
	if err != nil || known {
		t.Errorf("%v, %v", known, err)
	}
	act := catalog.Activity{URL: v.URL, Start: at, End: at, Outcome: catalog.Unchanged, Status: 200}
	if act, err = a.Commit(t.Context(), Visit{Activity: act, Confirms: v.ID, Past: &Past{}}, nil); err != nil ||
		act.Outcome != catalog.Unchanged || act.Version == "" {
		t.Errorf("%+v, %v", act, err)
	}
	if known, _, err = a.Captured(t.Context(), Capture{v.URL, at, v.Digests}); err != nil || !known {
		t.Errorf("afterwards: %v, %v", known, err)
	}
}

func TestACaptureAmongUnchangedVisitsDoesNotBecomeTheLatestVersion(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: file})
	visit(t, a, file, ours, hours(1))
	unchangedVisits(t, a, file, 3, 5, 7, 9)
	importPast(t, a, file, "another,archive\nfound,this\n", hours(4))
	if s := history(t, a, file); s != "0@1=ours 1@4=theirs 2@5=ours " {
		t.Errorf("the history is %s", s)
	}
	for at, whose := range map[int]int{2: 0, 4: 1, 5: 2, 6: 2, 20: 2} {
		if v, err := a.At(t.Context(), file, hours(at)); err != nil || v.N != whose {
			t.Errorf("at hour %d: version %d, want %d, %v", at, v.N, whose, err)
		}
	}
	r, err := a.Resource(t.Context(), file)
	if err != nil || !r.LastVisit.Equal(hours(9)) || !r.Changed.Equal(hours(5)) || r.Outcome != catalog.Unchanged ||
		r.Size != int64(len(ours)) || r.LatestN() != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if f, err := a.Fetched(ns.VersionID(r.ID, 2)); err != nil || f.Visit.Status != 200 || !f.Visit.Start.Equal(hours(5)) {
		t.Errorf("the visit of the version that came back: %+v, %v", f.Visit, err)
	}
	holds(t, a, file)

	importPast(t, a, file, "another,archive\nfound,this\n", hours(6)) // once more, and then before both
	importPast(t, a, file, "another,archive\nfound,that\n", hours(2))
	if s := history(t, a, file); s != "0@1=ours 5@2=theirs 6@3=ours 1@4=theirs 2@5=ours 3@6=theirs 4@7=ours " {
		t.Errorf("the history is %s", s)
	}
	holds(t, a, file)
	unchangedVisits(t, a, file, 11)
	if act := visit(t, a, file, ours, hours(13)); act.Outcome != catalog.Unchanged || act.Version != ns.VersionID(r.ID, 4) {
		t.Errorf("our bytes again: %+v", act)
	}
	visit(t, a, file, "a,b\n3,4\n5,6\n", hours(15))
	if v, err := a.Latest(t.Context(), file); err != nil || v.N != 7 {
		t.Errorf("the latest version is %d, %v", v.N, err)
	}
	holds(t, a, file)
}

func TestACaptureAmongVisitsOfAnOldVersionIsFollowedByIt(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: file})
	visit(t, a, file, ours, hours(1))
	unchangedVisits(t, a, file, 3, 5)
	visit(t, a, file, "the,next\n1,2\n", hours(10))
	importPast(t, a, file, "another,archive\nfound,this\n", hours(4))
	importPast(t, a, file, "another,archive\nfound,that\n", hours(6)) // after the last visit that found version 0
	if s := history(t, a, file); s != "0@1=ours 2@4=theirs 3@5=ours 4@6=theirs 1@10=theirs " {
		t.Errorf("the history is %s", s)
	}
	if v, err := a.Latest(t.Context(), file); err != nil || v.N != 1 {
		t.Errorf("the latest version is %d, %v", v.N, err)
	}
	holds(t, a, file)
}

func TestACaptureAfterTheLastContentIsTheLatestAlthoughVisitsFailedSince(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: file})
	visit(t, a, file, ours, hours(1))
	for _, n := range []int{5, 7} {
		act := catalog.Activity{URL: file, Start: hours(n), End: hours(n), Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus,
			Status: 404}
		if _, err := a.Commit(t.Context(), Visit{Activity: act}, nil); err != nil {
			t.Fatal(err)
		}
	}
	importPast(t, a, file, "another,archive\nfound,this\n", hours(3))
	r, err := a.Resource(t.Context(), file)
	if err != nil || r.LatestN() != 1 || !r.LastVisit.Equal(hours(7)) || r.Outcome != catalog.NoVersion || r.Errors != 2 ||
		!r.Changed.Equal(hours(3)) {
		t.Errorf("%+v, %v", r, err)
	}
	holds(t, a, file)
}

func TestACaptureAmongForgottenVisitsIsFollowedByTheFirstThatIsLeft(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: file})
	visit(t, a, file, ours, hours(1))
	unchangedVisits(t, a, file, 3, 5, 7, 9)
	if _, err := a.ForgetVisits(t.Context(), hours(100)); err != nil {
		t.Fatal(err)
	}
	importPast(t, a, file, "another,archive\nfound,this\n", hours(4))
	if s := history(t, a, file); s != "0@1=ours 1@4=theirs 2@9=ours " {
		t.Errorf("the history is %s", s)
	}
	holds(t, a, file)
}

func TestAnAnswerThatNothingChangedConfirmsTheVersionThatWasAskedFor(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: file})
	asked := visit(t, a, file, ours, hours(1)).Version
	importPast(t, a, file, "another,archive\nfound,this\n", hours(2)) // while the request is under way
	act := catalog.Activity{URL: file, Start: hours(3), End: hours(3), Outcome: catalog.Unchanged, Status: 304}
	made, err := a.Commit(t.Context(), Visit{Activity: act, Confirms: asked}, nil)
	if err != nil || made.Outcome != catalog.Archived {
		t.Errorf("%+v, %v", made, err)
	}
	if s := history(t, a, file); s != "0@1=ours 1@2=theirs 2@3=ours " {
		t.Errorf("the history is %s", s)
	}
	holds(t, a, file)
}

func TestAWithdrawnVersionThatVisitsFoundAfterACaptureStaysWithdrawn(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, catalog.Seed{URL: file})
	own := visit(t, a, file, ours, hours(1)).Version
	unchangedVisits(t, a, file, 3, 5)
	if _, err := a.Withdraw(t.Context(), Withdrawing{Targets: []string{own}},
		catalog.Withdrawal{At: hours(6), Reason: "by law", Status: 451}); err != nil {
		t.Fatal(err)
	}
	importPast(t, a, file, "another,archive\nfound,this\n", hours(4))
	if s := history(t, a, file); s != "0@1=ours 1@4=theirs 2@5=ours " {
		t.Errorf("the history is %s", s)
	}
	newest, err := a.Newest(t.Context(), file)
	if err != nil || newest.N != 2 || newest.Withdrawn == nil {
		t.Errorf("%+v, %v", newest, err)
	}
	if _, err := a.Open(t.Context(), newest.ID); !errors.Is(err, catalog.ErrWithdrawn) {
		t.Errorf("its bytes: %v", err)
	}
	derived := map[term.Quad]bool{}
	err = a.Quads(t.Context(), func(quads []term.Quad) error {
		for _, q := range quads {
			derived[q] = true
		}
		return nil
	})
	if err != nil || !maps.Equal(derived, triplesOf(t, a)) {
		t.Errorf("the triples do not follow from the records, %v", err)
	}
	if c, err := a.CheckLeaves(t.Context()); err != nil || c.Found != 0 {
		t.Errorf("%q, %v", c.Faults, err)
	}
}

// Whatever the order in which visits and imports come, the version of any moment has the bytes that were found last
// until then, and the latest those that were found last.
func TestImportsInAnyOrderTellTheSameHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			a := newArchive(t)
			register(t, a, catalog.Seed{URL: file})
			found := map[int]string{} // by hour
			check := func(now int) {
				t.Helper()
				bytes := ""
				for hour := range now + 1 {
					if body, ok := found[hour]; ok {
						bytes = body
					}
					if bytes == "" {
						continue
					}
					v, err := a.At(t.Context(), file, hours(hour).Add(time.Minute))
					if err != nil || v.Digests.SHA256 != sha256.Sum256([]byte(bytes)) {
						t.Fatalf("at hour %d: version %d of %s, want %q, %v\n%v\n%s", hour, v.N, v.At, bytes, err, found,
							history(t, a, file))
					}
				}
				if bytes != "" {
					if v, err := a.Latest(t.Context(), file); err != nil || v.Digests.SHA256 != sha256.Sum256([]byte(bytes)) {
						t.Fatalf("the latest version is %d of %s, want %q, %v\n%v", v.N, v.At, bytes, err, found)
					}
				}
			}
			body, now := "a\n1\n", 0
			for range 40 {
				switch now++; r.IntN(6) {
				case 0:
					body = fmt.Sprintf("a\n%d\n", r.IntN(3))
					fallthrough
				case 1:
					visit(t, a, file, body, hours(now))
					found[now] = body
				case 2:
					act := catalog.Activity{URL: file, Start: hours(now), End: hours(now), Outcome: catalog.NoVersion,
						ErrorClass: catalog.ErrHTTPStatus, Status: 404}
					if _, err := a.Commit(t.Context(), Visit{Activity: act}, nil); err != nil {
						t.Fatal(err)
					}
				case 3:
					if latest, err := a.Latest(t.Context(), file); err == nil && latest.Digests.SHA256 == sha256.Sum256([]byte(body)) {
						unchangedVisits(t, a, file, now)
						found[now] = body
					}
				default:
					hour := r.IntN(now + 1)
					if _, taken := found[hour]; !taken {
						found[hour] = fmt.Sprintf("a\n%d\n", r.IntN(3))
						if before, _, err := a.Around(t.Context(), file, hours(hour)); err == nil && before != nil &&
							before.Digests.SHA256 == sha256.Sum256([]byte(found[hour])) {
							confirmPast(t, a, *before, hours(hour))
						} else {
							importPast(t, a, file, found[hour], hours(hour))
						}
					}
				}
				check(now)
			}
			if len(found) > 0 {
				history(t, a, file)
				holds(t, a, file)
			}
		})
	}
}
