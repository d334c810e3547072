package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/politeness"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// maxVersionsShown is how many versions of a file are listed for people.
const maxVersionsShown = 50

// printThing prints what is known of a thing: as JSON, or as lines of names and values.
func (c *cli) printThing(t thing) error {
	if c.json {
		if t.Failed == nil {
			t.Failed = []byCause{}
		}
		return c.print(t, "")
	}
	fmt.Fprintln(c.stdout, printable(t.Name))
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, printable(value))
		}
	}
	row("title", t.Title)
	if t.File != nil {
		t.File.rows(row)
		if err := w.Flush(); err != nil {
			return err
		}
		return t.File.printVersions(c.stdout)
	}
	row("portal", t.Portal)
	if t.Kind == "portal" {
		row("datasets", humanize.Comma(int64(t.Datasets)))
	}
	if !t.Withdrawn.IsZero() {
		row("withdrawn", inUTC(t.Withdrawn)+": its portal lists it no longer")
	}
	files := humanize.Comma(int64(t.Resources))
	if t.Former > 0 {
		files += ", and " + humanize.Comma(int64(t.Former)) + " that it listed before"
	}
	row("files", files)
	row("versions", fmt.Sprintf("%s, %s", humanize.Comma(int64(t.Versions)), humanize.IBytes(uint64(t.Bytes))))
	if h := t.Host; h != nil {
		state := h.State
		if h.Wait != "" {
			state += fmt.Sprintf(" (%s), may be asked again at %s", h.Wait, inUTC(h.Next))
		}
		row("state", state)
		for _, door := range h.Closed {
			row("waits", door.String())
		}
		due := humanize.Comma(int64(h.Due))
		if h.Due >= frontier.MaxDueCounted {
			due = "at least " + due
		}
		row("due now", due)
		if h.Delay > 0 {
			row("pause", fmt.Sprintf("%g s between two requests", h.Delay))
		}
		row("visits", fmt.Sprintf("%s, the last at %s", humanize.Comma(int64(h.Visits)), inUTC(h.LastVisit)))
	}
	for _, f := range t.Failed {
		row("failing", fmt.Sprintf("%s  %s", humanize.Comma(int64(f.Files)), f.Cause))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, f := range t.Files {
		fmt.Fprintf(c.stdout, "%s\n    %s\n", printable(f.URL), printable(f.words()))
	}
	if more := len(t.urls) - len(t.Files); t.Kind == "dataset" && more > 0 {
		fmt.Fprintf(c.stdout, "and %s; 'odarchive search --dataset %s' lists them\n", english.Plural(more, "more file", ""),
			shellWord(t.Name))
	}
	if len(t.Failed) > 0 {
		fmt.Fprintf(c.stdout, "'odarchive show --failed %s' lists them\n", shellWord(t.Name))
	}
	return nil
}

// words says what is known of a file in one line.
func (f file) words() string {
	parts := []string{cmp.Or(f.Type, "not fetched"), english.Plural(f.Versions, "version", "")}
	if f.Cause != "" {
		parts = append(parts, f.trouble())
	}
	return strings.Join(append(parts, f.next()), ", ")
}

// trouble says why and since when a file fails.
func (f file) trouble() string {
	if f.Why == "" || f.Why == f.Cause {
		return f.since(f.Cause)
	}
	return f.since(f.Cause + " (" + f.Why + ")")
}

// since adds to a text since when the file fails.
func (f file) since(text string) string {
	if !f.Since.IsZero() {
		text += ", since " + inUTC(f.Since)
		if f.Failures > 1 {
			text += ", " + english.Plural(f.Failures, "visit", "")
		}
	}
	return text
}

// next says when a file is visited next.
func (f file) next() string {
	switch {
	case f.Next.IsZero():
		return f.Because
	case f.due && f.Waits != "":
		return "due, but " + f.Waits
	case f.due:
		return "due now"
	}
	return "next visit " + inUTC(f.Next)
}

func (f file) rows(row func(name, value string)) {
	for _, s := range f.resource.Sources {
		row("listed by", strings.TrimSpace(s.Portal+" "+s.DatasetTitle+" "+s.Dataset))
	}
	row("type", f.Type)
	if !f.Delisted.IsZero() {
		row("listed", "no longer, since "+inUTC(f.Delisted))
	}
	last := "none yet"
	switch {
	case f.Cause != "":
		last = inUTC(f.LastVisit) + ": failed"
	case f.Outcome == catalog.Archived:
		last = inUTC(f.LastVisit) + ": a new version"
	case f.Outcome != "":
		last = inUTC(f.LastVisit) + ": " + string(f.Outcome)
	}
	row("last visit", last)
	if f.Cause != "" {
		row("failing", f.trouble())
	}
	switch {
	case f.Next.IsZero():
		row("next visit", cmp.Or(f.Because, "-"))
	case f.due:
		row("next visit", strings.TrimSuffix("due since "+inUTC(f.Next)+": "+f.Because, ": "))
	default:
		row("next visit", strings.TrimSuffix(inUTC(f.Next)+": "+f.Because, ": "))
	}
	row("waits", f.Waits)
	row("versions", humanize.Comma(int64(f.Versions)))
}

