package quality

import (
	"math"
	"net/mail"
	"net/url"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
	"odarchive/vocab"
)

// Known is what the archive knows of a URL.
type Known struct {
	Visited   bool   // it was fetched at least once
	Retrieved bool   // the last fetch returned a file, possibly unchanged
	MediaType string // of the latest version, as detected; "" if there is none
	Size      int64  // of the latest version, in bytes
}

// Measure measures a dataset by the statements about it and the nodes around it. known returns what the archive knows
// of a URL; if it is nil, metrics that need it have no value.
func Measure(dataset term.Key, about []term.Quad, known func(address string) Known) []Measurement {
	g := graph{}
	for _, q := range about {
		g[q.S] = append(g[q.S], q)
	}
	m := &measuring{graph: g, dataset: dataset, known: known}
	m.distributions = g.all(dataset, vocab.DCATDistributionProp)
	m.existence()
	m.conformance()
	m.accuracy()
	m.openness()
	return m.found
}

// graph holds statements by subject.
type graph map[term.Key][]term.Quad

// all returns the objects of properties, without blank literals.
func (g graph) all(s term.Key, properties ...string) []term.Key {
	var found []term.Key
	for _, p := range properties {
		for _, q := range g[s] {
			if q.P.Value() == p && (q.O.Kind() != term.KindLiteral || strings.TrimSpace(q.O.Value()) != "") {
				found = append(found, q.O)
			}
		}
	}
	return found
}

func (g graph) has(s term.Key, properties ...string) bool { return len(g.all(s, properties...)) > 0 }

// words returns the text of a value: a literal, an IRI, or the name of a blank node.
func (g graph) words(o term.Key) string {
	if o.Kind() != term.KindBlank {
		return strings.TrimSpace(o.Value())
	}
	for _, name := range g.all(o, vocab.RDFValue, vocab.RDFSLabel, vocab.SKOSPrefLabel, vocab.DCTTitle, vocab.FOAFName,
		vocab.DCTIdentifier) {
		if name.Kind() != term.KindBlank {
			return strings.TrimSpace(name.Value())
		}
	}
	return ""
}

// measuring is the state of measuring one dataset.
type measuring struct {
	graph
	dataset       term.Key
	distributions []term.Key
	known         func(string) Known
	found         []Measurement
}

func (m *measuring) set(metric Metric, value float64) {
	m.found = append(m.found, Measurement{metric, round(value)})
}

// tally counts how many of all things have a property.
type tally struct{ yes, all int }

func (t *tally) add(yes bool) {
	t.all++
	if yes {
		t.yes++
	}
}

