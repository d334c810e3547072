package archive

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/wordindex"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

const (
	maxFacet     = 50 // values of one facet that an answer lists
	maxAsked     = 12 // words of a question that are looked up
	maxFound     = 500
	defaultFound = 25
	maxNames     = 4 // column names told of one resource
)

// Search finds resources. Words come from the index in the database, what narrows, sorts and counts from the facts in
// memory; records are read of the resources on the page alone.
func (a *Archive) Search(ctx context.Context, s catalog.Search) (catalog.Found, error) {
	if err := a.Load(ctx); err != nil {
		return catalog.Found{}, fmt.Errorf("archive: search: %w", err)
	}
	if s.Limit <= 0 {
		s.Limit = defaultFound
	}
	s.Limit = min(s.Limit, maxFound)
	q, err := a.question(ctx, s)
	if err != nil {
		return catalog.Found{}, fmt.Errorf("archive: search: %w", err)
	}
	found, docs := a.facts.answer(q)
	if err := ctx.Err(); err != nil {
		return catalog.Found{}, err
	}
	return found, a.fill(ctx, &found, docs, q.words)
}

// question is a search with its words looked up.
type question struct {
	catalog.Search
	words  []asked
	none   bool          // a text without a word finds nothing
	only   wordindex.Set // resources of the dataset; nil where any will do
	named  uint32        // the document whose address the text is
	isName bool
	mark   place
	isNext bool // mark is the last of the page before
}

// asked is one word of a question and the documents that have it.
type asked struct {
	word    string
	hits    []hit
	all     wordindex.Set
	portals map[string]bool // whose title or address has the word
}

type hit struct {
	docs  wordindex.Set
	score int
}

// What a word in a place is worth, found whole and as a beginning.
var worth = []struct {
	field            wordindex.Field
	exact, beginning int
}{{fieldTitle, 8, 5}, {fieldAddress, 3, 2}, {fieldColumn, 2, 1}}

const (
	worthPortal = 2
	worthName   = 1000 // the text is the address of the resource
)

func (a *Archive) question(ctx context.Context, s catalog.Search) (question, error) {
	q := question{Search: s}
	q.mark, q.isNext = parsePlace(s.After)
	err := a.db.View(func(txn *kv.Txn) error {
		t := tables{txn: txn}
		text := strings.TrimSpace(s.Text)
		if text != "" {
			q.named, q.isName = t.docOfURL(text)
		}
		words := wordindex.Words(readable(text), maxAsked, false)
		q.none = len(words) == 0 && text != ""
		portals, err := t.portalWords(ctx, len(words) > 0)
		if err != nil {
			return err
		}
		for _, w := range words {
			one, err := t.ask(ctx, w, portals)
			if err != nil {
				return err
			}
			q.words = append(q.words, one)
		}
		if s.Dataset == "" {
			return nil
		}
		q.only = wordindex.Set{}
		return t.scan(ctx, key(tableByDataset, s.Dataset, ""), nil, func(k, _ []byte) (bool, error) {
			if doc, known := t.docOfURL(tail(k, ridLen)); known {
				q.only.Put(doc)
			}
			return true, nil
		})
	})
	return q, err
}

// portalWords are the words of the titles and addresses of portals.
func (t tables) portalWords(ctx context.Context, asked bool) (map[string][]string, error) {
	portals := map[string][]string{}
	if !asked {
		return portals, nil
	}
	err := t.counts(ctx, countPortal, func(iri string, n tally) error {
		portals[iri] = wordindex.Words(n.Title+"\n"+readable(iri), maxWords, true)
		return nil
	})
	return portals, err
}

func (t tables) ask(ctx context.Context, word string, portals map[string][]string) (asked, error) {
	one := asked{word: word, portals: map[string]bool{}}
	for _, w := range worth {
		exact, beginning, _, err := wordindex.Find(ctx, t.txn, w.field, word)
		if err != nil {
			return one, err
		}
		one.hits = append(one.hits, hit{exact, w.exact}, hit{beginning, w.beginning})
		one.all.Union(exact)
		one.all.Union(beginning)
	}
	for iri, words := range portals {
		if slices.ContainsFunc(words, func(w string) bool { return wordindex.Meets(w, word) }) {
			one.portals[iri] = true
		}
	}
	return one, nil
}

// place of a resource in an answer: the greatest score first, then the greatest figure, then the title in order.
type place struct {
	score int
	n     int64
	title string
	doc   uint32
}

func (p place) compare(o place) int {
	switch { // not cmp.Or, which compares everything before it looks: this is done for every match
	case p.score != o.score:
		return o.score - p.score
	case p.n != o.n:
		return cmp.Compare(o.n, p.n)
	}
	if c := strings.Compare(p.title, o.title); c != 0 {
		return c
	}
	return cmp.Compare(p.doc, o.doc)
}

