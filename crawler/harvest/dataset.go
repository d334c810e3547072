package harvest

import (
	"time"

	"odarchive/triplestore/term"
)

// Portal is a catalog as its source describes it. Only IRI is required.
type Portal struct {
	IRI         string // IRI of the portal, after which the graph of its datasets is named
	Title       string
	Description string
	Homepage    string
	Software    string // "CKAN 2.10", "Dataverse", as far as the source says
	Publisher   Agent
	Language    []string
	Statements  []term.Quad // further statements, kept unchanged; their G is ignored
	TellsGone   bool        // a harvest of changes reports every removal (Gone)
}

// Dataset is one entry of a portal, in terms of DCAT 3. Only IRI is required; "" and zero mean that the source does not
// say. Texts are plain UTF-8 of any length.
type Dataset struct {
	IRI         string // stable across harvests: the dataset's page at the portal, or else minted under the portal's IRI
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
	Issued      string // as declared; written as xsd:date or xsd:dateTime if it is one
	Modified    string
	Spatial     []Place
	Temporal    []Period
	Language    []string
	Version     string
	Conforms    []string // standards, IRIs or words
	IsPartOf    []string // IRIs of collections, series, organisations' catalogs
	Extras      map[string]string

	Distributions []Distribution
	Unaddressed   int // files that the source counts and gives no address of

	// Statements are the source's own, if it uses RDF or says more than fits above; their G is ignored. If Verbatim is
	// true, they are the whole description, and the fields above are used only for seeds.
	Statements []term.Quad
	Verbatim   bool
}

// Distribution is one form of a dataset that can be fetched or queried.
type Distribution struct {
	IRI         string // "" means URL
	URL         string // crawled address: the download URL, else the access URL
	AccessURL   string // if it differs from URL
	Title       string
	Description string
	Format      string // as declared: "CSV"
	MediaType   string // as declared: "text/csv"
	License     string
	Size        int64 // in bytes; 0 means unknown
	Checksum    string
	ChecksumAlg string // "md5", "sha1", "sha256"
	Issued      string
	Modified    string
	Conforms    []string
	Service     bool // an API or a page for people, which is described but not crawled
}

// Text is a string with its language tag, which may be "".
type Text struct{ Value, Lang string }

// Agent is an organisation or a person.
type Agent struct{ IRI, Name, Email, URL, Type string }

// Place is a spatial coverage: any of an IRI, a name, a geometry (GeoJSON or WKT) or a box.
type Place struct {
	IRI, Name, Geometry string
	Box                 []float64 // west, south, east, north in degrees, or nil
}

// Period is a temporal coverage. Its ends are as declared; "" means open.
type Period struct{ Start, End string }

// PeriodOf returns the update period that a declared frequency means, 0 if it means none. It understands IRIs of the EU
// and Dublin Core frequency lists, ISO 8601 repeating intervals ("R/P1Y") and words in several languages ("weekly",
// "jährlich").
func PeriodOf(frequency string) time.Duration { return frequencyPeriod(frequency) }
