// Package describe describes what the archive knows in triples: resources, versions, fetches and tables as DCAT, CSVW
// and PROV.
//
// The functions that return quads are pure: equal facts give equal quads, including blank node labels, so describing
// twice adds nothing and the triples can be rebuilt from the records at any time. All quads are in the default graph.
// Text of strangers becomes literals, or IRIs in which characters that an IRI must not contain are percent-encoded.
package describe

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// graph collects statements about one subject after another.
type graph struct {
	quads   []term.Quad
	subject term.Key
}

func (g *graph) about(s term.Key) { g.subject = s }

func (g *graph) add(predicate string, o term.Key) {
	g.quads = append(g.quads, term.Quad{S: g.subject, P: term.IRI(predicate), O: o})
}

// maxText bounds a stranger's text in a statement, in bytes.
const maxText = 8 << 10

// text adds a plain string, unless it is blank.
func (g *graph) text(predicate, s string) {
	if len(s) > maxText {
		s = s[:maxText]
	}
	if s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD")); s != "" {
		g.add(predicate, term.String(s))
	}
}

func (g *graph) isA(class string) { g.add(vocab.RDFType, term.IRI(class)) }

func integer(n int64) term.Key { return term.Typed(strconv.FormatInt(n, 10), vocab.XSDInteger) }

// Time returns a time as the archive writes it: UTC with milliseconds.
func Time(t time.Time) term.Key {
	return term.Typed(t.UTC().Format("2006-01-02T15:04:05.000Z"), vocab.XSDDateTime)
}

// IRI returns a stranger's address as an IRI: characters that RFC 3987 forbids are percent-encoded, others stay as they
// are.
func IRI(address string) term.Key {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(address, "\uFFFD") {
		if r <= ' ' || strings.ContainsRune("<>\"{}|\\^`", r) || r == 0x7f {
			fmt.Fprintf(&b, "%%%02X", r)
			continue
		}
		b.WriteRune(r)
	}
	return term.IRI(b.String())
}

