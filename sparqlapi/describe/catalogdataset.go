package describe

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/describe/about"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// authority is the prefix of the EU's authority tables, which DCAT-AP names.
const authority = "http://publications.europa.eu/resource/authority/"

// said returns what portals say of the datasets that some files belong to, by IRI of the dataset. For a file of several
// datasets, the first is asked for.
func (l *LinkedData) said(ctx context.Context, files []catalog.Resource) (all map[string]about.Dataset, err error) {
	var iris []string
	for _, f := range files {
		if len(f.Datasets) > 0 {
			iris = append(iris, f.Datasets[0])
		}
	}
	err = l.o.View(ctx, func(ds term.Dataset) error {
		all, err = about.Read(ctx, ds, iris...)
		return err
	})
	return all, err
}

// asPortals adds to a dataset of the catalog what its portal says of it. Nodes without an IRI are named after id. It
// reports whether there is a publisher, and a description.
func (g *graph) asPortals(d term.Key, id string, says about.Dataset) (publisher, description bool) {
	text := func(predicate string, t about.Text) {
		if t.Lang != "" {
			g.add(d, predicate, term.Lang(t.Value, t.Lang))
		} else {
			g.add(d, predicate, term.String(t.Value))
		}
	}
	for _, t := range says.Description {
		text(vocab.DCTDescription, t)
	}
	for _, t := range says.Keywords {
		text(vocab.DCATKeyword, t)
	}
	for _, t := range says.Themes {
		if name := about.ThemeOf(t.Label); t.IRI == "" && name != "" {
			t = about.Thing{IRI: authority + "data-theme/" + strings.ToUpper(t.Label), Label: name}
		}
		if theme, ok := g.named(d, vocab.DCATTheme, t, vocab.SKOSConcept); ok {
			// required
			g.add(theme, vocab.SKOSPrefLabel, term.Lang(cmp.Or(t.Label, t.IRI[strings.LastIndexAny(t.IRI, "/#")+1:], t.IRI), "en"))
		} else if t.Label != "" && t.IRI == "" {
			text(vocab.DCATKeyword, about.Text{Value: t.Label})
		}
	}
	if says.Publisher.Name != "" {
		publisher = true
		agent := nodeOf(says.Publisher.IRI, id+"publisher")
		g.add(d, vocab.DCTPublisher, agent)
		g.add(agent, vocab.RDFType, term.IRI(vocab.FOAFAgent))
		g.add(agent, vocab.FOAFName, term.String(says.Publisher.Name))
	}
	if c := says.Contact; c.Name != "" || c.Mail != "" {
		contact := nodeOf(c.IRI, id+"contact")
		g.add(d, vocab.DCATContactPoint, contact)
		g.add(contact, vocab.RDFType, term.IRI(vocab.VCardKind))
		if c.Name != "" {
			g.add(contact, vocab.VCardFn, term.String(c.Name))
		}
		if strings.Count(c.Mail, "@") == 1 && !strings.ContainsAny(c.Mail, " <>\"{}|\\^`:/") {
			g.add(contact, vocab.VCardHasEmail, describe.IRI("mailto:"+c.Mail))
		}
		if isWeb(c.Page) {
			g.add(contact, vocab.VCardHasURL, describe.IRI(c.Page))
		}
	}
	g.named(d, vocab.DCTAccrualPeriodicity, says.Frequency, vocab.DCTNS+"Frequency")
	g.named(d, vocab.DCTAccessRights, says.AccessRights, vocab.DCTNS+"RightsStatement")
	for _, t := range says.Languages {
		g.named(d, vocab.DCTLanguage, t, vocab.DCTNS+"LinguisticSystem")
	}
	for _, t := range says.Conforms {
		g.named(d, vocab.DCTConformsTo, t, vocab.DCTNS+"Standard")
	}
	for i, t := range says.Spatial {
		place := nodeOf(t.IRI, id+"place"+string(rune('a'+i%26)))
		g.add(d, vocab.DCTSpatial, place)
		g.add(place, vocab.RDFType, term.IRI(vocab.DCTLocation))
		if t.Label != "" {
			g.add(place, vocab.SKOSPrefLabel, term.String(t.Label))
		}
	}
	for i, t := range says.Temporal {
		from, to := date(t.Start), date(t.End)
		if from == "" && to == "" {
			continue
		}
		period := term.Blank(id + "period" + string(rune('a'+i%26)))
		g.add(d, vocab.DCTTemporal, period)
		g.add(period, vocab.RDFType, term.IRI(vocab.DCTPeriodOfTime))
		if from != "" {
			g.add(period, vocab.DCATStartDate, from)
		}
		if to != "" {
			g.add(period, vocab.DCATEndDate, to)
		}
	}
	return publisher, len(says.Description) > 0
}

// licence adds the licence of a distribution.
func (g *graph) licence(distribution term.Key, id string, licence about.Thing) {
	if licence == (about.Thing{}) {
		return
	}
	document := nodeOf(licence.IRI, id+"licence")
	g.add(distribution, vocab.DCTLicense, document)
	g.add(document, vocab.RDFType, term.IRI(vocab.DCTNS+"LicenseDocument"))
	if licence.Label != "" {
		g.add(document, vocab.RDFSLabel, term.String(licence.Label))
	}
}

// licenceOf returns the licence of a file, or else that of its dataset.
func licenceOf(says about.Dataset, file string) about.Thing {
	for _, f := range says.Files {
		for _, address := range f.URLs {
			if address == file && f.Licence != (about.Thing{}) {
				return f.Licence
			}
		}
	}
	if says.Licence == (about.Thing{}) {
		return says.Rights
	}
	return says.Licence
}

// named adds a thing that has an IRI, with its class; ok is false for others, which are left out.
func (g *graph) named(s term.Key, predicate string, t about.Thing, class string) (thing term.Key, ok bool) {
	if !isWeb(t.IRI) {
		return "", false
	}
	thing = describe.IRI(t.IRI)
	g.add(s, predicate, thing)
	g.add(thing, vocab.RDFType, term.IRI(class))
	return thing, true
}

// nodeOf returns the IRI of something on the web, or else a blank node.
func nodeOf(iri, label string) term.Key {
	if isWeb(iri) {
		return describe.IRI(iri)
	}
	return term.Blank(label)
}

func isWeb(iri string) bool {
	u, err := url.Parse(iri)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// date returns a portal's date or time as xsd:date, "" if it is neither.
func date(s string) term.Key {
	if len(s) < len(time.DateOnly) {
		return ""
	}
	if _, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)]); err != nil {
		return ""
	}
	return term.Typed(s[:len(time.DateOnly)], vocab.XSDNS+"date")
}
