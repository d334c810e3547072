package schemaorg

import (
	"net/url"
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"

	humanize "github.com/dustin/go-humanize"
)

// dataset returns a subject as a dataset. n distinguishes datasets on a page that have no address.
func (g graph) dataset(s term.Key, page string, n int) harvest.Dataset {
	d := harvest.Dataset{IRI: g.iri(s, page, n)}
	d.Title = g.texts(s, "name", "headline", "alternateName")
	d.Description = g.texts(s, "description", "abstract")
	for _, o := range g.all(s, "keywords", "keyword") {
		for _, word := range strings.FieldsFunc(g.textOf(o), func(r rune) bool { return r == ',' || r == ';' }) {
			if word = strings.TrimSpace(word); word != "" {
				d.Keywords = append(d.Keywords, harvest.Text{Value: word, Lang: o.Lang()})
			}
		}
	}
	for _, o := range g.all(s, "identifier", "sameAs") {
		if id := g.textOf(o); id != "" {
			d.Identifiers = append(d.Identifiers, id)
		}
	}
	d.LandingPage = page
	if address := g.text(s, "url", "mainEntityOfPage"); isURL(address) {
		d.LandingPage = address
	}
	d.License = g.text(s, "license")
	d.Rights = g.text(s, "conditionsOfAccess", "usageInfo", "copyrightNotice")
	if free := g.text(s, "isAccessibleForFree"); strings.EqualFold(free, "true") || strings.EqualFold(local(free), "True") {
		d.AccessLevel = "public"
	}
	for _, o := range g.all(s, "publisher", "provider", "sourceOrganization") {
		d.Publisher = g.agent(o)
		break
	}
	for _, o := range g.all(s, "creator", "author") {
		d.Creators = append(d.Creators, g.agent(o))
	}
	for _, o := range g.all(s, "contactPoint", "maintainer") {
		d.Contact = g.agent(o)
		break
	}
	d.Issued = g.text(s, "datePublished", "dateCreated")
	d.Modified = g.text(s, "dateModified")
	for _, o := range g.all(s, "temporalCoverage", "temporal") {
		if p, ok := periodOf(g.textOf(o)); ok {
			d.Temporal = append(d.Temporal, p)
		}
	}
	for _, o := range g.all(s, "spatialCoverage", "spatial") {
		d.Spatial = append(d.Spatial, g.place(o))
	}
	for _, o := range g.all(s, "inLanguage") {
		d.Language = append(d.Language, g.textOf(o))
	}
	d.Version = g.text(s, "version")
	d.Frequency = g.text(s, "repeatFrequency")
	for _, o := range g.all(s, "includedInDataCatalog", "isPartOf", "inDataset") {
		if whole := g.address(o); whole != "" {
			d.IsPartOf = append(d.IsPartOf, whole)
		}
	}
	for _, o := range g.all(s, "distribution", "downloadUrl") {
		if dist, ok := g.distribution(o, page); ok {
			d.Distributions = append(d.Distributions, dist)
		}
	}
	d.Statements = g.statements(s, d.IRI)
	return d
}

// iri returns the IRI of a dataset: its own, else its address, else that of the page.
func (g graph) iri(s term.Key, page string, n int) string {
	if s.Kind() == term.KindIRI && isURL(s.Value()) {
		return s.Value()
	}
	for _, o := range g.all(s, "url", "identifier", "sameAs", "mainEntityOfPage") {
		if address := g.address(o); address != "" {
			return address
		}
	}
	if n == 0 {
		return page
	}
	base, _, _ := strings.Cut(page, "#")
	return base + "#dataset-" + strconv.Itoa(n+1)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "ftp")
}

// address returns the address that a value is or has.
func (g graph) address(o term.Key) string {
	if v := strings.TrimSpace(o.Value()); o.Kind() != term.KindBlank && isURL(v) {
		return v
	}
	for _, name := range []string{"url", "contentUrl", "@id"} {
		for _, q := range g.about[o] {
			if local(q.P.Value()) == name && isURL(q.O.Value()) {
				return q.O.Value()
			}
		}
	}
	return ""
}

func (g graph) texts(s term.Key, names ...string) []harvest.Text {
	for _, name := range names { // an alternative name is used only if there is no name
		var texts []harvest.Text
		for _, o := range g.all(s, name) {
			if said := g.textOf(o); said != "" {
				texts = append(texts, harvest.Text{Value: said, Lang: o.Lang()})
			}
		}
		if len(texts) > 0 {
			return texts
		}
	}
	return nil
}

func (g graph) agent(o term.Key) harvest.Agent {
	if len(g.about[o]) == 0 {
		if v := strings.TrimSpace(o.Value()); o.Kind() == term.KindIRI {
			return harvest.Agent{IRI: v}
		} else if o.Kind() == term.KindLiteral {
			return harvest.Agent{Name: v}
		}
		return harvest.Agent{}
	}
	a := harvest.Agent{Name: g.text(o, "name", "legalName"), Email: g.text(o, "email"), URL: g.text(o, "url")}
	if o.Kind() == term.KindIRI && isURL(o.Value()) {
		a.IRI = o.Value()
	}
	if a.Name == "" {
		a.Name = strings.TrimSpace(g.text(o, "givenName") + " " + g.text(o, "familyName"))
	}
	switch {
	case g.is(o, "Person"):
		a.Type = "Person"
	case g.is(o, "Organization"):
		a.Type = "Organization"
	}
	if a.Email == "" { // that of its contact point
		for _, contact := range g.all(o, "contactPoint") {
			a.Email = g.text(contact, "email")
		}
	}
	return a
}

