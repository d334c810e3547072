package crawler

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
)

func TestACrawlAtWhoseEndOnlyDeadHostsAreLeftRecordsThemAndEnds(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	const good = 3
	s, urls := sites(t, n, good+2*darkHosts)
	answers := map[string]bool{}
	for _, url := range urls[:good] {
		host, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
		answers[host] = true
	}
	dial := func(address string) error {
		if answers[address] {
			return nil
		}
		for s.asked("/a.csv") < good { // the dead time out after the others have answered
			time.Sleep(time.Millisecond)
		}
		return dialError(syscall.ETIMEDOUT)
	}
	n.dial.Store(&dial)
	n.Workers = len(urls)
	n.Pipeline.Settings = func(string) hosts.Settings { return hosts.Settings{Parallel: 1} } // no retries
	failed := map[string]bool{}
	archived := 0
	_, err := n.Run(t.Context(), RunOptions{Once: true, Report: func(r Report) {
		if failed[r.URL] = r.Outcome == catalog.NoVersion; r.Outcome == catalog.Archived {
			archived++
		}
	}})
	for _, url := range urls[good:] {
		if !failed[url] {
			t.Errorf("the failure of %s is not recorded", url)
		}
	}
	if err != nil || archived != good {
		t.Errorf("%d of %d archived, %v", archived, good, err)
	}
	if why := n.Pipeline.Outage(); why != "" {
		t.Errorf("the crawl is held: %s", why)
	}
	if asked := s.asked("/robots.txt"); asked <= good || asked > 10*good {
		t.Errorf("%d requests for robots.txt of %d hosts", asked, good)
	}
}

func TestHostsAreAskedOnceInAPauseWhetherTheNetworkIsUp(t *testing.T) {
	t.Parallel()
	n := newNetwork()
	n.answer(t, "a.example")
	if ask, _ := n.beginProbe(); ask != nil {
		t.Errorf("without trouble, %v are asked", ask)
	}
	for i := range 20 {
		n.witnessed(string(rune('b'+i))+".example", "http://"+string(rune('b'+i))+".example/x.csv")
	}
	for _, host := range []string{"1.example", "2.example", "3.example"} {
		n.fail(host, true)
	}
	ask, _ := n.beginProbe()
	if len(ask) != maxWitnesses || ask[0].host != "u.example" {
		t.Errorf("%v are asked", ask)
	}
	if again, underWay := n.beginProbe(); again != nil || underWay == nil {
		t.Errorf("while they are asked, %v are, too", again)
	}
	if n.endProbe(); n.isOver() {
		t.Error("the trouble is over without an answer")
	}
	n.fail("4.example", true)
	if again, _ := n.beginProbe(); again != nil {
		t.Errorf("in the same pause, %v are asked again", again)
	}
	n.now = n.now.Add(minOutagePause)
	n.fail("4.example", true)
	if ask, _ := n.beginProbe(); len(ask) != maxWitnesses {
		t.Errorf("in the next pause, %v are asked", ask)
	}
	n.answer(t, "u.example")
	if n.endProbe(); !n.isOver() || n.why() != "" {
		t.Errorf("after an answer: %q", n.why())
	}
}

// A redirect is an answer, which is not followed, and what a witness reserves is not asked for.
func TestAWitnessIsAskedByTheRulesOfVisits(t *testing.T) {
	t.Parallel()
	n := newLinked(t, "a", "b", "c")
	n.answer("a", "/robots.txt", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, n.at("b", "/x"), http.StatusFound)
	})
	var asked atomic.Int32
	n.answer("c", "/robots.txt", func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	n.say("c", tdmrepPath, "application/json", `[{"location": "/", "tdm-reservation": 1}]`)
	for _, host := range []string{"a", "c"} {
		if _, err := n.Gate.Robots.Allowed(t.Context(), n.at(host, "/f.csv")); err != nil { // as a visit did, earlier
			t.Fatal(err)
		}
	}
	n.requests()
	for range outageHosts {
		n.outage.note(&fetch.OwnTrouble{Kind: fetch.TroubleNetwork, Err: errors.New("down")}, time.Now())
	}
	if n.ask(t.Context(), witness{"a", n.at("a", "/f.csv")}); n.requests() != "" || !n.outage.isOver() {
		t.Error("a redirect is followed, or is no answer")
	}
	before := asked.Load()
	n.Honour = []string{TDMReservation}
	if n.ask(t.Context(), witness{"c", n.at("c", "/f.csv")}); asked.Load() != before {
		t.Errorf("it asked %d times for robots.txt", asked.Load()-before)
	}
}

func TestAWitnessThatIsSilentByNowDoesNotKeepTheOthersFromBeingAsked(t *testing.T) {
	t.Parallel()
	n := newLinked(t, "silent", "live")
	n.answer("silent", "/robots.txt", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, host := range []string{"live", "silent"} { // the silent one is the last that answered, so the first that is asked
		n.outage.recent = append(n.outage.recent, witness{host, n.at(host, "/f.csv")})
	}
	n.outage.note(&fetch.OwnTrouble{Kind: fetch.TroubleNetwork, Err: errors.New("down")}, time.Now())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !n.probe(ctx) {
		t.Error("nobody answered")
	}
}
