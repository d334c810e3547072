package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/crawler"
	"odarchive/crawler/catalog"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// watchEvery is how often the line of progress of a crawl is drawn.
const watchEvery = 500 * time.Millisecond

// watchCrawl shows the progress of a crawl until the function that it returns is called. It adds to opts what it needs.
func (c *cli) watchCrawl(n *app.Node, opts *crawler.RunOptions, seen *ending) (end func()) {
	bar := c.progress(-1, "files")
	if !bar.watched() {
		return func() {}
	}
	var left atomic.Int64 // versions to index
	opts.Indexing = func(versions int) { left.Store(int64(versions)) }
	total, slowest := planned(n, *opts)
	bar.of(total, func(elapsed time.Duration) time.Duration { return slowest - elapsed })
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				sum, failed := seen.sofar()
				bar.set(int64(sum.Fetches), crawlNote(n, sum, failed, int(left.Load())))
			case <-stop:
				bar.done()
				return
			}
		}
	})
	return func() {
		close(stop)
		group.Wait()
	}
}

// crawlNote says how a crawl goes, and what it waits for.
func crawlNote(n *app.Node, sum crawler.Summary, failed, indexing int) string {
	note := fmt.Sprintf("%d kept, %d failed, %s", sum.Outcomes[catalog.Archived]+sum.Outcomes[catalog.Unchanged], failed,
		humanize.IBytes(uint64(sum.Bytes)))
	if indexing > 0 {
		return fmt.Sprintf("%s, looking for columns to join: %d versions left", note, indexing)
	}
	if visited, _ := n.Pipeline.Active(); visited > 0 {
		return fmt.Sprintf("%s, %s at work", note, english.Plural(visited, "host", ""))
	}
	if held := n.Frontier.Held(); held != "" {
		return note + ", " + held
	}
	if at, any, err := n.Frontier.NextDue(); err == nil && any && at.Sub(n.Clock()) > patience {
		note += ", waits until " + at.UTC().Format(time.TimeOnly+" UTC")
	}
	return note
}

// maxPlanned is how many hosts planned reads.
const maxPlanned = 20_000

// planned returns how many files a crawl is going to fetch, -1 if that is not known, and how long the host with the
// most of them takes at least, by the pauses between its requests.
func planned(n *app.Node, opts crawler.RunOptions) (files int64, slowest time.Duration) {
	switch {
	case len(opts.URLs) > 0:
		return int64(len(opts.URLs)), 0
	case !opts.Once && opts.MaxFetches == 0:
		return -1, 0
	}
	hosts, err := n.Pipeline.Hosts("", maxPlanned)
	if err != nil || len(hosts) == maxPlanned {
		return -1, 0
	}
	for _, h := range hosts {
		files += int64(h.Due)
		slowest = max(slowest, time.Duration(float64(h.Due)*h.Delay*float64(time.Second)))
	}
	if opts.MaxFetches > 0 && files > int64(opts.MaxFetches) {
		return int64(opts.MaxFetches), 0
	}
	return files, slowest
}
