package oai

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxFailures = 60   // successive failures after which a harvest ends
	maxStumbles = 40   // the same if no record has come: enough to get around one bad record by halving
	maxEmpty    = 1000 // successive pages without a record
)

// windows reads one window after the other and works around failures.
func (h *run) windows(ctx context.Context) error {
	for len(h.at.Windows) > 0 {
		err := h.list(ctx, &h.at.Windows[0])
		var t *trouble
		switch {
		case err == nil:
			h.at.Windows = h.at.Windows[1:]
		case errors.As(err, &t):
			if err := h.workAround(ctx, t); err != nil {
				return err
			}
		default:
			return err
		}
		if err := h.out.Mark(h.at.String()); err != nil {
			return err
		}
	}
	return nil
}

// list reads a window from its position to its end.
func (h *run) list(ctx context.Context, w *window) error {
	seen := map[uint64]bool{} // digests of the tokens and pages of this list
	empty := 0
	for retries := 0; ; {
		if w.Token != "" && !w.Expires.IsZero() && h.src.Now().After(w.Expires) {
			return troublef("expired", "the token of the list expired at %s", w.Expires.Format(time.RFC3339))
		}
		p, got, err := h.page(ctx, w)
		var t *trouble
		if errors.As(err, &t) {
			switch {
			case t.kind == "badResumptionToken" && unescaped(w.Token) != w.Token:
				w.Token = unescaped(w.Token)
				h.stats.Trouble(t.kind)
				continue
			case (t.kind == "xml" || t.kind == "html" || t.kind == "no-oai") && retries == 0:
				retries++
				h.stats.Trouble(t.kind)
				continue
			}
		}
		if err != nil {
			return err
		}
		retries = 0
		if got.count > 0 {
			h.failures, h.tries, empty = 0, 0, 0
		} else if empty++; empty > maxEmpty {
			return troublef("loop", "%d pages in a row hold no record", empty)
		}
		if p.Token.Value == "" { // the element may exist without text
			return nil
		}
		w.Seen += got.count
		if seen[digest(p.Token.Value)] || (got.count > 0 && seen[got.digest]) {
			if size, err := strconv.Atoi(p.Token.Size); err == nil && w.Seen >= size && size > 0 {
				h.stats.Trouble("loop")
				return nil // the list was complete
			}
			return troublef("loop", "the list comes to the same page again")
		}
		seen[digest(p.Token.Value)], seen[got.digest] = true, true
		w.Token = p.Token.Value
		w.Expires, _ = parseStamp(p.Token.Expires) // zero if not declared
		if err := h.out.Mark(h.at.String()); err != nil {
			return err
		}
	}
}

// pageSummary summarises the records of a page.
type pageSummary struct {
	count  int
	digest uint64 // of the identifiers
}

func digest(s string) uint64 {
	d := fnv.New64a()
	d.Write([]byte(s)) // cannot fail
	return d.Sum64()
}

// page requests the next page of a window and hands over its records. noRecordsMatch is an empty page.
func (h *run) page(ctx context.Context, w *window) (page, pageSummary, error) {
	got := pageSummary{}
	ids := fnv.New64a()
	var headers []record
	take := func(rec record) error {
		got.count++
		fmt.Fprintf(ids, "%s\n", rec.Identifier)
		h.noteDatestamp(w, rec.Datestamp)
		if w.ByOne && !rec.Deleted {
			headers = append(headers, rec)
			return nil
		}
		return h.emit(rec)
	}
	p, err := h.ask(ctx, h.arguments(w), take)
	got.digest = ids.Sum64()
	if err != nil {
		return p, got, err
	}
	if len(p.Errors) > 0 {
		f := p.Errors[0]
		switch {
		case f.Code == "noRecordsMatch":
			return page{}, got, nil
		case f.Code == "badArgument" && w.Token == "" && !h.swapped && !(w.From.IsZero() && w.Until.IsZero()):
			h.swapped = true // the declared granularity may be wrong
			h.stats.Trouble("granularity")
			h.granularity = byDay + bySecond - h.granularity
			return h.page(ctx, w)
		case f.Code == "badVerb" && !w.ByOne:
			w.ByOne = true
			return h.page(ctx, w)
		}
		return p, got, protocol(f)
	}
	if !p.Listed {
		return p, got, troublef("xml", "the answer holds neither a list nor an error")
	}
	return p, got, h.requestEach(ctx, headers)
}

func (h *run) arguments(w *window) url.Values {
	verb := "ListRecords"
	if w.ByOne {
		verb = "ListIdentifiers"
	}
	if w.Token != "" { // an exclusive argument, section 3.5
		return url.Values{"verb": {verb}, "resumptionToken": {w.Token}}
	}
	args := url.Values{"verb": {verb}, "metadataPrefix": {h.prefix}}
	if w.Set != "" {
		args.Set("set", w.Set)
	}
	if !w.From.IsZero() {
		args.Set("from", stamp(w.From, h.granularity))
	}
	if !w.Until.IsZero() {
		args.Set("until", stamp(w.Until, h.granularity))
	}
	return args
}

// noteDatestamp notes whether the datestamps of a list ascend and are within the window.
func (h *run) noteDatestamp(w *window, datestamp string) {
	t, ok := parseStamp(datestamp)
	if !ok {
		w.Jumbled = true
		return
	}
	if t.Before(w.Last) {
		w.Jumbled = true
	}
	if t.After(w.Last) {
		w.Last = t
	}
	if !w.holds(t, h.granularity) {
		h.stats.Outside++
		h.dateless = true
	}
}

