package campaign

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"odarchive/crawler/address"
	"odarchive/crawler/follow/links"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/software"
	"odarchive/crawler/queue/frontier"
	"odarchive/triplestore/kv"
)

// A campaign that looks for something visits first what promises it: a URL's priority in the frontier is the score of
// the best link to it. That is a weighted sum (package relevance) of what the anchor and the address say, of the score
// of the page and of the site that it is on, and of what the rules for the site's software say of the link (package
// software). Another document with other keywords or weights changes the priorities of all open URLs.

// scored reports whether a campaign scores links: whether it says what it looks for.
func (d Document) scored() bool {
	return len(d.Keywords) > 0 || len(d.Entities) > 0 || d.Weights != nil
}

// relevance returns what the campaign looks for.
func (d Document) relevance() relevance.Options {
	o := relevance.Options{Keywords: d.Keywords, Entities: d.Entities}
	if d.Weights != nil {
		o.Weights = *d.Weights
	}
	return o
}

// sameScores reports whether two documents score alike.
func (d Document) sameScores(e Document) bool {
	return d.scored() == e.scored() && slices.Equal(d.Keywords, e.Keywords) && slices.Equal(d.Entities, e.Entities) &&
		d.relevance().Weights == e.relevance().Weights
}

// Limits of priorities. They have few steps, so that a host's queue has few bands.
const (
	minPriority = -4
	maxPriority = 8
	step        = 0.25
	raise       = 2 * step // a better link changes a priority by that at least
	avoid       = -3       // what a link loses that leads to noise, traps and logins
	maxText     = 160      // bytes of an anchor that are kept
)

func priority(score float64) float64 {
	return math.Round(min(max(score, minPriority), maxPriority)/step) * step
}

// looked is what a visit saw of a page.
type looked struct {
	page  *software.Page
	text  relevance.Page
	site  software.Site // what the page alone shows
	level software.Level

	helper *software.Helper
}

// onPage returns a function for the pages of a document: it notes what scores need of the first, and applies the rules
// of campaigns. It is nil if there is nothing to do.
func (v *Visit) onPage(final string, h http.Header) func(context.Context, *html.Node) ([]quad, error) {
	v.looked = nil
	rules := v.pageRules(final)
	if v.s.Software == nil || !slices.ContainsFunc(v.in, func(m membership) bool { return m.scorer != nil }) {
		return rules
	}
	return func(ctx context.Context, root *html.Node) ([]quad, error) {
		if v.looked == nil {
			helper, err := v.s.Software()
			if err != nil {
				return nil, err
			}
			l := &looked{page: &software.Page{URL: final, Header: h, Root: root}, text: relevance.ReadPage(final, root), helper: helper}
			l.level = helper.See(&l.site, l.page)
			v.looked = l
		}
		if rules == nil {
			return nil, nil
		}
		return rules(ctx, root)
	}
}

// scoring scores the links of one document for one campaign.
type scoring struct {
	scorer *relevance.Scorer
	helper *software.Helper
	site   software.Site
	page   *software.Page
	base   float64 // what a link has of its page and site
}

// score prepares the scores of the links of the visit's document, and notes what it adds to the record of the site.
func (v *Visit) score(txn *kv.Txn, m *membership, final string) (*scoring, error) {
	if m.scorer == nil {
		return nil, nil
	}
	s := &scoring{scorer: m.scorer}
	if v.looked == nil { // not a page
		return s, nil
	}
	record, err := getSite(txn, m.id, hostOf(final))
	if err != nil {
		return nil, err
	}
	m.seen = &seenPage{url: final, site: v.looked.site, level: v.looked.level, score: m.scorer.Page(v.looked.text)}
	record.Software.Add(m.seen.site)
	if plain := v.looked.helper.Link(&record.Software, v.looked.page, software.Link{URL: final}).URL; !same(plain, final) {
		m.seen.again = true
	}
	w := m.scorer.Weights()
	s.site, s.page, s.helper = record.Software, v.looked.page, v.looked.helper
	s.base = w.Page*m.seen.score.Value + w.Site*record.Score.Value()
	return s, nil
}

