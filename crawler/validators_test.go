package crawler

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/crawler/queue/frontier"
)

func TestAServerWhoseValidatorsNeverChangeIsFoundOut(t *testing.T) {
	t.Parallel()
	for name, header := range map[string][2]string{
		"entity tag":                    {"ETag", `"v1"`},
		"Last-Modified":                 {"Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"},
		"Last-Modified of a far future": {"Last-Modified", "Thu, 31 Dec 2099 00:00:00 GMT"},
		"Last-Modified before the web":  {"Last-Modified", "Thu, 01 Jan 1970 00:00:01 GMT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var state atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set(header[0], header[1])
				if r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				w.Header().Set("Content-Type", "text/csv")
				fmt.Fprintf(w, "id,name\n1,state %d\n", state.Load())
			}))
			defer s.Close()
			n := newNode(t)
			url := s.URL + "/a.csv"
			n.add(t, url)
			versions, liedAt := 0, 0
			for visit := 1; visit <= 12; visit++ {
				state.Add(1) // the file changes before every visit
				r := n.crawl(t, RunOptions{})["/a.csv"]
				versions = r.Versions
				if liedAt == 0 && strings.Contains(r.Why, "with the same") {
					liedAt = visit
				}
				n.clock.advance(48 * time.Hour)
			}
			u, err := n.Pipeline.Frontier.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			never := strings.Contains(header[1], "2099") || strings.Contains(header[1], "1970") // is sent back
			if !never && (liedAt < 6 || liedAt > 10 || !u.Liar || versions != 1+12-liedAt+1) {
				t.Errorf("found out at visit %d (liar: %v), %d versions; want it within 10 visits, and every version after that", liedAt,
					u.Liar, versions)
			}
			if never && versions != 12 {
				t.Errorf("%d versions, want all 12", versions)
			}
			if strings.Contains(header[1], "1970") {
				for _, v := range u.History {
					if !v.LastModified.IsZero() {
						t.Errorf("the schedule is told of a change at %v", v.LastModified)
					}
				}
			}
		})
	}
}

func TestOneVisitInTenDoubts(t *testing.T) {
	t.Parallel()
	at := map[int]int{}
	for i := range 200 {
		job := frontier.Job{Key: fmt.Sprintf("http://(example,h,)/%d", i), ETag: `"x"`}
		doubted := 0
		for job.Fetches = range 50 {
			if etag, _ := validators(job, time.Now()); etag == "" {
				doubted++
				at[job.Fetches%doubtEvery]++
			}
		}
		if doubted != 5 {
			t.Errorf("URL %d: %d of 50 visits are made without validators, want 5", i, doubted)
		}
	}
	if len(at) != doubtEvery/2 || at[0] > 0 {
		t.Errorf("visits without validators, by their number: %v; want them spread over the last five of ten", at)
	}
}