// absolute reports whether an address is an absolute IRI.
func absolute(address string) bool {
	scheme, rest, ok := strings.Cut(address, ":")
	return ok && rest != "" && scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

// Resource describes a resource, and the datasets and portals that list it.
func Resource(r catalog.Resource) []term.Quad {
	g := &graph{}
	url := IRI(r.URL)
	g.about(url)
	g.isA(vocab.DCATDistribution)
	g.text(vocab.DCTTitle, r.FileName)
	if r.Title != r.FileName {
		g.text(vocab.RDFSLabel, r.Title)
	}
	g.text(vocab.DCATMediaType, r.MediaType)
	g.text(vocab.DCTFormat, r.Format)
	g.text(vocab.ArcHost, r.Host)
	g.add(vocab.DCATAccessURL, url)
	if since := r.Delisted(); !since.IsZero() {
		g.add(vocab.ArcDelisted, Time(since))
	}
	for _, s := range r.Sources {
		g.source(url, s)
	}
	return g.quads
}

// SameResource reports that Resource describes two records alike, without describing them.
func SameResource(a, b catalog.Resource) bool {
	return a.URL == b.URL && a.Title == b.Title && a.FileName == b.FileName && a.MediaType == b.MediaType && a.Format == b.Format &&
		a.Host == b.Host &&
		slices.Equal(a.Sources, b.Sources)
}

// Portal describes a portal by its title. It returns nothing if either is missing.
func Portal(iri, title string) []term.Quad {
	g := &graph{}
	if absolute(iri) {
		g.about(IRI(iri))
		g.text(vocab.DCTTitle, title)
	}
	return g.quads
}

// source describes a listing.
func (g *graph) source(url term.Key, s catalog.Source) {
	portal, dataset := absolute(s.Portal), absolute(s.Dataset)
	if portal {
		g.about(url)
		g.add(vocab.ArcHasPortal, IRI(s.Portal))
		g.about(IRI(s.Portal))
		g.isA(vocab.DCATCatalog)
	}
	if portal && dataset {
		g.add(vocab.DCATDatasetProp, IRI(s.Dataset))
	}
	if dataset {
		g.about(IRI(s.Dataset))
		g.isA(vocab.DCATDataset)
		g.text(vocab.DCTTitle, s.DatasetTitle)
		g.add(vocab.DCATDistributionProp, url)
		g.add(vocab.DCATAccessURL, url)
	}
	if portal && dataset {
		g.add(vocab.ArcHasPortal, IRI(s.Portal))
	}
}

// Version describes a version, without what is inside it (Inside) and how it changed (Change).
func Version(m ns.Mint, v catalog.Version) []term.Quad {
	g := &graph{}
	iri, url := term.IRI(m.Version(v.ID)), IRI(v.URL)
	if v.ErrorPage == "" {
		g.about(url)
		g.add(vocab.DCTHasVersion, iri)
	}

	g.about(iri)
	g.isA(vocab.PROVEntity)
	g.text(vocab.ArcErrorPage, v.ErrorPage)
	g.text(vocab.ArcTruncated, v.Truncated)
	if w := v.Withdrawn; w != nil {
		g.add(vocab.ArcWithdrawn, Time(w.At))
		g.text(vocab.ArcWithdrawnBecause, w.Reason)
		g.text(vocab.ArcLegalBasis, w.Basis)
	}
	g.add(vocab.DCTIsVersionOf, url)
	g.add(vocab.DCTIdentifier, term.String(hex.EncodeToString(v.Digests.MD5[:])))
	g.add(vocab.DCTIssued, Time(v.At))
	g.add(vocab.DCATByteSize, integer(v.Size))
	g.text(vocab.DCATMediaType, v.Type)
	g.text(vocab.ArcCharset, v.Charset)
	g.text(vocab.ArcBecause, v.Because)
	g.text(vocab.ArcFileName, v.FileName)
	g.text(vocab.ArcETag, v.ETag)
	if v.Withdrawn == nil {
		g.add(vocab.DCATDownloadURL, iri)
	}
	if v.Activity != "" {
		g.add(vocab.PROVWasGeneratedBy, term.IRI(m.Activity(v.Activity)))
	}
	if v.Previous != "" {
		g.add(vocab.PROVWasRevisionOf, term.IRI(m.Version(v.Previous)))
	}
	checksum := term.Blank("sha256-" + v.ID)
	g.add(vocab.SPDXChecksumProp, checksum)
	g.about(checksum)
	g.isA(vocab.SPDXChecksum)
	g.add(vocab.SPDXAlgorithm, term.IRI(vocab.SPDXAlgorithmSHA256))
	g.add(vocab.SPDXChecksumValue, term.Typed(hex.EncodeToString(v.Digests.SHA256[:]), vocab.XSDHexBinary))
	return g.quads
}

// Activity describes one visit, or a stretch of visits that found the same.
func Activity(m ns.Mint, a catalog.Activity) []term.Quad {
	g := &graph{}
	g.about(term.IRI(m.Activity(a.ID)))
	g.isA(vocab.PROVActivity)
	g.add(vocab.PROVStartedAtTime, Time(a.Start))
	g.add(vocab.PROVUsed, IRI(a.URL))
	g.add(vocab.PROVWasAssociatedWith, term.IRI(m.Agent()))
	g.text(vocab.ArcOutcome, string(a.Outcome))
	g.text(vocab.ArcErrorClass, string(a.ErrorClass))
	g.text(vocab.ArcWhy, a.Why)
	g.text(vocab.ArcTLS, a.TLS)
	g.text(vocab.ArcRobotsException, a.Robots)
	if a.Status != 0 {
		g.add(vocab.ArcHTTPStatus, integer(int64(a.Status)))
	}
	if a.FinalURL != "" && a.FinalURL != a.URL {
		g.add(vocab.ArcFinalURL, IRI(a.FinalURL))
	}
	g.extent(a)
	return g.quads
}

// extent says what grows with a stretch: when its last visit ended, and how many visits it has, unless it is one.
func (g *graph) extent(a catalog.Activity) {
	g.add(vocab.PROVEndedAtTime, Time(a.End))
	if a.Visits > 1 {
		g.add(vocab.ArcVisits, integer(int64(a.Visits)))
	}
}

// Extend turns the description of a stretch into that of the same stretch with another visit.
func Extend(txn *triplestore.Txn, m ns.Mint, before, after catalog.Activity) error {
	was, is := &graph{}, &graph{}
	was.about(term.IRI(m.Activity(before.ID)))
	was.extent(before)
	is.about(was.subject)
	is.extent(after)
	return Replace(txn, was.quads, is.quads)
}
