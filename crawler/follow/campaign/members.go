package campaign

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/links"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/queue/frontier"
	"odarchive/ns"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// member is the record of one URL of a campaign.
type member struct {
	url     string
	kind    links.Kind // of the first link that led to it; "" for a seed
	from    string     // id of the resource with that link; "" for a seed
	depth   int        // links from the nearest seed
	round   int        // the last round that visited it
	edition int        // of the document by which its links were followed; 0 for none
	tries   int        // visits of this round that are to be repeated
	cut     bool       // it has links within scope that were too deep
	score   float64    // priority by the best link to it; 0 if the campaign does not score
	base    float64    // what that link has of its page, its site and the site's software
	text    string     // of that link's anchor
}

// Versions of the record. The first has no scores.
const (
	memberVersion1 = 1
	memberVersion  = 2
)

// isSeed reports whether the URL is a seed, rather than the target of a link.
func (m member) isSeed() bool { return m.kind == "" }

func (m member) encode() []byte {
	b := []byte{memberVersion}
	for _, n := range []int{m.depth, m.round, m.edition, m.tries, flag(m.cut)} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	for _, s := range []string{m.url, string(m.kind), m.from} {
		b = fields.AppendText(b, s)
	}
	b = binary.AppendVarint(b, milli(m.score))
	b = binary.AppendVarint(b, milli(m.base))
	return fields.AppendText(b, m.text)
}

// maxScore is the greatest amount of a score that a record has. The words of one anchor do not reach it.
const maxScore = 1e6

