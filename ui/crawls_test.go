package ui_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/supervise"
)

func TestThePagesSayHowTheCrawlGoesAndWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	running := fixedNow.Add(-2 * time.Hour)
	for name, c := range map[string]struct {
		status crawler.Status
		want   string
	}{
		"held":    {crawler.Status{Held: "the disk is nearly full", Since: running}, "The crawl is on hold: the disk is nearly full."},
		"serving": {crawler.Status{}, "This server does not crawl: it was started with --no-crawl."},
		"busy": {crawler.Status{Since: running, Active: 3, Rate: 2.25, Fetches: 120, Failed: 4, Kept: 7, Bytes: 5e6},
			"3 hosts are being visited, 2.2 fetches a second. Since the crawl started 2 h ago: 120 fetches, 4 failed, 7 new versions, " +
				"5.0 MB."},
		"waiting": {crawler.Status{Since: running, NextDue: running, Queue: crawler.Waits{Due: 5, More: 2, Hosts: []crawler.HostWait{
			{Host: "a.example", Due: 4, Until: fixedNow.Add(3 * time.Hour), Why: "retry-after"},
			{Host: "b.example", Door: "ftp://b.example", Due: 1, Until: fixedNow.Add(4 * time.Hour), Why: "back-off", Failures: 3,
				Failure: "refused"}}}},
			"5 files are due; none may be asked for yet. a.example may be asked again in 3 h (it asked to be left alone): 4 files. " +
				"ftp://b.example may be asked again in 4 h (3 failures in a row: refused): 1 file. 2 more hosts wait."},
		"partly": {crawler.Status{Since: running, NextDue: running, Queue: crawler.Waits{Due: 1, Askable: 1}},
			"1 file is due; 1 may be asked for now."},
		"idle": {crawler.Status{Since: running, Queue: crawler.Waits{NextDue: fixedNow.Add(3 * time.Hour)}},
			"Nothing is due; the next visit is in 3 h."},
		"a job fails": {crawler.Status{Since: running, Jobs: []supervise.Job{{Name: "joining", State: supervise.Running},
			{Name: "planning", State: supervise.Waiting, Error: "no room", FailedAt: running, Next: fixedNow.Add(3 * time.Hour)}}},
			"Nothing is queued. The job planning failed 2 h ago and is retried in 3 h: no room"},
		"a job has stopped": {
			crawler.Status{Since: running,
				Jobs: []supervise.Job{{Name: "crawling", State: supervise.Stopped, Error: "the disk is gone", FailedAt: running}}},
			"The job crawling failed 2 h ago and is stopped until the program restarts: the disk is gone"},
		"empty": {crawler.Status{Since: running}, "Nothing is queued."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			w.status = c.status
			h := site(w)
			text := regexp.MustCompile("<[^>]*>").ReplaceAllString(body(t, get(t, h, "/crawls")), "")
			if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, c.want) {
				t.Errorf("/crawls lacks %q: %s", c.want, text)
			}
			if held := strings.Contains(body(t, get(t, h, "/")), "The crawl is on hold"); held != (c.status.Held != "") {
				t.Errorf("the first page says that the crawl is on hold: %v", held)
			}
		})
	}
}

func TestTheCrawlsPageListsFaultsOfTheProgram(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.status = crawler.Status{Since: fixedNow.Add(-time.Hour), Internal: crawler.Internal{Count: 2, Newest: []catalog.InternalFailure{
		{URL: "http://h.example/<odd>.csv", At: fixedNow.Add(-time.Minute), Why: "inspect: a fault of this program: <b>", Times: 3},
	}}}
	page := body(t, get(t, site(w), "/crawls"))
	for _, want := range []string{"Errors of this program", "2 files", "/dataset?url=http%3A%2F%2Fh.example%2F%3Codd%3E.csv",
		"program: &lt;b&gt;"} {
		if !strings.Contains(page, want) {
			t.Errorf("/crawls lacks %q: %s", want, page)
		}
	}
}