// printVersions prints the newest versions of a file, oldest first.
func (f file) printVersions(out io.Writer) error {
	shown := f.History[max(0, len(f.History)-maxVersionsShown):]
	if older := len(f.History) - len(shown); older > 0 {
		fmt.Fprintf(out, "%s and\n", english.Plural(older, "older version", ""))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, v := range shown {
		fmt.Fprintf(w, "  %d\t%s\t%s\t%s\t%s\t%s\n", v.N, inUTC(v.At), humanize.IBytes(uint64(v.Size)), printable(v.Type), v.IRI, v.Note)
	}
	return w.Flush()
}

// eachFailed calls fn with the files of a thing, or of the whole archive, whose last visit failed, and the causes. It
// reads no more of a file than its record, and for the status of an HTTP answer its last visit.
func eachFailed(ctx context.Context, n *app.Node, t thing, fn func(r catalog.Resource, cause string) error) error {
	one := func(r catalog.Resource) error {
		status := 0
		if r.ErrorClass == catalog.ErrHTTPStatus {
			visits, err := n.Archive.Activities(ctx, catalog.ActivityQuery{URL: r.URL, Limit: 1})
			if err != nil {
				return err
			}
			if len(visits) > 0 {
				status = visits[0].Status
			}
		}
		if cause := catalog.Cause(r.Outcome, r.ErrorClass, status, r.Why); cause != "" {
			return fn(r, cause)
		}
		return nil
	}
	if t.Kind == "file" {
		r, err := n.Archive.Resource(ctx, t.Name)
		if err != nil {
			return err
		}
		return one(r)
	}
	for _, outcome := range []catalog.Outcome{catalog.NoVersion, catalog.RobotsDenied, catalog.Blocked, catalog.RetryLater} {
		s := t.search()
		s.Outcome, s.Limit = outcome, 500
		for more := true; more; {
			found, err := n.Archive.Search(ctx, s)
			if err != nil {
				return err
			}
			for _, r := range found.Resources {
				if err := one(r); err != nil {
					return err
				}
			}
			s.After, more = found.Next, found.Next != ""
		}
	}
	return nil
}

// failedBy are the files that failed for a cause. JSON names are stable.
type failedBy struct {
	byCause
	Listed []file `json:"listed"`
}

// showFailed prints the files of a thing, or of the whole archive, that failed at their last visit, by cause.
func (c *cli) showFailed(ctx context.Context, n *app.Node, t thing, limit int) error {
	bar := c.progress(-1, "files that failed")
	counts, listed, total := map[string]int{}, map[string][]file{}, 0
	err := eachFailed(ctx, n, t, func(r catalog.Resource, cause string) error {
		counts[cause]++
		total++
		bar.set(int64(total), "")
		if limit > 0 && len(listed[cause]) >= limit {
			return nil
		}
		f, err := fileOf(ctx, n, r)
		f.resource = catalog.Resource{} // which is large, and not printed
		listed[cause] = append(listed[cause], f)
		return err
	})
	bar.done()
	if err != nil {
		return err
	}
	all := []failedBy{}
	for _, by := range countsOf(counts) {
		files := listed[by.Cause]
		slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.URL, b.URL) })
		all = append(all, failedBy{by, files})
	}
	unread, err := unreadHosts(n, t)
	if err != nil {
		return err
	}
	if c.json {
		return c.print(map[string]any{"files": total, "causes": all, "waits": unread, "at": n.Clock().UTC().Format(time.RFC3339)}, "")
	}
	for _, w := range unread {
		files := english.PluralWord(w.Due, "1 file was", humanize.Comma(int64(w.Due))+" files were")
		fmt.Fprintf(c.stdout, "%s not visited: %s\n", files, printable(w.String()))
	}
	for _, by := range all {
		fmt.Fprintf(c.stdout, "%s: %s\n", english.Plural(by.Files, "file", ""), by.Cause)
		for _, f := range by.Listed {
			fmt.Fprintf(c.stdout, "  %s\n      %s; %s\n", printable(f.URL), printable(f.since(cmp.Or(f.Why, f.Cause))), printable(f.next()))
		}
		if more := by.Files - len(by.Listed); more > 0 {
			fmt.Fprintf(c.stdout, "  and %s; --limit 0 lists all\n", english.Plural(more, "more file", ""))
		}
	}
	if total == 0 && len(unread) == 0 {
		return c.print(nil, "no file failed at its last visit")
	}
	return nil
}

// maxUnread is how many hosts with due files are searched for those whose robots.txt cannot be read.
const maxUnread = 1000

// unreadHosts returns the hosts whose files were not visited because their robots.txt cannot be read: of the whole
// archive, or of one host.
func unreadHosts(n *app.Node, t thing) ([]crawler.HostWait, error) {
	waits, err := n.Pipeline.Waits(maxUnread)
	return slices.DeleteFunc(waits.Hosts, func(w crawler.HostWait) bool {
		return w.Why != politeness.WhyUnread || t.Kind != "" && (t.Kind != "host" || t.Name != w.Host)
	}), err
}