// same reports whether two addresses are one resource.
func same(a, b string) bool {
	x, errX := address.Key(a)
	y, errY := address.Key(b)
	return a == b || errX == nil && errY == nil && x == y
}

// link scores a link.
func (s *scoring) link(f *found, l links.Link) {
	if s == nil {
		return
	}
	f.Text = cut(l.Text, maxText)
	f.Base = s.base
	if s.page != nil {
		hint := s.helper.Link(&s.site, s.page, software.Link{URL: l.URL, Text: l.Text, Path: l.Path, Type: l.Type})
		worth := hint.Boost + hint.File
		if hint.Follow {
			worth += 0.5
		}
		if hint.Avoid != "" || hint.URL != l.URL && !same(hint.URL, l.URL) {
			worth = avoid
		}
		f.Base += s.scorer.Weights().Software * worth
	}
	f.Base = math.Round(f.Base*1000) / 1000
	f.Score = priority(f.Base + s.scorer.Link(f.Text, f.URL))
}

// scoreOf scores a URL by words alone, for one that is on no page. A seed is visited first.
func (a *adding) scoreOf(f *found, words ...string) {
	switch {
	case a.scorer == nil:
	case f.Kind == "":
		f.Score = maxPriority
	default:
		f.Text = cut(strings.Join(words, " "), maxText)
		f.Score = priority(a.scorer.Link(f.Text, f.URL))
	}
}

// cut returns the beginning of a text, n bytes at most.
func cut(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "")
}

// rescore gives the open URLs of a campaign the priorities that its document now means. It can be interrupted and
// repeated.
func (s *Store) rescore(ctx context.Context, id campaignID) error {
	for more := true; more; {
		err := s.Archive.DB().Update(ctx, func(txn *kv.Txn) (err error) {
			more, err = s.rescorePart(txn, id)
			return err
		})
		if err != nil {
			return fmt.Errorf("priorities: %w", err)
		}
	}
	return nil
}

// rescorePart does the next URLs. It returns false if all are done.
func (s *Store) rescorePart(txn *kv.Txn, id campaignID) (more bool, err error) {
	c, known, err := load(txn, id)
	if err != nil || !known || !c.Rescoring {
		return false, err
	}
	made, err := s.compiledOf(id, c)
	if err != nil {
		return false, err
	}
	after, _ := hex.DecodeString(c.Rescored)
	prefix := key(tableMember, id[:])
	var changes []frontier.Prioritisation
	n := 0
	var last []byte
	type change struct {
		key []byte
		m   member
	}
	var records []change
	err = txn.Scan(kv.SpaceCampaigns, prefix, append(slices.Clone(prefix), after...), func(k, v []byte) (bool, error) {
		resource := k[len(prefix):]
		if slices.Equal(resource, after) {
			return true, nil
		}
		if n++; n > perTxn {
			more = true
			return false, nil
		}
		last = slices.Clone(resource)
		m, err := decodeMember(v)
		if err != nil {
			return false, err
		}
		now := 0.0
		if made.scorer != nil && m.isSeed() {
			now = maxPriority
		} else if made.scorer != nil {
			now = priority(m.base + made.scorer.Link(m.text, m.url))
		}
		if now != m.score {
			changes = append(changes, frontier.Prioritisation{URL: m.url, From: m.score, To: now})
			m.score = now
			records = append(records, change{slices.Clone(k), m})
		}
		return true, nil
	})
	if err != nil {
		return false, err
	}
	for _, r := range records {
		if err := txn.Set(kv.SpaceCampaigns, r.key, r.m.encode()); err != nil {
			return false, err
		}
	}
	if err := s.Frontier.PrioritiseIn(txn, changes...); err != nil {
		return false, err
	}
	if c.Rescored = hex.EncodeToString(last); !more {
		c.Rescoring, c.Rescored = false, ""
	}
	return more, s.save(txn, id, c)
}
