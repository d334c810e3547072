package datajson

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// dataset emits a dataset of a catalog.
func (w *walk) dataset(v loose.Value, about *catalog) error {
	d, ok := w.read(v)
	if !ok {
		w.out.Skip(fmt.Sprintf("entry number %d has neither identifier nor title nor distribution", w.n))
		return nil
	}
	if id := portalapi.Link(about.object().First("@id", "identifier")); about.nested && portalapi.IsLink(id) {
		d.IsPartOf = append(d.IsPartOf, id)
	}
	w.seen[d.IRI] = true
	return w.out.Dataset(d)
}

// embedded emits the datasets inside a series or a service and returns their IRIs. Those that are also listed elsewhere
// are emitted once.
func (w *walk) embedded(list loose.Value, partOf string) ([]string, error) {
	var iris []string
	for _, v := range list.List() {
		if t := portalapi.Link(v); t != "" && v.Get("title").IsNull() {
			iris = append(iris, w.mint(t))
			continue
		}
		d, ok := w.read(v)
		if !ok {
			continue
		}
		iris = append(iris, d.IRI)
		if w.seen[d.IRI] {
			continue
		}
		w.seen[d.IRI] = true
		if partOf != "" && !slices.Contains(d.IsPartOf, partOf) {
			d.IsPartOf = append(d.IsPartOf, partOf)
		}
		if err := w.out.Dataset(d); err != nil {
			return nil, err
		}
	}
	return iris, nil
}

// series emits a dataset and the datasets that are its members.
func (w *walk) series(v loose.Value, _ *catalog) error {
	d, ok := w.read(v)
	if !ok {
		return nil
	}
	if err := w.out.Dataset(d); err != nil {
		return err
	}
	for _, name := range []string{"seriesMember", "first", "last"} {
		if _, err := w.embedded(v.Get(name), d.IRI); err != nil {
			return err
		}
	}
	return nil
}

// service emits statements about a service.
func (w *walk) service(v loose.Value, _ *catalog) error {
	iri := w.iriOf(v)
	if iri == "" {
		w.out.Skip(fmt.Sprintf("entry number %d is a service without an identifier and a title", w.n))
		return nil
	}
	served, err := w.embedded(v.Get("servesDataset"), "")
	if err != nil {
		return err
	}
	quads := []term.Quad{w.quad(iri, vocab.RDFType, term.IRI(vocab.DCATDataService))}
	for _, t := range portalapi.Texts(v.Get("title")) {
		quads = append(quads, w.quad(iri, vocab.DCTTitle, term.String(t.Value)))
	}
	for _, endpoint := range portalapi.Links(v.Get("endpointURL")) {
		if portalapi.IsLink(endpoint) {
			quads = append(quads, w.quad(iri, vocab.DCATEndpointURL, term.IRI(endpoint)))
		}
	}
	for _, d := range served {
		quads = append(quads, w.quad(iri, vocab.DCATServesDataset, term.IRI(d)))
	}
	return w.quads(quads)
}

// record emits statements about when a dataset entered the catalog and changed in it.
func (w *walk) record(v loose.Value, _ *catalog) error {
	topic := portalapi.Link(v.Get("primaryTopic"))
	id := v.Get("@id").Text()
	if topic == "" || !portalapi.IsLink(id) {
		return nil // it says nothing
	}
	quads := []term.Quad{
		w.quad(id, vocab.RDFType, term.IRI(vocab.DCATCatalogRecord)),
		w.quad(id, vocab.FOAFPrimaryTopic, term.IRI(w.mint(topic))),
	}
	for _, f := range []struct{ name, property string }{{"title", vocab.DCTTitle}, {"issued", vocab.DCTIssued},
		{"modified", vocab.DCTModified}} {
		if t := v.Get(f.name).Text(); t != "" {
			quads = append(quads, w.quad(id, f.property, term.String(t)))
		}
	}
	return w.quads(quads)
}

