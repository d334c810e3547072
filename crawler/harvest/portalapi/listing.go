package portalapi

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
)

// Page of a list of JSON. Next says where the next one is, in the source's own words; "" is the end.
type Page = PageOf[loosejson.Value]

// Listing goes through a list of JSON.
type Listing = ListingOf[loosejson.Value]

// PageOf items.
type PageOf[Item any] struct {
	Items []Item
	Next  string
	Total int // as far as the source says, else 0
}

// ListingOf goes through a list page by page, with a mark after each.
type ListingOf[Item any] struct {
	Out   harvest.Sink
	Fetch func(ctx context.Context, at string, n int) (PageOf[Item], error) // at "" = the first page; n items came before
	ID    func(Item) string                                                 // tells items apart
	Item  func(context.Context, Item) error                                 // for each that was not seen before
	Keep  []string                                                          // names of the mark's words that stay in each mark
}

const (
	mostItems = 20 << 20 // of one list: no real one is as long
	mostStale = 3        // pages without anything new
)

// Walk from a mark on (at: page, n: items so far). Items of a page that broke off are handed over before the error is
// returned. Where a source has forgotten the page that a mark names, the list is walked from its beginning.
func (l ListingOf[Item]) Walk(ctx context.Context, m Mark) error {
	at, n, stale := m.Get("at"), m.Int("n"), 0
	resumed := at != ""
	var seen Seen
	for n < mostItems {
		page, err := l.Fetch(ctx, at, n)
		if err != nil && resumed && ctx.Err() == nil && Answered(err) && !passing(err) {
			at, n, resumed = "", 0, false
			continue
		}
		resumed = false
		fresh := 0
		for _, item := range page.Items {
			if !seen.Add(l.ID(item)) {
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
		} else if stale++; stale >= mostStale && page.Total > 0 && n >= page.Total {
			page.Next = "" // it is all there
		} else if stale >= mostStale && page.Next != "" {
			return fmt.Errorf("the list gives nothing new any more, %d entries of %d so far", n, page.Total)
		}
		end := page.Next == "" || page.Next == at
		if end && page.Total > n && at == "" && m.Get("at") == "" || end && page.Next != "" && page.Total > n {
			if err := l.Out.Unknown("", fmt.Sprintf("the portal says that it lists %d entries and gave %d", page.Total, n)); err != nil {
				return err
			}
		}
		at = page.Next
		if err := l.Out.Mark(l.mark(m, at, n)); err != nil || end {
			return err
		}
	}
	return fmt.Errorf("the list has no end: %d entries so far", n)
}

// WalkTurn walks as Walk does, with the words of Turn in each mark, and says at the end where the next harvest begins.
func (l ListingOf[Item]) WalkTurn(ctx context.Context, m Mark) error {
	l.Keep = append(l.Keep, Turn()...)
	err := l.Walk(ctx, m)
	if err == nil {
		l.Out.Next(m.Next())
	}
	return err
}

func (l ListingOf[Item]) mark(m Mark, at string, n int) string {
	pairs := []string{"at", at, "n", fmt.Sprint(n)}
	for _, name := range l.Keep {
		pairs = append(pairs, name, m.Get(name))
	}
	return MarkOf(pairs...).String()
}

// passing tells trouble of the server, not with the question.
func passing(err error) bool {
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
