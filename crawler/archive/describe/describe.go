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
	"odarchive/vocab/arc"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/prov"
	"odarchive/vocab/rdf"
	"odarchive/vocab/rdfs"
	"odarchive/vocab/spdx"
	"odarchive/vocab/xsd"
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

func (g *graph) isA(class string) { g.add(rdf.Type, term.IRI(class)) }

func integer(n int64) term.Key { return term.Typed(strconv.FormatInt(n, 10), xsd.Integer) }

// Time returns a time as the archive writes it: UTC with milliseconds.
func Time(t time.Time) term.Key {
	return term.Typed(t.UTC().Format("2006-01-02T15:04:05.000Z"), xsd.DateTime)
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
	g.isA(dcat.Distribution)
	g.text(dcterms.Title, r.FileName)
	if r.Title != r.FileName {
		g.text(rdfs.Label, r.Title)
	}
	g.text(dcat.MediaType, r.MediaType)
	g.text(dcterms.Format, r.Format)
	g.text(arc.Host, r.Host)
	g.add(dcat.AccessURL, url)
	if since := r.Delisted(); !since.IsZero() {
		g.add(arc.Delisted, Time(since))
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
		g.text(dcterms.Title, title)
	}
	return g.quads
}

// source describes a listing.
func (g *graph) source(url term.Key, s catalog.Source) {
	portal, dataset := absolute(s.Portal), absolute(s.Dataset)
	if portal {
		g.about(url)
		g.add(arc.HasPortal, IRI(s.Portal))
		g.about(IRI(s.Portal))
		g.isA(dcat.Catalog)
	}
	if portal && dataset {
		g.add(dcat.DatasetProp, IRI(s.Dataset))
	}
	if dataset {
		g.about(IRI(s.Dataset))
		g.isA(dcat.Dataset)
		g.text(dcterms.Title, s.DatasetTitle)
		g.add(dcat.DistributionProp, url)
		g.add(dcat.AccessURL, url)
	}
	if portal && dataset {
		g.add(arc.HasPortal, IRI(s.Portal))
	}
}

// Version describes a version, without what is inside it (Inside) and how it changed (Change).
func Version(m ns.Mint, v catalog.Version) []term.Quad {
	g := &graph{}
	iri, url := term.IRI(m.Version(v.ID)), IRI(v.URL)
	if v.ErrorPage == "" {
		g.about(url)
		g.add(dcterms.HasVersion, iri)
	}

	g.about(iri)
	g.isA(prov.Entity)
	g.text(arc.ErrorPage, v.ErrorPage)
	g.text(arc.Truncated, v.Truncated)
	if w := v.Withdrawn; w != nil {
		g.add(arc.Withdrawn, Time(w.At))
		g.text(arc.WithdrawnBecause, w.Reason)
		g.text(arc.LegalBasis, w.Basis)
	}
	g.add(dcterms.IsVersionOf, url)
	g.add(dcterms.Identifier, term.String(hex.EncodeToString(v.Digests.MD5[:])))
	g.add(dcterms.Issued, Time(v.At))
	g.add(dcat.ByteSize, integer(v.Size))
	g.text(dcat.MediaType, v.Type)
	g.text(arc.Charset, v.Charset)
	g.text(arc.Because, v.Because)
	g.text(arc.FileName, v.FileName)
	g.text(arc.ETag, v.ETag)
	if v.Withdrawn == nil {
		g.add(dcat.DownloadURL, iri)
	}
	if v.Activity != "" {
		g.add(prov.WasGeneratedBy, term.IRI(m.Activity(v.Activity)))
	}
	if v.Previous != "" {
		g.add(prov.WasRevisionOf, term.IRI(m.Version(v.Previous)))
	}
	checksum := term.Blank("sha256-" + v.ID)
	g.add(spdx.ChecksumProp, checksum)
	g.about(checksum)
	g.isA(spdx.Checksum)
	g.add(spdx.Algorithm, term.IRI(spdx.AlgorithmSHA256))
	g.add(spdx.ChecksumValue, term.Typed(hex.EncodeToString(v.Digests.SHA256[:]), xsd.HexBinary))
	return g.quads
}

// Activity describes one visit, or a stretch of visits that found the same.
func Activity(m ns.Mint, a catalog.Activity) []term.Quad {
	g := &graph{}
	g.about(term.IRI(m.Activity(a.ID)))
	g.isA(prov.Activity)
	g.add(prov.StartedAtTime, Time(a.Start))
	g.add(prov.Used, IRI(a.URL))
	g.add(prov.WasAssociatedWith, term.IRI(m.Agent()))
	g.text(arc.Outcome, string(a.Outcome))
	g.text(arc.ErrorClass, string(a.ErrorClass))
	g.text(arc.Why, a.Why)
	g.text(arc.TLS, a.TLS)
	g.text(arc.RobotsException, a.Robots)
	if a.Status != 0 {
		g.add(arc.HTTPStatus, integer(int64(a.Status)))
	}
	if a.FinalURL != "" && a.FinalURL != a.URL {
		g.add(arc.FinalURL, IRI(a.FinalURL))
	}
	g.extent(a)
	return g.quads
}

// extent says what grows with a stretch: when its last visit ended, and how many visits it has, unless it is one.
func (g *graph) extent(a catalog.Activity) {
	g.add(prov.EndedAtTime, Time(a.End))
	if a.Visits > 1 {
		g.add(arc.Visits, integer(int64(a.Visits)))
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