func (w *walk) quad(s, p string, o term.Key) term.Quad {
	return term.Quad{S: term.IRI(s), P: term.IRI(p), O: o}
}

func (w *walk) quads(quads []term.Quad) error {
	for _, q := range quads {
		if err := w.out.Quad(q); err != nil {
			return err
		}
	}
	return nil
}

// mint returns an identifier as an IRI.
func (w *walk) mint(identifier string) string {
	if portalapi.IsLink(identifier) {
		return identifier
	}
	return w.address + "#" + url.PathEscape(identifier)
}

// iriOf returns the IRI of an entry: its identifier, or else a hash of its title and addresses, "" if it has none of
// these.
func (w *walk) iriOf(v loose.Value) string {
	id := v.Get("identifier")
	if at := v.Get("@id").Text(); portalapi.IsLink(at) {
		w.byID = true
		return at
	}
	if t := cmp.Or(portalapi.Link(id), id.Get("notation").Text()); t != "" {
		return w.mint(t)
	}
	made := v.Get("title").JSON()
	for _, d := range v.Get("distribution").List() {
		made += " " + d.First("downloadURL", "accessURL").Text()
	}
	if strings.TrimSpace(made) == "null" {
		return ""
	}
	sum := sha256.Sum256([]byte(made))
	return w.address + "#~" + hex.EncodeToString(sum[:8])
}

// read returns an entry as a dataset, false if nothing identifies it.
func (w *walk) read(v loose.Value) (harvest.Dataset, bool) {
	iri := w.iriOf(v)
	if iri == "" || !v.IsObject() {
		return harvest.Dataset{}, false
	}
	d := harvest.Dataset{
		IRI:         iri,
		Title:       portalapi.Texts(v.Get("title")),
		Description: portalapi.Texts(v.Get("description")),
		Keywords:    keywords(v.First("keyword", "keywords")),
		Themes:      portalapi.Words(v.Get("theme")),
		Identifiers: identifiers(v),
		LandingPage: portalapi.Link(v.First("landingPage", "homepage")),
		License:     portalapi.Plain(portalapi.Link(v.Get("license"))),
		Rights:      strings.Join(portalapi.Words(v.Get("rights")), "\n"),
		AccessLevel: cmp.Or(v.Get("accessLevel").Text(), portalapi.Link(v.Get("accessRights"))),
		Publisher:   portalapi.Agent(v.Get("publisher")),
		Creators:    portalapi.Agents(v.Get("creator")),
		Contact:     portalapi.Agent(v.Get("contactPoint")),
		Frequency:   portalapi.Link(v.Get("accrualPeriodicity")),
		Issued:      v.First("issued", "releaseDate").Text(),
		Modified:    v.Get("modified").Text(),
		Spatial:     portalapi.Places(v.Get("spatial")),
		Temporal:    portalapi.Periods(v.Get("temporal")),
		Language:    portalapi.Links(v.Get("language")),
		Version:     v.Get("version").Text(),
		Conforms:    portalapi.Links(v.Get("conformsTo")),
		Extras:      map[string]string{},
	}
	if mail := portalapi.Email(v.Get("mbox").Text()); mail != "" { // version 1.0
		d.Contact.Email = mail
	}
	if strings.HasPrefix(d.Modified, "R/") { // a repeating interval is a frequency
		d.Frequency, d.Modified = cmp.Or(d.Frequency, d.Modified), ""
	}
	for _, t := range append(portalapi.Links(v.Get("isPartOf")), portalapi.Links(v.Get("inSeries"))...) {
		d.IsPartOf = append(d.IsPartOf, w.mint(t))
	}
	for name, m := range v.Members() {
		if known[name] || m.Empty() || strings.HasPrefix(name, "@") {
			continue
		}
		d.Extras[name] = cmp.Or(strings.Join(m.Texts(), ", "), m.JSON())
	}
	for _, m := range v.Get("distribution").List() {
		d.List(w.distribution(m))
	}
	for _, name := range []string{"accessURL", "webService"} { // version 1.0
		at := portalapi.Resolve(w.root+"/", v.Get(name).Text())
		if at == "" || slices.ContainsFunc(d.Distributions, func(o harvest.Distribution) bool { return o.URL == at }) {
			continue
		}
		d.Distributions = append(d.Distributions,
			harvest.Distribution{URL: at, Format: v.Get("format").Text(), Size: v.Get("size").Int(), Service: name == "webService"})
	}
	return d, true
}

