// Cites datasets, files and versions: as a sentence, for programs that manage references (BibTeX, RIS,
// CSL-JSON), as metadata that DataCite takes to register a DOI, as ARKs, and as links by which machines find their way
// from page to bytes (signposting).
//
// A Work is what there is to cite. What portals say of a dataset is collected from their graphs (Collector). Of what is
// unknown, nothing is invented: a dataset without authors is cited under its publisher, and one without either under
// the host that publishes it.

package describe

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"time"

	"odarchive/ns"
)

// Work is a version, a file or a dataset, as a citation needs it.
type Work struct {
	ID          string // of the version, or of the resource; "" for a dataset of a portal
	Title       string
	Authors     []string // names of people or organisations; may be empty
	AuthorIRIs  []string // of those that have one
	Publisher   string   // "" if it is not known
	Host        string   // that the data come from
	Description string
	Keywords    []string
	Language    string
	Licence     string    // an IRI, or whatever the portal calls it
	Published   time.Time // by its publisher; zero if it is not known
	DOI         string    // of the original, as the portal says; "" for none
	URL         string    // of the original: the file, or the page of the dataset
	Dataset     string    // IRI of the dataset that lists it, "" for none

	IRI      string    // the archive's own, which the citation names
	Version  int       // number, -1 unless it is one version
	Archived time.Time // of the version, or of the latest one; zero if nothing was archived
	Type     string    // media type
	Size     int64
	SHA256   string // hexadecimal
	Proof    string // address of the proof of the version, "" for none
	Archive  string // host of the archive
}

// Creators returns whom the work is cited under.
func (w Work) Creators() []string {
	if len(w.Authors) > 0 {
		return w.Authors
	}
	return []string{cmp.Or(w.Publisher, w.Host, w.Archive)}
}

// From returns who published the original.
func (w Work) From() string { return cmp.Or(w.Publisher, w.Host, w.Archive) }

// Date returns the date that the citation has: that of the version that is cited, also where it is the latest of a
// file. For a dataset of several files, it is that of the publication.
func (w Work) Date() time.Time {
	if w.SHA256 == "" && !w.Published.IsZero() || w.Archived.IsZero() {
		return w.Published
	}
	return w.Archived
}

// year returns the year of the citation, "n.d." if there is none.
func (w Work) year() string {
	if d := w.Date(); !d.IsZero() {
		return d.UTC().Format("2006")
	}
	return "n.d."
}

// key identifies the work in a bibliography.
func (w Work) key() string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(w.Host))
	if w.Version >= 0 {
		return fmt.Sprintf("%s%sv%d_%.8s", name, w.year(), w.Version, w.ID)
	}
	return fmt.Sprintf("%s%s_%.8s", name, w.year(), cmp.Or(w.ID, ns.ResourceID(w.URL)))
}

const dayForm = "2006-01-02"

// version returns the number of the version as text, "" unless the work is one.
func (w Work) version() string {
	if w.Version < 0 {
		return ""
	}
	return fmt.Sprint(w.Version)
}

// terms returns the note with what most formats have no field for: the licence, and where the evidence is.
func (w Work) terms() string {
	note := w.note()
	if w.Licence != "" {
		note += "; licence: " + line(w.Licence)
	}
	if w.Proof != "" {
		note += "; proof: " + w.Proof
	}
	return note
}

// note says where the bytes are from, in one sentence, or where what was never archived is listed.
func (w Work) note() string {
	if w.Archived.IsZero() {
		return "Listed at " + w.URL
	}
	note := "Archived from " + w.URL + " on " + w.Archived.UTC().Format("2006-01-02 15:04:05 UTC")
	if w.SHA256 != "" && w.Version >= 0 {
		note += "; SHA-256 " + w.SHA256
	}
	return note
}

// Text returns the citation as a sentence.
func (w Work) Text() string {
	s := strings.Join(w.Creators(), "; ") + " (" + w.year() + "). " + strings.TrimSuffix(w.Title, ".")
	if w.Version >= 0 {
		s += ", version " + w.version()
	}
	s += " [Data set]. "
	if from := w.From(); len(w.Authors) > 0 && from != "" {
		s += strings.TrimSuffix(from, ".") + ". "
	}
	return s + w.note() + ". " + w.IRI
}

// RobustLink returns a link to the original in HTML which says where it is archived, by the convention of Robust Links.
func (w Work) RobustLink() string {
	attributes := ""
	if w.Version >= 0 {
		attributes = fmt.Sprintf(` data-versionurl="%s"`, html.EscapeString(w.IRI))
	}
	if !w.Archived.IsZero() {
		attributes += fmt.Sprintf(` data-versiondate="%s"`, w.Archived.UTC().Format(dayForm))
	}
	return fmt.Sprintf(`<a href="%s"%s>%s</a>`, html.EscapeString(w.URL), attributes, html.EscapeString(w.Title))
}