// share sets a metric to the share of a tally, if that counted anything.
func (m *measuring) share(metric Metric, t tally) {
	if t.all > 0 {
		m.set(metric, float64(t.yes)/float64(t.all))
	}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// shareOfDistributions returns the share of distributions that have one of the properties, 0 if there are no
// distributions.
func (m *measuring) shareOfDistributions(properties ...string) float64 {
	var t tally
	for _, d := range m.distributions {
		t.add(m.has(d, properties...))
	}
	if t.all == 0 {
		return 0
	}
	return float64(t.yes) / float64(t.all)
}

// anywhere reports whether the dataset or one of its distributions has one of the properties.
func (m *measuring) anywhere(properties ...string) bool {
	return m.has(m.dataset, properties...) || m.shareOfDistributions(properties...) > 0
}

func (m *measuring) existence() {
	d := m.dataset
	m.set(ExistenceAccess, m.shareOfDistributions(vocab.DCATAccessURL, vocab.DCATDownloadURL))
	m.set(ExistenceDiscovery, (one(m.has(d, vocab.DCTTitle))+one(m.has(d, vocab.DCTDescription))+
		one(m.has(d, vocab.DCATKeyword, vocab.DCATTheme)))/3)
	m.set(ExistenceContact, one(m.has(d, vocab.DCATContactPoint, vocab.DCTPublisher)))
	m.set(ExistenceRights, one(m.anywhere(vocab.DCTLicense, vocab.DCTRights)))
	m.set(ExistencePreservation,
		(one(m.has(d, vocab.DCTAccrualPeriodicity))+m.shareOfDistributions(vocab.DCTFormat, vocab.DCATMediaType)+
			m.shareOfDistributions(vocab.DCATByteSize))/3)
	m.set(ExistenceDate, (one(m.anywhere(vocab.DCTIssued))+one(m.anywhere(vocab.DCTModified)))/2)
	m.set(ExistenceTemporal, one(m.has(d, vocab.DCTTemporal)))
	m.set(ExistenceSpatial, one(m.has(d, vocab.DCTSpatial)))
}

func (m *measuring) conformance() {
	var addresses, mails, urls, dates, licenses, formats tally
	for _, d := range m.distributions {
		for _, o := range m.all(d, vocab.DCATAccessURL, vocab.DCATDownloadURL) {
			addresses.add(isURL(o.Value()))
		}
		for _, f := range m.formats(d) {
			_, ok := formatOf(f)
			formats.add(ok)
		}
	}
	for _, agent := range m.all(m.dataset, vocab.DCATContactPoint, vocab.DCTPublisher, vocab.DCTCreator) {
		for _, o := range m.all(agent, vocab.VCardHasEmail, vocab.FOAFMbox) {
			mails.add(isMail(m.words(o)))
		}
		for _, o := range m.all(agent, vocab.VCardHasURL, vocab.FOAFHomepage) {
			urls.add(isURL(m.words(o)))
		}
	}
	for _, s := range append([]term.Key{m.dataset}, m.distributions...) {
		for _, o := range m.all(s, vocab.DCTIssued, vocab.DCTModified) {
			dates.add(isDate(o))
		}
		for _, o := range m.all(s, vocab.DCTLicense) {
			_, ok := catalog.LicenceOf(m.words(o))
			licenses.add(ok)
		}
	}
	m.share(ConformanceAccess, addresses)
	m.share(ConformanceEmail, mails)
	m.share(ConformanceURL, urls)
	m.share(ConformanceDate, dates)
	m.share(ConformanceLicense, licenses)
	m.share(ConformanceFormat, formats)
}

// formats returns the declared formats and media types of a distribution.
func (m *measuring) formats(d term.Key) []string {
	var all []string
	for _, o := range m.all(d, vocab.DCTFormat, vocab.DCATMediaType) {
		if f := m.words(o); f != "" {
			all = append(all, f)
		}
	}
	return all
}

// accuracy measures what the archive found out: whether files can be retrieved, and whether they are as declared.
func (m *measuring) accuracy() {
	if m.known == nil {
		return
	}
	var retrieved, formats, sizes tally
	for _, d := range m.distributions {
		k := m.visited(d)
		if !k.Visited {
			continue
		}
		retrieved.add(k.Retrieved)
		if k.MediaType == "" {
			continue
		}
		if declared := m.formats(d); len(declared) > 0 {
			formats.add(sameFormat(declared, k.MediaType))
		}
		for _, o := range m.all(d, vocab.DCATByteSize) {
			if n, err := strconv.ParseFloat(o.Value(), 64); err == nil {
				sizes.add(math.Abs(n-float64(k.Size)) <= 0.05*float64(max(k.Size, 1)))
				break
			}
		}
	}
	var pages tally
	for _, o := range append([]term.Key{m.dataset}, m.all(m.dataset, vocab.DCATLandingPage)...) {
		if k := m.known(o.Value()); k.Visited {
			pages.add(k.Retrieved)
		}
	}
	m.share(RetrievabilityDataset, pages)
	m.share(RetrievabilityDistribution, retrieved)
	m.share(AccuracyFormat, formats)
	m.share(AccuracySize, sizes)
}

// visited returns what is known of a distribution's file, preferably of its download URL.
func (m *measuring) visited(d term.Key) Known {
	for _, o := range append(m.all(d, vocab.DCATDownloadURL, vocab.DCATAccessURL), d) {
		if o.Kind() == term.KindBlank {
			continue
		}
		if k := m.known(strings.TrimSpace(o.Value())); k.Visited {
			return k
		}
	}
	return Known{}
}

func (m *measuring) openness() {
	var open, readable tally
	for _, d := range m.distributions {
		declared := m.formats(d)
		if len(declared) == 0 {
			continue
		}
		isOpen, isReadable := false, false
		for _, name := range declared {
			f, _ := formatOf(name)
			isOpen, isReadable = isOpen || f.open, isReadable || f.readable
		}
		open.add(isOpen)
		readable.add(isReadable)
	}
	var licenses tally
	for _, s := range append([]term.Key{m.dataset}, m.distributions...) {
		for _, o := range m.all(s, vocab.DCTLicense) {
			l, _ := catalog.LicenceOf(m.words(o))
			licenses.add(l.Open)
		}
	}
	m.share(OpennessFormat, open)
	m.share(OpennessMachineReadable, readable)
	m.share(OpennessLicense, licenses)
}

func isURL(s string) bool {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp") {
		return false
	}
	host := u.Hostname()
	return strings.Contains(strings.Trim(host, "."), ".") || strings.Contains(host, ":") || host == "localhost"
}

func isMail(s string) bool {
	if len(s) > 7 && strings.EqualFold(s[:7], "mailto:") {
		s = s[7:]
	}
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s {
		return false
	}
	_, domain, _ := strings.Cut(s, "@")
	return strings.Contains(domain, ".")
}

// isDate reports whether a literal is a valid date of its datatype, or a plain string that is a date.
func isDate(o term.Key) bool {
	for _, datatype := range []string{"date", "dateTime", "gYear", "gYearMonth"} {
		iri := "http://www.w3.org/2001/XMLSchema#" + datatype
		if o.Datatype() != iri && o.Datatype() != term.XSDString {
			continue
		}
		if _, ok := xsdval.Parse(strings.TrimSpace(o.Value()), iri); ok {
			return true
		}
	}
	return false
}