// String is the place as a page's mark.
func (p place) String() string {
	return fmt.Sprintf("%d.%d.%d.%s", p.score, p.n, p.doc, hex.EncodeToString([]byte(p.title)))
}

// parsePlace reads a mark; one that is none gives the first page.
func parsePlace(s string) (p place, ok bool) {
	var title string
	if n, _ := fmt.Sscanf(s+"\n", "%d.%d.%d.%s\n", &p.score, &p.n, &p.doc, &title); n < 3 {
		return p, false
	}
	raw, err := hex.DecodeString(title)
	p.title = string(raw)
	return p, err == nil
}

// facetCount is a value of a facet while it is counted.
type facetCount struct {
	n     int
	bytes int64
}

func (t *facetCount) add(r *fact) {
	t.n++
	t.bytes += r.size
}

// answer goes through the facts once: it counts what matches and keeps the first of the page.
func (f *facts) answer(q question) (catalog.Found, []uint32) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	found := catalog.Found{}
	m, possible := f.matcher(q)
	if !possible || q.none {
		return found, nil
	}
	hosts, types, sets := make([]facetCount, len(f.hosts.list)), make([]facetCount, len(f.types.list)), make([]facetCount, len(f.setOf))
	first := make([]place, 0, q.Limit+1)
	m.each(func(doc uint32, r *fact) {
		found.Total++
		if q.Facets {
			hosts[r.host].add(r)
			types[r.typ].add(r)
			sets[r.set].add(r)
		}
		p := m.place(doc, r)
		if len(first) > q.Limit { // most are behind the page's last, and most of those by their figure alone
			last := &first[q.Limit]
			if p.score == last.score && p.n < last.n || p.compare(*last) > 0 {
				return
			}
		}
		if q.isNext && p.compare(q.mark) <= 0 {
			return
		}
		i, _ := slices.BinarySearchFunc(first, p, place.compare)
		if len(first) > q.Limit {
			first = first[:q.Limit]
		}
		first = slices.Insert(first, i, p)
	})
	docs := make([]uint32, 0, q.Limit)
	for _, p := range first[:min(q.Limit, len(first))] {
		docs = append(docs, p.doc)
	}
	if len(first) > q.Limit {
		found.Next = first[q.Limit-1].String()
	}
	if q.Facets {
		portals := make([]facetCount, len(f.portals.list))
		for set, t := range sets {
			for _, p := range f.setOf[set] {
				portals[p].n += t.n
				portals[p].bytes += t.bytes
			}
		}
		found.Hosts, found.Types, found.Portals = largest(f.hosts.list, hosts), largest(f.types.list, types), largest(f.portals.list, portals)
	}
	return found, docs
}

// largest are the commonest values of a facet, in order; there may be very many others.
func largest(names []string, all []facetCount) (list []catalog.Count) {
	for i, t := range all {
		if t.n == 0 || names[i] == "" || len(list) == maxFacet && t.n < list[maxFacet-1].Count {
			continue
		}
		list = append(list, catalog.Count{Key: names[i], Count: t.n, Bytes: t.bytes})
		if len(list) > maxFacet {
			byCount(list)
			list = list[:maxFacet]
		}
	}
	byCount(list)
	return list
}

// matcher is a question in the numbers of the facts.
type matcher struct {
	facts         *facts
	q             question
	narrowed      wordindex.Set // by words and dataset; nil: all
	sets          [][]bool      // for each word, the sets of portals that have it
	inPortal      []bool        // the sets that hold the portal asked for; nil: any
	host, typ     uint32
	outcome       uint32
	byHost, byTyp bool
	byOutcome     bool
}

// matcher is false where nothing can match.
func (f *facts) matcher(q question) (*matcher, bool) {
	m := &matcher{facts: f, q: q}
	for _, narrow := range []struct {
		value  string
		among  *names
		number *uint32
		on     *bool
	}{{strings.ToLower(q.Host), &f.hosts, &m.host, &m.byHost}, {strings.ToLower(q.Type), &f.types, &m.typ, &m.byTyp}, {string(q.Outcome), &f.outs, &m.outcome, &m.byOutcome}} {
		if narrow.value == "" {
			continue
		}
		var known bool
		if *narrow.number, known = narrow.among.find(narrow.value); !known {
			return nil, false
		}
		*narrow.on = true
	}
	if q.Portal != "" {
		m.inPortal = f.setsWith(func(portal string) bool { return portal == q.Portal })
	}
	if q.only != nil {
		m.narrowed = append(wordindex.Set{}, q.only...)
	}
	for _, w := range q.words {
		all := append(wordindex.Set{}, w.all...)
		var sets []bool
		if len(w.portals) > 0 {
			sets = f.setsWith(func(portal string) bool { return w.portals[portal] })
			for doc := range f.rows {
				if f.rows[doc].known && sets[f.rows[doc].set] {
					all.Put(uint32(doc))
				}
			}
		}
		m.sets = append(m.sets, sets)
		if m.narrowed == nil {
			m.narrowed = all
		} else {
			m.narrowed.Intersect(all)
		}
	}
	return m, true
}

