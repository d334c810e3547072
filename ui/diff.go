package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/problem"
)

type diffPage struct {
	From, To  catalog.Version
	Resource  catalog.Resource
	Same      bool
	Changes   Comparison // has no HTML if there is nothing to show
	KeyFault  string     // why the requested key does not fit
	Text      bool       // both are text and were compared by line
	Lines     []diffLine
	Added     int
	Removed   int
	Cut       bool   // only the beginnings were compared
	Turned    bool   // the lines are not the first ones
	MoreLines string // address of the page with the next lines, "" if these are the last
	Versions  []catalog.Version
	Crumbs    []crumb
	Files     []crumb // the difference in other formats
	Previous  string  // the page before, of the rows that changed; "" for none
	Next      string
}

const diffBytes = 2 << 20 // of each version

// Diff answers with the page of the differences between two versions, named by the parameters from and to. Package
// changes calls it for /diff.
func (u *UI) Diff(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	ctx := r.Context()
	var two [2]catalog.Version
	for i, name := range []string{"from", "to"} {
		id := q.Get(name)
		if _, _, ok := ns.SplitVersionID(id); !ok {
			return problem.Newf(http.StatusBadRequest, "Bad parameter",
				"%s=%q is not a version id: expected 24 hexadecimal digits, _ and a number", name, id)
		}
		var err error
		if two[i], err = u.archive.Version(ctx, id); err != nil {
			return err
		}
	}
	page := diffPage{From: two[0], To: two[1], Same: two[0].Digests.SHA256 == two[1].Digests.SHA256}
	var err error
	if page.Resource, err = u.archive.Resource(ctx, two[1].URL); err != nil {
		return err
	}
	if page.Versions, err = u.archive.Versions(ctx, two[1].URL); err != nil {
		return err
	}
	page.Versions = around(page.Versions, page.From.N, page.To.N)
	page.Crumbs = append(crumbs(page.Resource), crumb{titleOf(page.Resource), pagePath(page.To.URL)})
	offset, err := data.ChangesOffset(r)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if !page.Same && u.changes != nil {
		page.Changes, err = u.changes(ctx, page.From, page.To, diff.Options{Key: data.ChangesKey(r), Offset: offset, List: diffRows})
		if fault, ok := errors.AsType[*diff.KeyError](err); ok { // the form is shown, to choose another key
			status, page.KeyFault, page.Changes = http.StatusBadRequest, fault.Error(), Comparison{Columns: fault.Columns}
		} else if err != nil {
			return err
		}
	}
	page.link(data.ChangesKey(r), offset)
	if c := &page.Changes; len(c.Columns) > maxKeys { // the key is always among the columns on offer
		c.Columns = append(slices.Clone(c.Key),
			slices.DeleteFunc(c.Columns[:maxKeys], func(name string) bool { return slices.Contains(c.Key, name) })...)
	}
	if !page.Same && page.KeyFault == "" {
		if err := u.compare(ctx, &page); err != nil {
			return err
		}
		page.turn(q)
	}
	return u.render(w, r, status, "diff",
		view{Title: fmt.Sprintf("%s, version %d to %d", titleOf(page.Resource), page.From.N, page.To.N), Page: page})
}

// diffRows is the maximum number of changes of a kind on a page.
const diffRows = 100

// link adds the links to other pages of the difference, and to its files.
func (p *diffPage) link(key []string, offset int) {
	to := func(format string, from, list int) string {
		q := url.Values{"from": {p.From.ID}, "to": {p.To.ID}, "key": key}
		if from > 0 {
			q.Set("offset", strconv.Itoa(from))
		}
		if format != "" {
			q.Set("format", format)
			q.Set("list", strconv.Itoa(list))
		}
		return "/diff?" + q.Encode()
	}
	longest := int(min(p.Changes.Longest, data.MaxChangesOffset))
	for from := 0; from == 0 || from < longest; from += data.MaxChanges {
		name := "CSV"
		if from > 0 {
			name += " from " + humanCount(from+1)
		}
		p.Files = append(p.Files, crumb{name, to("csv", from, data.MaxChanges)})
		if len(p.Files) == maxDiffFiles {
			break
		}
	}
	p.Files = append(p.Files, crumb{"JSON", to("json", 0, data.MaxChanges)})
	if offset > 0 {
		p.Previous = to("", max(0, offset-diffRows), 0)
	}
	if offset+diffRows < longest {
		p.Next = to("", offset+diffRows, 0)
	}
}

// maxDiffFiles bounds the links to CSV files of one difference. The parameter offset leads further.
const maxDiffFiles = 20

// maxKeys bounds the columns on offer for a key.
const maxKeys = 200

// maxChoices bounds the newest versions in a list to choose from.
const maxChoices = 300

// around returns the versions to choose from: the newest, and the neighbours of those that are shown.
func around(all []catalog.Version, shown ...int) (list []catalog.Version) {
	for i, v := range all {
		near := len(all)-i <= maxChoices
		for _, n := range shown {
			near = near || max(v.N-n, n-v.N) <= 20
		}
		if near {
			list = append(list, v)
		}
	}
	return list
}

func (u *UI) compare(ctx context.Context, page *diffPage) error {
	a, okA, err := u.text(ctx, page.From)
	if err != nil {
		return err
	}
	b, okB, err := u.text(ctx, page.To)
	if err != nil {
		return err
	}
	if !okA || !okB {
		return nil
	}
	page.Text = true
	page.Cut = page.From.Size > diffBytes || page.To.Size > diffBytes
	page.Lines, page.Added, page.Removed = diffLines(slices.Collect(strings.Lines(a)), slices.Collect(strings.Lines(b)))
	return nil
}

const (
	linesAtOnce = 300      // lines of a page
	linesText   = 10 << 10 // about as many bytes of text, at least one line
	maxLine     = 4 << 10  // bytes of a line that are shown
)

// turn keeps the lines of one page, from the one that the parameter lines names, and says where the next ones are.
func (p *diffPage) turn(q url.Values) {
	from, _ := strconv.Atoi(q.Get("lines")) // another value shows the first lines
	from = max(0, min(from, len(p.Lines)))
	to, size := from, 0
	for to < len(p.Lines) && to-from < linesAtOnce && size < linesText {
		line := &p.Lines[to]
		if len(line.Text) > maxLine {
			line.Text = strings.ToValidUTF8(line.Text[:maxLine], "") + "…"
		}
		size += len(line.Text)
		to++
	}
	if to < len(p.Lines) {
		next := maps.Clone(q)
		next.Set("lines", strconv.Itoa(to))
		p.MoreLines = "/diff?" + next.Encode() + "#lines"
	}
	p.Lines, p.Turned = p.Lines[from:to], from > 0
}

func (u *UI) text(ctx context.Context, v catalog.Version) (string, bool, error) {
	if !isTextual(v.Type) {
		return "", false, nil
	}
	f, err := u.archive.Open(ctx, v.ID)
	if err != nil {
		return "", false, fmt.Errorf("ui: compare %s: %w", v.ID, err)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, diffBytes))
	if err != nil {
		return "", false, fmt.Errorf("ui: compare %s: %w", v.ID, err)
	}
	text, ok := decode(head, v.Charset)
	return text, ok, nil
}