// milli returns thousands of a score.
func milli(score float64) int64 {
	return int64(math.Round(min(max(score, -maxScore), maxScore) * 1000))
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func decodeMember(b []byte) (m member, err error) {
	r := fields.Reader{B: b}
	version := r.Byte()
	if version != memberVersion && version != memberVersion1 {
		r.Fail()
	}
	small := func() int { return int(r.Max(math.MaxInt32)) }
	m.depth, m.round, m.edition, m.tries = small(), small(), small(), small()
	m.cut = r.Uvarint() != 0
	m.url, m.kind, m.from = r.Text(), links.Kind(r.Text()), r.Text()
	if version == memberVersion {
		m.score, m.base = float64(r.Varint())/1000, float64(r.Varint())/1000
		if math.Abs(m.score) > maxScore || math.Abs(m.base) > maxScore {
			r.Fail()
		}
		m.text = r.Text()
	}
	if err := r.End(); err != nil {
		return m, fmt.Errorf("campaign: the record of a URL is damaged: %w", err)
	}
	return m, nil
}

// resourceKey returns the bytes of a resource's id.
func resourceKey(id string) []byte {
	b, _ := hex.DecodeString(id)
	return b
}

func getMember(txn *kv.Txn, id campaignID, resource string) (m member, known bool, err error) {
	b, known, err := txn.Get(kv.SpaceCampaigns, key(tableMember, id[:], resourceKey(resource)))
	if err != nil || !known {
		return m, false, err
	}
	m, err = decodeMember(b)
	return m, err == nil, err
}

func setMember(txn *kv.Txn, id campaignID, resource string, m member) error {
	return txn.Set(kv.SpaceCampaigns, key(tableMember, id[:], resourceKey(resource)), m.encode())
}

// found is a link on its way into a campaign.
type found struct {
	URL      string     `json:"u"`
	Kind     links.Kind `json:"k,omitempty"`
	Score    float64    `json:"s,omitempty"` // priority
	Base     float64    `json:"b,omitempty"` // as member.base
	Text     string     `json:"t,omitempty"` // as member.text
	resource string
}

// identify sets the id of the resource. It returns false for a URL that cannot be one.
func (f *found) identify() bool {
	key, err := address.Key(f.URL)
	if err != nil {
		return false
	}
	f.resource = ns.ResourceID(key)
	return true
}

// adding adds URLs to one campaign in a transaction.
type adding struct {
	s      *Store
	ctx    context.Context // of the transaction
	txn    archive.Txn
	id     campaignID
	c      *Campaign
	scope  *scope
	scorer *relevance.Scorer // nil if the campaign does not score
	seeds  []found
	again  []string // URLs that are to be visited although they are known
	// listed are files of a portal, which are registered as the portal describes them, after the URLs of the campaign.
	listed []catalog.Seed
	hosts  map[string]int
	raised []frontier.Prioritisation
}

// extend adds URLs to a campaign in a transaction: f calls add. It does nothing if there is no such campaign.
func (s *Store) extend(ctx context.Context, id campaignID, f func(*adding) error) error {
	return s.Archive.Update(ctx, func(txn archive.Txn) error {
		c, known, err := load(txn.KV(), id)
		if err != nil || !known {
			return err
		}
		made, err := s.compiledOf(id, c)
		if err != nil {
			return err
		}
		a := &adding{s: s, ctx: ctx, txn: txn, id: id, c: &c, scope: made.scope, scorer: made.scorer}
		if err := f(a); err != nil {
			return err
		}
		return a.finish()
	})
}

// add adds a URL that is depth links from a seed, by a link of the resource from. It does nothing for URLs that are
// known and not nearer than before.
func (a *adding) add(f found, from string, depth int) error {
	txn := a.txn.KV()
	m, known, err := getMember(txn, a.id, f.resource)
	if err != nil {
		return err
	}
	if known {
		better := m.round < a.c.Round && !m.isSeed() && f.Score >= m.score+raise
		if better {
			a.raised = append(a.raised, frontier.Prioritisation{URL: m.url, From: m.score, To: f.Score})
			m.score, m.base, m.text = f.Score, f.Base, f.Text
		}
		if depth >= m.depth {
			if !better {
				return nil
			}
			return setMember(txn, a.id, f.resource, m)
		}
		m.depth = depth
		if m.cut && m.round >= a.c.Round { // links that were too deep may be followed now
			m.round, m.edition, m.tries, m.cut = a.c.Round-1, 0, 0, false
			a.c.Counts.Pending++
			a.c.Counts.Visited = max(0, a.c.Counts.Visited-1)
			a.again = append(a.again, m.url)
		}
		return setMember(txn, a.id, f.resource, m)
	}
	if a.c.Counts.URLs >= a.c.Document.Max {
		a.c.Counts.OverBudget++
		return nil
	}
	host, err := address.Host(f.URL)
	if err != nil {
		return nil
	}
	n, err := a.host(host)
	if err != nil {
		return err
	}
	if n >= a.c.Document.Host {
		a.c.Counts.OverBudget++
		return nil
	}
	if err := a.count(host, n+1); err != nil {
		return err
	}
	m = member{url: f.URL, kind: f.Kind, from: from, depth: depth, round: a.c.Round - 1, score: f.Score, base: f.Base, text: f.Text}
	a.c.Counts.URLs++
	a.c.Counts.Pending++
	a.seeds, a.again = append(a.seeds, f), append(a.again, f.URL)
	if err := txn.Set(kv.SpaceCampaigns, key(tableReverse, resourceKey(f.resource), a.id[:]), nil); err != nil {
		return err
	}
	if err := setMember(txn, a.id, f.resource, m); err != nil {
		return err
	}
	if n == 0 {
		return a.wellKnown(f.URL, from, depth)
	}
	return nil
}

// wellKnown adds the place where a host that is new to the campaign may describe its data sets.
func (a *adding) wellKnown(url, from string, depth int) error {
	u, err := address.Parse(url)
	if err != nil || u.Scheme == "ftp" || !a.c.Document.follows(links.DescribedBy) {
		return nil
	}
	f := found{URL: u.Authority() + "/.well-known/void", Kind: links.DescribedBy}
	if !f.identify() || !a.scope.allows(f.URL) {
		return nil
	}
	return a.add(f, from, depth)
}

func (a *adding) host(name string) (int, error) {
	if n, ok := a.hosts[name]; ok {
		return n, nil
	}
	b, ok, err := a.txn.KV().Get(kv.SpaceCampaigns, key(tableHost, a.id[:], []byte(name)))
	if err != nil || !ok {
		return 0, err
	}
	n, _ := binary.Uvarint(b)
	return int(n), nil
}

func (a *adding) count(host string, n int) error {
	if a.hosts == nil {
		a.hosts = map[string]int{}
	}
	a.hosts[host] = n
	return a.txn.KV().Set(kv.SpaceCampaigns, key(tableHost, a.id[:], []byte(host)), binary.AppendUvarint(nil, uint64(n)))
}

// finish registers the new URLs with archive and frontier, queues all that are to be visited, and stores the campaign.
func (a *adding) finish() error {
	if len(a.seeds) > 0 {
		listing := archive.Listing{}
		var urls []string
		for _, f := range a.seeds {
			seed := a.c.Document.seed(f.URL)
			seed.Priority = f.Score
			listing.Seeds = append(listing.Seeds, seed)
			urls = append(urls, f.URL)
		}
		fresh, err := a.txn.Register(a.ctx, a.s.Clock(), listing)
		if err != nil {
			return err
		}
		if err := noteKnown(a.txn.KV(), a.id, urls, fresh); err != nil {
			return err
		}
		if err := a.s.Frontier.AddIn(a.txn.KV(), listing.Seeds...); err != nil {
			return err
		}
	}
	if err := a.s.Frontier.PrioritiseIn(a.txn.KV(), a.raised...); err != nil {
		return err
	}
	if err := a.s.Frontier.MakeDueIn(a.txn.KV(), a.again...); err != nil {
		return err
	}
	if len(a.listed) > 0 {
		if _, err := a.txn.Register(a.ctx, a.s.Clock(), archive.Listing{Seeds: a.listed}); err != nil {
			return err
		}
		if err := a.s.Frontier.AddIn(a.txn.KV(), a.listed...); err != nil {
			return err
		}
	}
	return a.s.save(a.txn.KV(), a.id, *a.c)
}