func (f *facts) setsWith(which func(portal string) bool) []bool {
	sets := make([]bool, len(f.setOf))
	for i, portals := range f.setOf {
		sets[i] = slices.ContainsFunc(portals, func(p uint32) bool { return which(f.portals.list[p]) })
	}
	return sets
}

func (m *matcher) each(visit func(doc uint32, r *fact)) {
	rows := m.facts.rows
	one := func(doc uint32) {
		if int(doc) >= len(rows) {
			return // committed after the facts were
		}
		r := &rows[doc]
		if !r.known || m.byHost && r.host != m.host || m.byTyp && r.typ != m.typ || m.byOutcome && r.outcome != m.outcome || m.inPortal != nil && !m.inPortal[r.set] {
			return
		}
		visit(doc, r)
	}
	if m.narrowed != nil {
		m.narrowed.Each(one)
		return
	}
	for doc := range rows {
		one(uint32(doc))
	}
}

func (m *matcher) place(doc uint32, r *fact) place {
	p := place{doc: doc}
	switch m.q.Sort {
	case "versions":
		p.n = int64(r.versions)
	case "size":
		p.n = r.size
	case "title":
		p.title = r.title
	case "changed":
		p.n = r.changed
	default:
		p.n = r.changed
		p.score = m.score(doc, r)
	}
	return p
}

// score sums up the best place of each word.
func (m *matcher) score(doc uint32, r *fact) (score int) {
	for i, w := range m.q.words {
		best := 0
		for _, h := range w.hits {
			if h.score > best && h.docs.Has(doc) {
				best = h.score
			}
		}
		if best < worthPortal && m.sets[i] != nil && m.sets[i][r.set] {
			best = worthPortal
		}
		score += best
	}
	if m.q.isName && doc == m.q.named {
		score += worthName
	}
	return score
}

// fill reads the records of a page, the titles of portals, and the names of columns in which a word was found.
func (a *Archive) fill(ctx context.Context, found *catalog.Found, docs []uint32, words []asked) error {
	found.Resources = make([]catalog.Resource, 0, len(docs))
	return a.view(func(t tables) error {
		for i, p := range found.Portals {
			n, err := t.counted(countPortal, p.Key)
			if err != nil {
				return err
			}
			found.Portals[i].Label = n.Title
		}
		for _, doc := range docs {
			raw, ok, err := t.txn.Get(kv.SpaceSearch, rowKey(doc))
			if err != nil {
				return err
			}
			row, sound := decodeRow(raw)
			if !ok || !sound {
				return fmt.Errorf("archive: search index: row %d is damaged", doc)
			}
			r, known, err := t.resource(row.ID)
			if err != nil || !known {
				return orNotFound(err, "resource", row.ID)
			}
			found.Resources = append(found.Resources, r.Resource)
			names, err := t.columnsFound(r.Resource, doc, words)
			if err != nil {
				return err
			}
			if len(names) > 0 {
				if found.Columns == nil {
					found.Columns = map[string][]string{}
				}
				found.Columns[r.ID] = names
			}
		}
		return ctx.Err()
	})
}

// columnsFound names the columns that hold a word of the question.
func (t tables) columnsFound(r catalog.Resource, doc uint32, words []asked) (list []string, err error) {
	var inColumns []string
	for _, w := range words {
		for i, h := range w.hits {
			if worth[i/2].field == fieldColumn && h.docs.Has(doc) {
				inColumns = append(inColumns, w.word)
				break
			}
		}
	}
	if len(inColumns) == 0 || r.Versions == 0 {
		return nil, nil
	}
	in, err := t.inside(latestID(r))
	if err != nil {
		return nil, err
	}
	for name := range columnNames(in) {
		if len(list) < maxNames && !slices.Contains(list, name) && slices.ContainsFunc(inColumns, func(w string) bool { return wordindex.Begins(name, w) }) {
			list = append(list, name)
		}
	}
	return list, nil
}

func latestID(r catalog.Resource) string { return ns.VersionID(r.ID, r.Versions-1) }
