package campaign

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/links"
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
}

const memberVersion = 1

func (m member) encode() []byte {
	b := []byte{memberVersion}
	for _, n := range []int{m.depth, m.round, m.edition, m.tries, flag(m.cut)} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	for _, s := range []string{m.url, string(m.kind), m.from} {
		b = fields.AppendText(b, s)
	}
	return b
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func decodeMember(b []byte) (m member, err error) {
	r := fields.Reader{B: b}
	if r.Byte() != memberVersion {
		r.Fail()
	}
	m.depth, m.round, m.edition, m.tries = int(r.Uvarint()), int(r.Uvarint()), int(r.Uvarint()), int(r.Uvarint())
	m.cut = r.Uvarint() != 0
	m.url, m.kind, m.from = r.Text(), links.Kind(r.Text()), r.Text()
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
	s     *Store
	ctx   context.Context // of the transaction
	txn   archive.Txn
	id    campaignID
	c     *Campaign
	scope *scope
	seeds []string
	again []string // URLs that are to be visited although they are known
	// listed are files of a portal, which are registered as the portal describes them, after the URLs of the campaign.
	listed []catalog.Seed
	hosts  map[string]int
}

// extend adds URLs to a campaign in a transaction: f calls add. It does nothing if there is no such campaign.
func (s *Store) extend(ctx context.Context, id campaignID, f func(*adding) error) error {
	return s.Archive.Update(ctx, func(txn archive.Txn) error {
		c, known, err := load(txn.KV(), id)
		if err != nil || !known {
			return err
		}
		scope, err := s.scopeOf(id, c)
		if err != nil {
			return err
		}
		a := &adding{s: s, ctx: ctx, txn: txn, id: id, c: &c, scope: scope}
		if err := f(a); err != nil {
			return err
		}
		return a.finish()
	})
}

// add adds a URL that is depth links from a seed, by a link of the resource from. It does nothing for URLs that are known
// and not nearer than before.
func (a *adding) add(f found, from string, depth int) error {
	txn := a.txn.KV()
	m, known, err := getMember(txn, a.id, f.resource)
	if err != nil {
		return err
	}
	if known {
		if depth >= m.depth {
			return nil
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
	m = member{url: f.URL, kind: f.Kind, from: from, depth: depth, round: a.c.Round - 1}
	a.c.Counts.URLs++
	a.c.Counts.Pending++
	a.seeds, a.again = append(a.seeds, f.URL), append(a.again, f.URL)
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
		for _, url := range a.seeds {
			listing.Seeds = append(listing.Seeds, a.c.Document.seed(url))
		}
		fresh, err := a.txn.Register(a.ctx, a.s.Clock(), listing)
		if err != nil {
			return err
		}
		if err := noteKnown(a.txn.KV(), a.id, a.seeds, fresh); err != nil {
			return err
		}
		if err := a.s.Frontier.AddIn(a.txn.KV(), listing.Seeds...); err != nil {
			return err
		}
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