// requestEach requests the records of headers. It reports and skips those that cannot be read.
func (h *run) requestEach(ctx context.Context, headers []record) error {
	for _, head := range headers {
		found := false
		p, err := h.ask(ctx, url.Values{"verb": {"GetRecord"}, "metadataPrefix": {h.prefix}, "identifier": {head.Identifier}},
			func(rec record) error {
				found = true
				if rec.Identifier == "" {
					rec.Identifier = head.Identifier
				}
				return h.emit(rec)
			})
		var t *trouble
		switch {
		case errors.As(err, &t):
		case err != nil:
			return err
		case len(p.Errors) > 0:
			t = protocol(p.Errors[0])
		case !found:
			t = troublef("xml", "the answer holds no record")
		}
		if t == nil {
			h.failures = 0
			continue
		}
		if !isProtocol(t.kind) { // otherwise the repository says that there is no such record
			h.at.Missed++
		}
		h.stats.Trouble(t.kind)
		h.out.Skip(fmt.Sprintf("record %s cannot be read: %v", head.Identifier, t))
		if h.failures++; h.failures > maxFailures {
			return fmt.Errorf("oai: every request fails: %w", t.err)
		}
	}
	return nil
}

// workAround decides how to continue after a failure in the first window.
func (h *run) workAround(ctx context.Context, t *trouble) error {
	w := h.at.Windows[0]
	h.stats.Trouble(t.kind)
	if h.failures++; h.failures > maxFailures {
		return fmt.Errorf("oai: every request fails: %w", t.err)
	}
	if final(t.kind) || (h.stats.Records == 0 && w.Token == "" &&
		(isProtocol(t.kind) || t.kind == "no-oai" || t.kind == "html" || h.failures > maxStumbles)) {
		return fmt.Errorf("oai: %w", t.err)
	}
	h.tries = 2 // the usual number of attempts has been made
	if t.kind == "http" || t.kind == "network" || t.kind == "html" || t.kind == "no-oai" {
		var gone *trouble
		if _, err := h.ask(ctx, url.Values{"verb": {"Identify"}}, ignore); errors.As(err, &gone) && gone.kind != "xml" {
			return fmt.Errorf("oai: %w", t.err) // the repository is down; the mark keeps the position
		} else if err != nil && gone == nil {
			return err
		}
	}
	next := h.smallerWindows(w, t)
	h.at.Windows = append(next, h.at.Windows[1:]...)
	isOver := next == nil || next[0].From.After(w.Last)
	if t.kind == "loop" && isOver && !h.doubted { // its records may have been all of them; nothing says so
		h.doubted = true
		return h.out.Unknown("a list that repeats itself "+w.Set, fmt.Sprintf("records %smay be missing: %v", w.span(h.granularity), t))
	}
	if next != nil || t.kind == "loop" {
		return nil
	}
	h.at.Holes = append(h.at.Holes, window{Set: w.Set, From: w.From, Until: w.Until, Tries: w.Tries})
	h.out.Skip(fmt.Sprintf("records %scannot be read: %v", w.span(h.granularity), t))
	return nil
}

// smallerWindows returns the windows by which the rest of a broken window can be read, nil if there are none.
func (h *run) smallerWindows(w window, t *trouble) []window {
	part := func(from, until time.Time) window {
		return window{Set: w.Set, From: from, Until: until, ByOne: w.ByOne, Tries: w.Tries}
	}
	step := h.granularity
	if !h.dateless {
		last := w.Last.Truncate(step)
		ascending := !w.Jumbled && !w.Last.IsZero()
		switch {
		case ascending && (w.From.IsZero() || last.After(w.From)):
			return []window{part(last, w.Until)}
		// many records with one datestamp
		case ascending && t.kind == "loop" && (w.Until.IsZero() || last.Before(w.Until)) && last.Before(h.date) &&
			last.Add(step).After(w.From):
			return []window{part(last.Add(step), w.Until)}
		}
		if a, b, ok := w.halves(h.earliest, h.date, step); ok {
			return []window{part(a.From, a.Until), part(b.From, b.Until)}
		}
	}
	if w.ByOne {
		return nil
	}
	all := part(w.From, w.Until)
	all.ByOne = true
	return []window{all}
}

// final reports whether an error would recur in every window.
func final(code string) bool {
	switch code {
	case "cannotDisseminateFormat", "noSetHierarchy", "noMetadataFormats":
		return true
	}
	return false
}

// isProtocol reports whether kind is an error code of the protocol.
func isProtocol(kind string) bool {
	switch kind {
	case "http", "network", "xml", "html", "no-oai", "loop", "expired":
		return false
	}
	return true
}

func (w window) span(granularity time.Duration) string {
	s := ""
	if w.Set != "" {
		s += "of set " + w.Set + " "
	}
	if !w.From.IsZero() {
		s += "from " + stamp(w.From, granularity) + " "
	}
	if !w.Until.IsZero() {
		s += "until " + stamp(w.Until, granularity) + " "
	}
	return s
}

func protocol(f fault) *trouble {
	code := f.Code
	if code == "" || len(code) > 40 {
		code = "undefinedError"
	}
	return troublef(code, "the repository answers %s: %s", code, shorten(f.Text))
}

func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// unescaped returns a token without percent-encoding, which some repositories apply before clients do.
func unescaped(token string) string {
	if !strings.Contains(token, "%") {
		return token
	}
	u, err := url.QueryUnescape(token)
	if err != nil {
		return token
	}
	return u
}
