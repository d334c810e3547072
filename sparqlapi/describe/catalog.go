package describe

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/describe/about"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const (
	dcatap      = "http://data.europa.eu/r5r/"
	catalogPage = 100 // datasets on one page of the catalog
	maxVersions = 50  // newest versions of a dataset; its description has their number, its TimeMap lists all
)

// Catalog answers GET /catalog, /catalog.ttl and so on: the archive as a DCAT-AP 3 catalog, in Hydra pages. Each
// resource with a version is a dcat:Dataset, and each of its newest versions is a dcat:Distribution.
func (l *LinkedData) Catalog(w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "Accept")
	_, format := Extension(r.URL.Path)
	if format == "" {
		format = r.URL.Query().Get("format")
	}
	f, err := choose(r, format, l.o.Document != nil)
	if err != nil {
		return err
	}
	for _, other := range usual() {
		w.Header().Add("Link", "</catalog."+other.name+`>; rel="alternate"; type="`+other.syntax.MediaType+`"`)
	}
	after := r.URL.Query().Get("after")
	page, next, err := l.page(r.Context(), after)
	if err != nil {
		return err
	}
	if after != "" && len(page) == 0 {
		return problem.Newf(http.StatusNotFound, "No such page", "the catalog has nothing after %q", after)
	}
	stats, err := l.o.Archive.Stats(r.Context())
	if err != nil {
		return err
	}
	var g graph
	self, file := l.o.Mint.Base+"catalog", "catalog?format="+f.name+"&"
	if f.html {
		file = "catalog.ttl?"
	} else if slices.ContainsFunc(usual(), func(u face) bool { return u.name == f.name }) {
		file = "catalog." + f.name + "?"
	}
	l.catalogHead(&g, self)
	l.hydraPage(&g, self, file, after, next, stats.Crawled)
	says, err := l.said(r.Context(), page)
	if err != nil {
		return err
	}
	for _, res := range page {
		var of about.Dataset
		if len(res.Datasets) > 0 {
			of = says[res.Datasets[0]]
		}
		if err := l.dataset(r.Context(), &g, term.IRI(self), res, of); err != nil {
			return err
		}
	}
	if f.html {
		return l.o.Document(w, r, l.o.Title, g)
	}
	return write(w, r, f.syntax, g)
}

// page returns the resources with a version that follow after, in the order of ids. next is where the next page
// continues, or "".
func (l *LinkedData) page(ctx context.Context, after string) (page []catalog.Resource, next string, err error) {
	err = l.o.Archive.Archived(ctx, after, func(r catalog.Resource) bool {
		page = append(page, r) // only these: DCAT-AP requires a distribution
		return len(page) <= catalogPage
	})
	if len(page) > catalogPage {
		page = page[:catalogPage]
		next = page[catalogPage-1].ID
	}
	return page, next, err
}

func (l *LinkedData) catalogHead(g *graph, self string) {
	c, publisher := term.IRI(self), term.IRI(self+"#publisher")
	g.add(c, vocab.RDFType, term.IRI(vocab.DCATCatalog))
	g.add(c, vocab.DCTTitle, term.Lang(l.o.Title, "en"))
	g.add(c, vocab.DCTDescription,
		term.Lang(
			"Files that open-data portals list, kept in every version that differed. A dataset of this catalog is one file's address, "+
				"its distributions are the versions.", "en"))
	g.add(c, vocab.DCTPublisher, publisher)
	g.add(c, vocab.FOAFHomepage, term.IRI(l.o.Mint.Base))
	g.add(term.IRI(l.o.Mint.Base), vocab.RDFType, term.IRI(vocab.FOAFDocument))
	g.add(publisher, vocab.RDFType, term.IRI(vocab.FOAFAgent))
	g.add(publisher, vocab.FOAFName, term.String(l.o.Publisher))
	english, taxonomy := term.IRI(authority+"language/ENG"), term.IRI(authority+"data-theme")
	g.add(c, vocab.DCTLanguage, english)
	g.add(english, vocab.RDFType, term.IRI(vocab.DCTNS+"LinguisticSystem"))
	g.add(c, vocab.DCATNS+"themeTaxonomy", taxonomy)
	g.add(taxonomy, vocab.RDFType, term.IRI(vocab.SKOSConceptScheme))
	g.add(taxonomy, vocab.DCTTitle, term.Lang("Data theme", "en"))
	service := term.IRI(l.o.Mint.Base + "sparql")
	g.add(c, vocab.DCATService, service)
	g.add(service, vocab.RDFType, term.IRI(vocab.DCATDataService))
	g.add(service, vocab.DCTTitle, term.Lang("SPARQL endpoint of the archive", "en"))
	g.add(service, vocab.DCATEndpointURL, service)
	g.add(service, vocab.DCATNS+"endpointDescription", service)
	g.add(service, vocab.DCTPublisher, publisher)
}

// hydraPage adds the position of the page in the collection, in the Hydra terms that DCAT-AP harvesters follow.
func (l *LinkedData) hydraPage(g *graph, self, file, after, next string, total int) {
	address := func(after string) term.Key {
		if after == "" {
			return term.IRI(l.o.Mint.Base + strings.TrimRight(file, "?&"))
		}
		return term.IRI(l.o.Mint.Base + file + url.Values{"after": {after}}.Encode())
	}
	collection, view := term.IRI(self), address(after)
	g.add(collection, vocab.RDFType, term.IRI(vocab.HydraCollection))
	g.add(collection, vocab.HydraTotalItems, integer(int64(total)))
	g.add(collection, vocab.HydraView, view)
	g.add(view, vocab.RDFType, term.IRI(vocab.HydraPartialCollectionView))
	g.add(view, vocab.HydraFirst, address(""))
	g.add(view, vocab.HydraItemsPerPage, integer(catalogPage))
	if next != "" {
		g.add(view, vocab.HydraNext, address(next))
	}
}

