package main

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/crawler/web/politeness"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// ending counts the visits of a crawl, for its progress and its end. A file that fails and comes at a later try does
// not count as failed. It is safe for concurrent use.
type ending struct {
	mu     sync.Mutex // guards what follows
	sum    crawler.Summary
	seed   maphash.Seed
	failed map[uint64]failure // by hash of the URL
}

// failure is why a file was not kept. It is known if robots.txt forbids the file, as it did before: nothing is wrong.
type failure struct {
	cause string
	known bool
}

func newEnding() *ending {
	return &ending{seed: maphash.MakeSeed(), failed: map[uint64]failure{}}
}

func (e *ending) add(r crawler.Report) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sum.Add(r)
	key := maphash.String(e.seed, r.URL)
	if cause := catalog.Cause(r.Outcome, r.ErrorClass, r.Status, r.Why); cause != "" {
		e.failed[key] = failure{cause, r.Outcome == catalog.RobotsDenied && r.Before == catalog.RobotsDenied}
	} else {
		delete(e.failed, key)
	}
}

// sofar returns the counts, and the number of files that failed.
func (e *ending) sofar() (sum crawler.Summary, failed int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	sum = e.sum
	sum.Outcomes = maps.Clone(e.sum.Outcomes)
	return sum, len(e.failed)
}

// byCause is how many files have failed for a cause.
type byCause struct {
	Cause string `json:"cause"`
	Files int    `json:"files"`
}

// causes returns the causes, the most frequent first.
func (e *ending) causes() []byCause {
	e.mu.Lock()
	defer e.mu.Unlock()
	counts := map[string]int{}
	for _, f := range e.failed {
		counts[f.cause]++
	}
	return countsOf(counts)
}

func countsOf(counts map[string]int) []byCause {
	all := []byCause{}
	for cause, n := range counts {
		all = append(all, byCause{cause, n})
	}
	slices.SortFunc(all, func(a, b byCause) int { return cmp.Or(b.Files-a.Files, strings.Compare(a.Cause, b.Cause)) })
	return all
}

// errNothingKept is the error of a crawl of which everything failed or was refused.
var errNothingKept = errors.New("nothing was kept: all that was tried failed or was refused; 'odarchive show --failed' says why")

// err returns errNothingKept if nothing came of any visit, or none was made because robots.txt files cannot be read.
func (e *ending) err(w crawler.Waits) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	found := e.sum.Outcomes[catalog.Archived] + e.sum.Outcomes[catalog.Unchanged]
	for _, f := range e.failed {
		if found == 0 && !f.known && f.cause != catalog.Cause(catalog.NoVersion, catalog.ErrBytesWithdrawn, 0, "") {
			return errNothingKept
		}
	}
	unread := func(h crawler.HostWait) bool { return h.Why == politeness.WhyUnread }
	if e.sum.Fetches == 0 && slices.ContainsFunc(w.Hosts, unread) {
		return errNothingKept
	}
	return nil
}

// words says what came of the visits, in a few words.
func (e *ending) words() string {
	sum, failed := e.sofar()
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{{sum.Outcomes[catalog.Archived], "new version", "new versions"}, {sum.Outcomes[catalog.Unchanged], "unchanged", "unchanged"},
		{failed, "file not kept", "files not kept"}} {
		switch p.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+p.one)
		default:
			parts = append(parts, humanize.Comma(int64(p.n))+" "+p.many)
		}
	}
	return strings.Join(parts, ", ")
}

// failures returns lines that say what failed, by cause, how to see which, and what permits it.
func failures(causes []byCause) (lines []string) {
	private := false
	for _, c := range causes {
		lines = append(lines, fmt.Sprintf("%7s  %s", humanize.Comma(int64(c.Files)), c.Cause))
		private = private || c.Cause == catalog.Cause(catalog.Blocked, "", 0, catalog.WhyPrivate)
	}
	if private {
		lines = append(lines, privateAdvice)
	}
	if len(causes) > 0 {
		lines = append(lines, "'odarchive show --failed' lists them, with what came and when they are tried again")
	}
	return lines
}

// fetchedNext says what fetches files that a command has registered, "" for none.
func fetchedNext(files int) string {
	switch files {
	case 0:
		return ""
	case 1:
		return "'odarchive crawl --once', or the running server, fetches it next"
	}
	return "'odarchive crawl --once', or the running server, fetches them next"
}

// printRegistered says what harvests have registered, what could not be used and why, and what is next.
func (c *cli) printRegistered(reports ...harvest.Report) error {
	if c.json || c.quiet {
		return nil
	}
	added, unused, counts := 0, 0, map[string]int{}
	for _, r := range reports {
		added += r.Added
		unused += r.Invalid.N() + r.Unknown
		for _, reason := range r.Skipped {
			counts[causeOfSkipped(reason)]++
		}
		if more := r.Invalid.N() + r.Unknown - len(r.Skipped); more > 0 {
			counts["not listed here"] += more
		}
	}
	lines := []string{"no new file is registered"}
	for _, r := range reports {
		if none := r.Fileless(); none != "" && r.Error == "" {
			lines = append(lines, printable(r.Source)+": "+none)
		}
	}
	if added > 0 {
		lines[0] = humanize.Comma(int64(added)) + " " + english.PluralWord(added, "new file is", "new files are") + " registered; " +
			fetchedNext(added)
	}
	if unused > 0 {
		lines = append(lines, english.Plural(unused, "listing", "")+" could not be used:")
		for _, cause := range countsOf(counts) {
			lines = append(lines, fmt.Sprintf("%7s  %s", humanize.Comma(int64(cause.Files)), printable(cause.Cause)))
		}
	}
	return c.print(nil, "%s", strings.Join(lines, "\n"))
}

// causeOfSkipped returns the last part of a sentence about a listing, without the names and numbers of that listing.
func causeOfSkipped(reason string) string {
	if at := strings.LastIndex(reason, ": "); at >= 0 {
		reason = reason[at+2:]
	}
	words := strings.Fields(reason)
	for i, word := range words {
		n, err := strconv.Atoi(word)
		if strings.ContainsAny(word, "/\"“") || err == nil && (n < 100 || n > 599) { // others are of HTTP
			words[i] = "…"
		}
	}
	return strings.Join(slices.Compact(words), " ")
}

const privateAdvice = "hosts of your own network are asked with --allow-private-hosts, or --allow-net CIDR for one network"

// inUTC returns a time for people, "-" for none.
func inUTC(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}