// periodOf parses an ISO 8601 interval ("2010/2020", "2010/..") or a date.
func periodOf(s string) (harvest.Period, bool) {
	start, end, ok := strings.Cut(strings.TrimSpace(s), "/")
	if !ok {
		if _, isDate := harvest.ParseTime(start); !isDate {
			return harvest.Period{}, false
		}
		end = start
	}
	open := func(s string) string {
		if s = strings.TrimSpace(s); s == ".." {
			return ""
		}
		return s
	}
	p := harvest.Period{Start: open(start), End: open(end)}
	return p, p != harvest.Period{}
}

// place reads a place: a name, a node with a name, geo coordinates, or a box in schema.org's order: south west north
// east.
func (g graph) place(o term.Key) harvest.Place {
	p := harvest.Place{}
	switch {
	case len(g.about[o]) == 0 && isURL(o.Value()):
		p.IRI = o.Value()
	case len(g.about[o]) == 0 && o.Kind() == term.KindLiteral:
		p.Name = o.Value()
	default:
		p.Name = g.text(o, "name", "address")
		if o.Kind() == term.KindIRI && isURL(o.Value()) {
			p.IRI = o.Value()
		}
	}
	for _, geo := range append(g.all(o, "geo"), o) {
		if box := numbers(g.text(geo, "box")); len(box) == 4 {
			p.Box = []float64{box[1], box[0], box[3], box[2]}
			return p
		}
		lat, long := numbers(g.text(geo, "latitude")), numbers(g.text(geo, "longitude"))
		if len(lat) == 1 && len(long) == 1 {
			p.Geometry = "POINT(" + strconv.FormatFloat(long[0], 'f', -1, 64) + " " + strconv.FormatFloat(lat[0], 'f', -1, 64) + ")"
			return p
		}
	}
	return p
}

func numbers(s string) []float64 {
	var all []float64
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\t' }) {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// distribution reads a DataDownload, a Croissant FileObject or an address.
func (g graph) distribution(o term.Key, page string) (harvest.Distribution, bool) {
	d := harvest.Distribution{Title: g.text(o, "name"), Description: g.text(o, "description"), License: g.text(o, "license"),
		Issued: g.text(o, "datePublished", "uploadDate"), Modified: g.text(o, "dateModified"), Size: bytesOf(g.text(o, "contentSize"))}
	d.URL = g.text(o, "contentUrl", "downloadUrl")
	if d.URL == "" {
		d.URL = g.text(o, "url")
	}
	if len(g.about[o]) == 0 && o.Kind() != term.KindBlank {
		d.URL = strings.TrimSpace(o.Value())
	}
	if d.URL == "" {
		return d, false
	}
	if base, err := url.Parse(page); err == nil { // a literal may be a relative address
		if u, err := base.Parse(d.URL); err == nil {
			d.URL = u.String()
		}
	}
	if o.Kind() == term.KindIRI && isURL(o.Value()) && o.Value() != page && len(g.about[o]) > 0 {
		d.IRI = o.Value()
	}
	format := g.text(o, "encodingFormat", "fileFormat")
	if top, sub, ok := strings.Cut(format, "/"); ok && top != "" && sub != "" && !strings.Contains(format, "://") {
		d.MediaType = format
	} else {
		d.Format = format
	}
	for _, sum := range []string{"sha256", "md5"} {
		if v := g.text(o, sum); v != "" {
			d.Checksum, d.ChecksumAlg = v, sum
			break
		}
	}
	return d, isURL(d.URL)
}

// bytesOf parses a size like "12 KB", "3.4 MiB", "890 B" or "12". It returns 0 for anything else.
func bytesOf(s string) int64 {
	s = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(strings.TrimSpace(s)), "s"), "yte") // "12 bytes"
	n, err := humanize.ParseBytes(s)
	if err != nil || n > 1<<50 {
		return 0
	}
	return int64(n)
}

// statements returns the statements about a dataset, with its IRI as the subject, and about the blank nodes below it.
func (g graph) statements(s term.Key, iri string) []term.Quad {
	var said []term.Quad
	seen := map[term.Key]bool{s: true}
	name := func(k term.Key) term.Key {
		if k == s {
			return term.IRI(iri)
		}
		return k
	}
	for queue := []term.Key{s}; len(queue) > 0; queue = queue[1:] {
		for _, q := range g.about[queue[0]] {
			if len(said) >= maxStatements {
				return said
			}
			said = append(said, term.Quad{S: name(q.S), P: q.P, O: name(q.O)})
			if q.O.Kind() == term.KindBlank && !seen[q.O] {
				seen[q.O] = true
				queue = append(queue, q.O)
			}
		}
	}
	return said
}