// dataset adds a file as a dataset, with what portals say of the dataset that it belongs to.
func (l *LinkedData) dataset(ctx context.Context, g *graph, of term.Key, res catalog.Resource, says about.Dataset) error {
	versions, err := l.o.Archive.Versions(ctx, res.URL)
	if err != nil {
		return err
	}
	if len(versions) == 0 {
		return nil // there is no distribution, which DCAT-AP requires
	}
	first, last := versions[0], versions[len(versions)-1]
	d := term.IRI(l.o.Mint.Page(res.URL))
	g.add(of, vocab.DCATDatasetProp, d)
	g.add(d, vocab.RDFType, term.IRI(vocab.DCATDataset))
	title := res.Title
	if title == "" {
		title = last.FileName
	}
	if title == "" {
		title = res.URL
	}
	g.add(d, vocab.DCTTitle, term.String(title))
	publisher, described := g.asPortals(d, "n"+res.ID, says)
	kept := "Archived versions of " + res.URL + ", " + strconv.Itoa(len(versions)) + " from " + first.At.UTC().Format("2006-01-02") +
		" to " + last.At.UTC().Format("2006-01-02") + "."
	if !described {
		g.add(d, vocab.DCTDescription, term.String(kept))
	}
	provenance := term.Blank("n" + res.ID + "provenance")
	g.add(d, vocab.DCTNS+"provenance", provenance)
	g.add(provenance, vocab.RDFType, term.IRI(vocab.DCTNS+"ProvenanceStatement"))
	g.add(provenance, vocab.RDFSLabel, term.Lang(kept, "en"))
	g.add(d, vocab.DCTIdentifier, term.String(res.ID))
	g.add(d, vocab.DCTIssued, describe.Time(first.At))
	g.add(d, vocab.DCTModified, describe.Time(last.At))
	if !publisher {
		g.add(d, vocab.DCTPublisher, term.IRI(l.o.Mint.Base+"catalog#publisher"))
	}
	g.add(d, vocab.DCATLandingPage, term.IRI(l.o.Mint.Page(res.URL)+"#page"))
	g.add(term.IRI(l.o.Mint.Page(res.URL)+"#page"), vocab.RDFType, term.IRI(vocab.FOAFDocument))
	for _, source := range res.Datasets {
		// the object of dct:source would have to be described as a dcat:Dataset here
		g.add(d, vocab.PROVWasDerivedFrom, describe.IRI(source))
	}
	for _, v := range versions[max(0, len(versions)-maxVersions):] {
		l.distribution(g, d, res, v, licenceOf(says, res.URL))
	}
	return nil
}

func (l *LinkedData) distribution(g *graph, d term.Key, res catalog.Resource, v catalog.Version, licence about.Thing) {
	iri := term.IRI(l.o.Mint.Version(v.ID))
	g.add(d, vocab.DCATDistributionProp, iri)
	g.add(iri, vocab.RDFType, term.IRI(vocab.DCATDistribution))
	g.add(iri, vocab.DCTTitle, term.String(v.FileName+", version "+strconv.Itoa(v.N)))
	g.add(iri, vocab.DCATAccessURL, iri)
	g.add(iri, vocab.DCATDownloadURL, iri)
	g.add(iri, vocab.RDFType, term.IRI("http://www.w3.org/2000/01/rdf-schema#Resource"))
	g.add(iri, vocab.DCTIssued, describe.Time(v.At))
	g.add(iri, vocab.DCATByteSize, term.Typed(strconv.FormatInt(v.Size, 10), vocab.XSDNS+"nonNegativeInteger"))
	if media := ianaType(v.Type); media != "" {
		g.add(iri, vocab.DCATMediaType, term.IRI(media))
		g.add(term.IRI(media), vocab.RDFType, term.IRI(vocab.DCTMediaType))
	}
	if format := euFormat(v.Type); format != "" {
		g.add(iri, vocab.DCTFormat, term.IRI(format))
		g.add(term.IRI(format), vocab.RDFType, term.IRI(vocab.DCTMediaTypeOrExtent))
	}
	g.add(iri, vocab.DCTDescription, term.String("The file as it was at "+res.URL+" on "+v.At.UTC().Format("2 January 2006")+"."))
	g.licence(iri, "n"+res.ID, licence)
	if v.Withdrawn == nil {
		stable := term.IRI(authority + "planned-availability/STABLE")
		g.add(iri, dcatap+"availability", stable)
		g.add(stable, vocab.RDFType, term.IRI(vocab.SKOSConcept))
		g.add(stable, vocab.SKOSPrefLabel, term.Lang("stable", "en"))
	}
	checksum := term.Blank("sum" + v.ID)
	g.add(iri, vocab.SPDXChecksumProp, checksum)
	g.add(checksum, vocab.RDFType, term.IRI(vocab.SPDXChecksum))
	g.add(checksum, vocab.SPDXAlgorithm, term.IRI(vocab.SPDXAlgorithmSHA256))
	g.add(term.IRI(vocab.SPDXAlgorithmSHA256), vocab.RDFType, term.IRI(vocab.SPDXNS+"ChecksumAlgorithm"))
	g.add(checksum, vocab.SPDXChecksumValue, term.Typed(hex.EncodeToString(v.Digests.SHA256[:]), vocab.XSDHexBinary))
}
