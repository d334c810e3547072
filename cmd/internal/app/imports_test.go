package app

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/preserve"
)

// capture is what another archive found at some hour.
type capture struct {
	hour int
	body string
}

// take imports captures in their order.
func take(t *testing.T, n *Node, url string, all []capture) {
	t.Helper()
	for _, c := range all {
		body := n.Spool.Create()
		if _, err := body.Write([]byte(c.body)); err != nil {
			t.Fatal(err)
		}
		if err := body.Finish(); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2020, 1, 1, c.hour, 0, 0, 0, time.UTC)
		if _, err := n.Pipeline.Import(t.Context(),
			crawler.Imported{URL: url, At: at, Status: 200, Header: http.Header{"Content-Type": {"text/csv"}}, Body: body}); err != nil {
			t.Fatal(err)
		}
		if err := body.Remove(); err != nil {
			t.Fatal(err)
		}
	}
}

// told returns which bytes a URL had at each hour, and how many versions and visits there are.
func told(t *testing.T, n *Node, url string, hours int) (s string, versions, visits int) {
	t.Helper()
	for hour := range hours {
		v, err := n.Archive.At(t.Context(), url, time.Date(2020, 1, 1, hour, 30, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		s += fmt.Sprintf("%d %x\n", hour, v.Digests.SHA256[:4])
	}
	stats, err := n.Archive.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, stats.Versions, stats.Visits
}

// A capture that is older than the others with its bytes is a version, and so are they, since versions stay. All else
// is the same.
func TestCapturesOfAnotherArchiveTellTheSameInWhateverOrderAndHoweverOftenTheyCome(t *testing.T) {
	t.Parallel()
	const url, hours = "http://127.0.0.1:9/a.csv", 12
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 6 {
		var all []capture
		want := ""
		for hour := range hours {
			body := fmt.Sprintf("id,n\n%d,2\n", r.IntN(2))
			all = append(all, capture{hour, body})
			sum := sha256.Sum256([]byte(body))
			want += fmt.Sprintf("%d %x\n", hour, sum[:4])
		}
		n := openNode(t, func(*config.Config) {})
		if _, err := n.Intake.Add(t.Context(), []catalog.Seed{{URL: url}}); err != nil {
			t.Fatal(err)
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		take(t, n, url, all)
		got, versions, visits := told(t, n, url, hours)
		if got != want || visits != len(all) {
			t.Fatalf("seed %d: imported in the order %v, %d visits\n%swant\n%s", seed, all, visits, got, want)
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		take(t, n, url, all)
		if got, more, again := told(t, n, url, hours); got != want || more != versions || again != visits {
			t.Fatalf("seed %d: imported again in the order %v: %d versions, %d visits before; %d, %d now\n%s", seed, all, versions, visits,
				more, again, got)
		}
	}
}

func TestAllCapturesOfOneMomentAreKnownWhenTheyComeAgain(t *testing.T) {
	t.Parallel()
	const url = "http://127.0.0.1:9/a.csv"
	n := openNode(t, func(*config.Config) {})
	if _, err := n.Intake.Add(t.Context(), []catalog.Seed{{URL: url}}); err != nil {
		t.Fatal(err)
	}
	var all []capture
	for i := range 6 {
		all = append(all, capture{1, fmt.Sprintf("id,n\n%d,2\n", i)})
	}
	for range 3 {
		take(t, n, url, all)
		if _, versions, visits := told(t, n, url, 0); versions != len(all) || visits != len(all) {
			t.Errorf("%d versions, %d visits", versions, visits)
		}
	}
}

func TestAFileWithoutAnAddressKeepsItsOwnWhenTheBaseChanges(t *testing.T) {
	t.Parallel()
	n := openNode(t, func(*config.Config) {})
	begin := func() {
		t.Helper()
		if err := n.Preserved().Begin(t.Context(), preserve.Object{URL: preserve.Imported + "urn:thing:1/x.csv"}); err != nil {
			t.Fatal(err)
		}
	}
	begin()
	n.Mint.Base, n.Mint.Former = "https://b.example/", []string{n.Mint.Base}
	begin()
	if s, err := n.Archive.Stats(t.Context()); err != nil || s.Resources != 1 {
		t.Errorf("%d URLs, %v", s.Resources, err)
	}
}

// A capture that says that bytes came back is a version, also where visits are forgotten that had found them.
func TestBytesThatCameBackAreAVersionAlsoAmongForgottenVisits(t *testing.T) {
	t.Parallel()
	const url = "http://127.0.0.1:9/a.csv"
	n := openNode(t, func(*config.Config) {})
	if _, err := n.Intake.Add(t.Context(), []catalog.Seed{{URL: url}}); err != nil {
		t.Fatal(err)
	}
	const a, b = "id,n\n1,a\n", "id,n\n1,b\n"
	take(t, n, url, []capture{{0, a}, {2, a}, {4, a}, {8, a}, {10, a}})
	if _, err := n.Archive.ForgetVisits(t.Context(), time.Date(2020, 1, 1, 11, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	var want string
	for hour := range 12 {
		body := a
		if hour == 3 || hour == 4 {
			body = b
		}
		sum := sha256.Sum256([]byte(body))
		want += fmt.Sprintf("%d %x\n", hour, sum[:4])
	}
	for range 2 {
		take(t, n, url, []capture{{3, b}, {5, a}, {6, a}})
		if got, versions, _ := told(t, n, url, 12); got != want || versions != 4 {
			t.Fatalf("%d versions\n%swant\n%s", versions, got, want)
		}
	}
}
