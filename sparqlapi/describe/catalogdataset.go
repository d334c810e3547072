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
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/foaf"
	"odarchive/vocab/rdf"
	"odarchive/vocab/rdfs"
	"odarchive/vocab/skos"
	"odarchive/vocab/vcard"
	"odarchive/vocab/xsd"
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
		text(dcterms.Description, t)
	}
	for _, t := range says.Keywords {
		text(dcat.Keyword, t)
	}
	for _, t := range says.Themes {
		if name := about.ThemeOf(t.Label); t.IRI == "" && name != "" {
			t = about.Thing{IRI: authority + "data-theme/" + strings.ToUpper(t.Label), Label: name}
		}
		if theme, ok := g.named(d, dcat.Theme, t, skos.Concept); ok {
			g.add(theme, skos.PrefLabel, term.Lang(cmp.Or(t.Label, t.IRI[strings.LastIndexAny(t.IRI, "/#")+1:], t.IRI), "en")) // required
		} else if t.Label != "" && t.IRI == "" {
			text(dcat.Keyword, about.Text{Value: t.Label})
		}
	}
	if says.Publisher.Name != "" {
		publisher = true
		agent := nodeOf(says.Publisher.IRI, id+"publisher")
		g.add(d, dcterms.Publisher, agent)
		g.add(agent, rdf.Type, term.IRI(foaf.Agent))
		g.add(agent, foaf.Name, term.String(says.Publisher.Name))
	}
	if c := says.Contact; c.Name != "" || c.Mail != "" {
		contact := nodeOf(c.IRI, id+"contact")
		g.add(d, dcat.ContactPoint, contact)
		g.add(contact, rdf.Type, term.IRI(vcard.Kind))
		if c.Name != "" {
			g.add(contact, vcard.Fn, term.String(c.Name))
		}
		if strings.Count(c.Mail, "@") == 1 && !strings.ContainsAny(c.Mail, " <>\"{}|\\^`:/") {
			g.add(contact, vcard.HasEmail, describe.IRI("mailto:"+c.Mail))
		}
		if isWeb(c.Page) {
			g.add(contact, vcard.HasURL, describe.IRI(c.Page))
		}
	}
	g.named(d, dcterms.AccrualPeriodicity, says.Frequency, dcterms.NS+"Frequency")
	g.named(d, dcterms.AccessRights, says.AccessRights, dcterms.NS+"RightsStatement")
	for _, t := range says.Languages {
		g.named(d, dcterms.Language, t, dcterms.NS+"LinguisticSystem")
	}
	for _, t := range says.Conforms {
		g.named(d, dcterms.ConformsTo, t, dcterms.NS+"Standard")
	}
	for i, t := range says.Spatial {
		place := nodeOf(t.IRI, id+"place"+string(rune('a'+i%26)))
		g.add(d, dcterms.Spatial, place)
		g.add(place, rdf.Type, term.IRI(dcterms.Location))
		if t.Label != "" {
			g.add(place, skos.PrefLabel, term.String(t.Label))
		}
	}
	for i, t := range says.Temporal {
		from, to := date(t.Start), date(t.End)
		if from == "" && to == "" {
			continue
		}
		period := term.Blank(id + "period" + string(rune('a'+i%26)))
		g.add(d, dcterms.Temporal, period)
		g.add(period, rdf.Type, term.IRI(dcterms.PeriodOfTime))
		if from != "" {
			g.add(period, dcat.StartDate, from)
		}
		if to != "" {
			g.add(period, dcat.EndDate, to)
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
	g.add(distribution, dcterms.License, document)
	g.add(document, rdf.Type, term.IRI(dcterms.NS+"LicenseDocument"))
	if licence.Label != "" {
		g.add(document, rdfs.Label, term.String(licence.Label))
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
	g.add(thing, rdf.Type, term.IRI(class))
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
	return term.Typed(s[:len(time.DateOnly)], xsd.NS+"date")
}
