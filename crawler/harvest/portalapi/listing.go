package portalapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
)

// Page is one page of a JSON list.
type Page = PageOf[loose.Value]

// Listing walks through a JSON list.
type Listing = ListingOf[loose.Value]

// PageOf is one page of a list. Next identifies the next page, as the source does; "" marks the end.
type PageOf[Item any] struct {
	Items []Item
	Next  string
	Total int // 0 if the source does not say
}

// ListingOf walks through a list page by page and sets a mark after each.
type ListingOf[Item any] struct {
	Out   harvest.Sink
	Fetch func(ctx context.Context, at string, n int) (PageOf[Item], error) // at is "" for the first page; n items came before
	ID    func(Item) string                                                 // identifies an item
	Item  func(context.Context, Item) error                                 // called for each new item
	// names of mark words that every mark repeats, besides those of Begin
	Keep []string
}

const (
	maxItems = 20 << 20 // per list; no real one is as long
	maxStale = 3        // successive pages without a new item
)

// Walk walks from the mark m on, whose word at is a page and n the number of items so far. If a page breaks off, its
// items are handed over before Walk returns the error. If the source no longer has the page of the mark, Walk starts
// again at the beginning. An empty page before the end is asked for once more. At the end of the list, Walk reports
// how many entries came less than the source says that there are, and sets the mark of the next harvest.
func (l ListingOf[Item]) Walk(ctx context.Context, m Mark) error {
	at, n, stale, total, twice := m.Get("at"), m.Int("n"), 0, m.Int("total"), 0 // twice: entries that a page has twice
	resumed, again := at != "", false                                           // again: this page was asked for once more
	var seen Seen
	for n < maxItems {
		page, err := l.Fetch(ctx, at, n)
		if err != nil && resumed && ctx.Err() == nil && Answered(err) && !isTransient(err) {
			at, n, total, resumed = "", 0, 0, false
			continue
		}
		resumed = false
		if len(page.Items) > 0 || total == 0 { // an empty page may count nothing
			total = cmp.Or(page.Total, total)
		}
		if err == nil && len(page.Items) == 0 && n > 0 && n < total && !again {
			again = true
			continue
		}
		again = false
		fresh := 0
		var here Seen
		for _, item := range page.Items {
			id := l.ID(item)
			if !here.Add(id) {
				twice++
			}
			if !seen.Add(id) {
				continue
			}
			fresh++
			if err := l.Item(ctx, item); err != nil {
				return err
			}
		}
		n += fresh
		if err != nil {
			return err
		}
		if fresh > 0 {
			stale = 0
		} else if stale++; stale >= maxStale && page.Total > 0 && n >= page.Total {
			page.Next = "" // all items have been read
		} else if stale >= maxStale && page.Next != "" {
			return fmt.Errorf("the list repeats itself after %d of %d entries", n, page.Total)
		}
		end := page.Next == "" || page.Next == at
		if end {
			err := Fewer(ctx, l.Out, total-twice, n, "entries", func() int {
				first, err := l.Fetch(ctx, "", 0)
				if err != nil || len(first.Items) == 0 {
					return 0
				}
				return first.Total
			})
			if err != nil {
				return err
			}
		}
		at = page.Next
		if err := l.Out.Mark(l.mark(m, at, n, total)); err != nil {
			return err
		}
		if end {
			l.Out.Next(m.Next())
			return nil
		}
	}
	return fmt.Errorf("the list has no end: %d entries so far", n)
}

// Fewer reports to out if fewer entries came than a portal says that it lists, unless it says fewer by now: now asks
// it, and returns 0 if it does not say. The entries are what, in the plural.
func Fewer(ctx context.Context, out harvest.Sink, total, came int, what string, now func() int) error {
	if total <= came {
		return nil
	}
	if n := now(); n > 0 {
		total = min(total, n)
	}
	if total <= came {
		return ctx.Err()
	}
	return out.Unknown(harvest.Short(total-came), fmt.Sprintf("the portal says that it lists %d %s but returned %d", total, what, came))
}

func (l ListingOf[Item]) mark(m Mark, at string, n, total int) string {
	pairs := []string{"at", at, "n", fmt.Sprint(n)}
	if total > 0 {
		pairs = append(pairs, "total", fmt.Sprint(total))
	}
	for _, name := range slices.Concat(l.Keep, repeated) {
		pairs = append(pairs, name, m.Get(name))
	}
	return MarkOf(pairs...).String()
}

// isTransient reports whether an error is a failure of the server, not of the request.
func isTransient(err error) bool {
	var status *harvest.StatusError
	return errors.As(err, &status) && status.Status >= 500
}

// Seen is a set of identifiers. It keeps hashes: in one of 10^8 long lists, two identifiers share one and the second is
// taken for the first.
type Seen struct {
	seed   maphash.Seed
	hashes map[uint64]bool
}

// Add adds an identifier and reports whether it was new.
func (s *Seen) Add(id string) bool {
	if s.hashes == nil {
		s.seed, s.hashes = maphash.MakeSeed(), map[uint64]bool{}
	}
	h := maphash.String(s.seed, id)
	if s.hashes[h] {
		return false
	}
	s.hashes[h] = true
	return true
}
