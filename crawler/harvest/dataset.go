package harvest

import (
	"time"

	"odarchive/triplestore/term"
)

// Portal is a catalog as its source describes it. Only IRI is required.
type Portal struct {
	IRI         string // the portal's own address; its datasets' graph is named after it
	Title       string
	Description string
	Homepage    string
	Software    string // "CKAN 2.10", "Dataverse", as far as the source says
	Publisher   Agent
	Language    []string
	Statements  []term.Quad // further statements, kept as they are; their G is ignored
}

// Dataset is one entry of a portal, in the words of DCAT 3. Only IRI is required; "" and zero mean that the source does
// not say. Text is plain text in UTF-8, as long as the source made it.
type Dataset struct {
	IRI         string // stable from one harvest to the next: the dataset's page at the portal, else minted under the portal's IRI
	Title       []Text
	Description []Text
	Keywords    []Text
	Themes      []string // IRIs or words
	Identifiers []string
	LandingPage string
	License     string // IRI or words, as declared
	Rights      string
	AccessLevel string // "public", "restricted public", "non-public", an access-rights IRI
	Publisher   Agent
	Creators    []Agent
	Contact     Agent
	Frequency   string // accrual periodicity as declared: an IRI of EU or DC frequencies, "R/P1W", "weekly"
	Issued      string // as declared; written as xsd:date or xsd:dateTime where it is one
	Modified    string
	Spatial     []Place
	Temporal    []Period
	Language    []string
	Version     string
	Conforms    []string // standards, IRIs or words
	IsPartOf    []string // IRIs of collections, series, organisations' catalogs
	Extras      map[string]string

	Distributions []Distribution

	// Statements are the source's own where it speaks RDF (or more than fits above); their G is ignored. Where Verbatim
	// is true they are the whole description and the fields above only make seeds.
	Statements []term.Quad
	Verbatim   bool
}

// Distribution is one form of a dataset that can be fetched or asked for.
type Distribution struct {
	IRI         string // "" where the source has none; then its URL stands for it
	URL         string // what is crawled: the download URL, else the access URL
	AccessURL   string // where it differs from URL
	Title       string
	Description string
	Format      string // as declared: "CSV"
	MediaType   string // as declared: "text/csv"
	License     string
	Size        int64 // bytes, 0 = not said
	Checksum    string
	ChecksumAlg string // "md5", "sha1", "sha256"
	Issued      string
	Modified    string
	Conforms    []string
	Service     bool // an API or a page for people: described, but not crawled
}

// Text is a string with its language tag, "" for none.
type Text struct{ Value, Lang string }

// Agent is an organisation or a person.
type Agent struct{ IRI, Name, Email, URL, Type string }

// Place is a spatial coverage: any of an IRI, a name, a geometry (GeoJSON or WKT) or a box.
type Place struct {
	IRI, Name, Geometry string
	Box                 []float64 // west, south, east, north in degrees; nil where there is none
}

// Period is a temporal coverage; each end as declared, "" for open.
type Period struct{ Start, End string }

// PeriodOf is the update period that a declared frequency means, 0 where it means none: IRIs of the EU and Dublin Core
// frequency lists, ISO 8601 repeating intervals ("R/P1Y"), words of several languages ("weekly", "jährlich").
func PeriodOf(frequency string) time.Duration { return frequencyPeriod(frequency) }
