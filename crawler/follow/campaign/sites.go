package campaign

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/software"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// quad is short for the type of statements.
type quad = term.Quad

// Site is what a campaign knows of one of its sites: the pages of one host.
type Site struct {
	URL      string          `json:"url"` // first page of the host
	Edition  int             `json:"edition"`
	Software software.Site   `json:"software"`
	Score    relevance.Tally `json:"score"`
	Best     []Best          `json:"best,omitempty"` // pages, the best first, at most maxBest
}

// Best is a page with a high score.
type Best struct {
	URL   string           `json:"url"`
	Level software.Level   `json:"level,omitempty"`
	Score float64          `json:"score"`
	Why   []relevance.Part `json:"why"` // the largest parts of the score
}

const (
	maxBest  = 5
	maxWhy   = 4
	maxSites = 200    // that are shown, and in the graph
	maxRead  = 20_000 // sites that are looked at for that
)

// seenPage is what one visit adds to a site.
type seenPage struct {
	url   string
	site  software.Site
	level software.Level
	score relevance.Score
	again bool // it shows what another page shows, in another order
}

// add adds a page.
func (s *Site) add(p seenPage) {
	s.Software.Add(p.site)
	if p.again {
		return
	}
	s.Score.Add(p.score.Value)
	if p.score.Value <= 0 {
		return
	}
	s.Best = slices.DeleteFunc(s.Best, func(b Best) bool { return b.URL == p.url })
	s.Best = append(s.Best, Best{URL: cut(p.url, 2000), Level: p.level, Score: p.score.Value,
		Why: p.score.Parts[:min(maxWhy, len(p.score.Parts))]})
	slices.SortStableFunc(s.Best, func(a, b Best) int { return cmp.Compare(b.Score, a.Score) })
	s.Best = s.Best[:min(maxBest, len(s.Best))]
}

// hostOf returns the address of the first page of a URL's host; "" if it has none.
func hostOf(link string) string {
	u, err := address.Parse(link)
	if err != nil {
		return ""
	}
	return u.Authority() + "/"
}

func siteKey(id campaignID, host string) []byte { return key(tableSite, id[:], []byte(host)) }

// getSite returns the record of a site, an empty one if there is none.
func getSite(txn *kv.Txn, id campaignID, host string) (s Site, err error) {
	b, known, err := txn.Get(kv.SpaceCampaigns, siteKey(id, host))
	if err != nil {
		return s, err
	}
	if !known || json.Unmarshal(b, &s) != nil { // a damaged record is made anew by the next visits
		s = Site{}
	}
	s.URL = host
	return s, nil
}

// seePage adds the page of a visit to its site. again reports that the campaign has seen it before; it then is not
// added.
func seePage(txn *kv.Txn, id campaignID, edition int, p seenPage, again bool) (added bool, err error) {
	host := hostOf(p.url)
	if host == "" {
		return false, nil
	}
	s, err := getSite(txn, id, host)
	if err != nil {
		return false, err
	}
	if s.Edition != edition { // another document: its pages are read again
		s = Site{URL: host, Edition: edition, Software: software.Site{Systems: s.Software.Systems}}
	} else if again {
		return false, nil
	}
	s.add(p)
	b, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	return true, txn.Set(kv.SpaceCampaigns, siteKey(id, host), b)
}

// Sites returns the sites of a campaign with the best scores.
func (s *Store) Sites(ctx context.Context, name string) (all []Site, err error) {
	id := idOf(name)
	err = s.view(ctx, func(txn *kv.Txn) error {
		n := 0
		return txn.Scan(kv.SpaceCampaigns, key(tableSite, id[:]), nil, func(_, v []byte) (bool, error) {
			var one Site
			if json.Unmarshal(v, &one) == nil {
				all = append(all, one)
			}
			n++
			return n < maxRead, ctx.Err()
		})
	})
	slices.SortStableFunc(all, func(a, b Site) int {
		return cmp.Or(cmp.Compare(b.Score.Value(), a.Score.Value()), cmp.Compare(a.URL, b.URL))
	})
	return all[:min(maxSites, len(all))], err
}

// graphOf returns the address after which the graph about a campaign's sites is named.
func (s *Store) graphOf(name string) string {
	return s.Archive.Mint().Base + "campaign?name=" + url.QueryEscape(name)
}

// describeAfter is by which part the pages of a campaign must have grown before its sites are described again, unless
// it has come to an end.
const describeAfter = 0.2

// DescribeSites writes what a campaign knows of its sites as a named graph, if that has changed much, or at all and the
// campaign does not run.
func (s *Store) DescribeSites(ctx context.Context, name string) error {
	c, err := s.Get(ctx, name)
	if err != nil || !c.Document.scored() {
		return err
	}
	now := c.Counts.Pages
	if now == c.Described || c.State == Running && float64(now) < float64(c.Described)*(1+describeAfter)+10 {
		return nil
	}
	sites, err := s.Sites(ctx, name)
	if err != nil {
		return err
	}
	content, err := s.Graphs.Prepare(ctx, s.graphOf(name), describeSites(sites))
	if err != nil {
		return err
	}
	content.Source = s.graphOf(name)
	err = s.Archive.Update(ctx, func(txn archive.Txn) error {
		if _, err := s.Graphs.Put(txn.Triples(), content, "", ""); err != nil {
			return err
		}
		c, known, err := load(txn.KV(), idOf(name))
		if err != nil || !known {
			return err
		}
		c.Described = now
		return s.save(txn.KV(), idOf(name), c)
	})
	if err != nil {
		return fmt.Errorf("campaign %s: describe its sites: %w", name, err)
	}
	return nil
}

// describeSites returns statements about sites and their best pages.
func describeSites(sites []Site) (quads []term.Quad) {
	for _, site := range sites {
		iri, ok := harvest.AsIRI(site.URL)
		if !ok {
			continue
		}
		s := term.IRI(iri)
		add := func(s term.Key, p string, o term.Key) { quads = append(quads, term.Quad{S: s, P: term.IRI(p), O: o}) }
		add(s, vocab.RDFType, term.IRI(vocab.ArcSite))
		if name := site.Software.Name(); name != "" {
			add(s, vocab.ArcSoftware, term.String(name))
			for _, because := range site.Software.Systems[0].Because {
				add(s, vocab.ArcSoftwareSign, term.String(because))
			}
		}
		add(s, vocab.ArcPagesSeen, term.Typed(strconv.Itoa(site.Software.Seen), vocab.XSDInteger))
		add(s, vocab.ArcScore, decimal(site.Score.Value()))
		for _, b := range site.Best {
			page, ok := harvest.AsIRI(b.URL)
			if !ok {
				continue
			}
			add(s, vocab.ArcBestPage, term.IRI(page))
			add(term.IRI(page), vocab.ArcScore, decimal(b.Score))
			if b.Level != software.Unknown {
				add(term.IRI(page), vocab.ArcPageLevel, term.String(string(b.Level)))
			}
		}
	}
	return quads
}

func decimal(v float64) term.Key {
	return term.Typed(strconv.FormatFloat(v, 'f', 3, 64), vocab.XSDDecimal)
}