// known lists the members that have a field of their own.
var known = map[string]bool{"title": true, "description": true, "keyword": true, "keywords": true, "theme": true, "identifier": true,
	"landingPage": true, "homepage": true,
	"license": true, "rights": true, "accessLevel": true, "accessRights": true, "publisher": true, "creator": true, "contactPoint": true,
	"mbox":               true,
	"accrualPeriodicity": true, "issued": true, "releaseDate": true, "modified": true, "spatial": true, "temporal": true, "language": true,
	"version":    true,
	"conformsTo": true, "isPartOf": true, "inSeries": true, "distribution": true, "accessURL": true, "webService": true, "format": true,
	"size":         true,
	"seriesMember": true, "first": true, "last": true}

func (w *walk) distribution(v loose.Value) harvest.Distribution {
	if t := v.Text(); t != "" {
		return harvest.Distribution{URL: portalapi.Resolve(w.root+"/", t)}
	}
	download := portalapi.Resolve(w.root+"/", portalapi.Link(v.Get("downloadURL")))
	access := portalapi.Resolve(w.root+"/", portalapi.Link(v.Get("accessURL")))
	dist := harvest.Distribution{
		IRI:         portalapi.OnlyLink(v.Get("@id").Text()),
		URL:         cmp.Or(download, access),
		Title:       harvest.FirstText(portalapi.Texts(v.Get("title"))),
		Description: harvest.FirstText(portalapi.Texts(v.Get("description"))),
		Format:      cmp.Or(portalapi.Link(v.Get("format")), harvest.FirstText(portalapi.Texts(v.Get("format")))),
		MediaType:   portalapi.Link(v.Get("mediaType")),
		License:     portalapi.Plain(portalapi.Link(v.Get("license"))),
		Size:        v.First("byteSize", "size").Int(),
		Issued:      v.Get("issued").Text(),
		Modified:    v.Get("modified").Text(),
		Conforms:    portalapi.Links(v.Get("conformsTo")),
	}
	if access != dist.URL {
		dist.AccessURL = access
	}
	if sum := v.Get("checksum"); sum.IsObject() {
		alg := strings.ToLower(portalapi.Link(sum.Get("algorithm")))
		for _, known := range []string{"md5", "sha1", "sha256"} {
			if strings.HasSuffix(strings.ReplaceAll(alg, "-", ""), known) {
				dist.Checksum, dist.ChecksumAlg = strings.ToLower(sum.Get("checksumValue").Text()), known
			}
		}
	}
	dist.Service = download == "" && portalapi.IsService(dist.Format)
	return dist
}

func identifiers(v loose.Value) []string {
	id := v.Get("identifier")
	all := portalapi.Links(v.Get("otherIdentifier"))
	if t := cmp.Or(portalapi.Link(id), id.Get("notation").Text()); t != "" {
		all = append([]string{t}, all...)
	}
	return all
}

// keywords reads a list, or the comma-separated string of version 1.0.
func keywords(v loose.Value) []harvest.Text {
	if t := v.Text(); strings.Contains(t, ",") {
		var words []harvest.Text
		for _, k := range strings.Split(t, ",") {
			if k = strings.TrimSpace(k); k != "" {
				words = append(words, harvest.Text{Value: k})
			}
		}
		return words
	}
	return portalapi.Texts(v)
}
