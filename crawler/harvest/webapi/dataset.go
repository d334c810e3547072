package webapi

import (
	"cmp"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// state says what an item is.
type state int

const (
	isDataset state = iota
	isGone          // the interface says that it was deleted
	noIRI           // it cannot be identified
	isOther         // the document leaves it out
)

const (
	maxFiles  = 20_000 // of a dataset
	maxExtras = 1000
)

// read returns the dataset that an item describes. The scope's variables are set.
func (a *API) read(s *scope) (d harvest.Dataset, _ state) {
	c := a.dataset
	delete(s.vars, "iri")
	delete(s.vars, "modified")
	if c.when != nil && !holds(c.when.eval(s)) {
		return d, isOther
	}
	id := c.id.textOf(s)
	if d.IRI = c.iri.textOf(s); d.IRI == "" && id != "" {
		d.IRI = strings.TrimRight(a.portal.iri, "/") + "/dataset/" + url.PathEscape(id)
	}
	if d.IRI == "" {
		return d, noIRI
	}
	s.vars["iri"] = loose.String(d.IRI)
	if c.gone != nil && holds(c.gone.eval(s)) {
		return d, isGone
	}
	d.Title, d.Description, d.Keywords = portalapi.Texts(c.title.eval(s)), portalapi.Texts(c.description.eval(s)),
		portalapi.Texts(c.keywords.eval(s))
	d.Themes = portalapi.Words(c.themes.eval(s))
	for _, e := range c.identifiers {
		d.Identifiers = append(d.Identifiers, e.eval(s).Texts()...)
	}
	if c.identifiers == nil && id != "" {
		d.Identifiers = []string{id}
	}
	d.LandingPage, d.License, d.Rights, d.AccessLevel = c.landingPage.textOf(s), c.license.textOf(s), c.rights.textOf(s),
		c.accessLevel.textOf(s)
	d.Publisher = portalapi.Agent(c.publisher.eval(s))
	d.Publisher.Name = cmp.Or(c.publisherName.textOf(s), d.Publisher.Name)
	d.Publisher.IRI = cmp.Or(c.publisherIRI.textOf(s), d.Publisher.IRI)
	d.Publisher.URL = cmp.Or(c.publisherURL.textOf(s), d.Publisher.URL)
	d.Publisher.Type = cmp.Or(c.publisherType.textOf(s), d.Publisher.Type)
	d.Creators = portalapi.Agents(c.creators.eval(s))
	for _, one := range c.contact.eval(s).List() {
		d.Contact = cmp.Or(d.Contact, portalapi.Agent(one))
	}
	d.Contact.Email = cmp.Or(portalapi.Email(c.contactEmail.textOf(s)), d.Contact.Email)
	d.Frequency, d.Issued, d.Modified = c.frequency.textOf(s), c.issued.textOf(s), c.modified.textOf(s)
	s.vars["modified"] = loose.String(d.Modified)
	for _, e := range c.spatial {
		d.Spatial = append(d.Spatial, portalapi.Places(e.eval(s))...)
	}
	d.Temporal = portalapi.Periods(c.temporal.eval(s))
	d.Language, d.Version = c.language.eval(s).Texts(), c.version.textOf(s)
	d.Conforms, d.IsPartOf = portalapi.Links(c.conforms.eval(s)), portalapi.Links(c.partOf.eval(s))
	d.Extras = c.extrasOf(s)
	for _, one := range c.distributions {
		for _, dist := range one.read(s, a.root) {
			d.List(dist)
		}
	}
	if len(d.Distributions) > maxFiles {
		d.Distributions = d.Distributions[:maxFiles]
	}
	return d, isDataset
}

// extrasOf returns further fields by name.
func (c compiledDataset) extrasOf(s *scope) map[string]string {
	extras := map[string]string{}
	add := func(key string, value loose.Value) {
		if key == "" || value.Empty() || len(extras) == maxExtras {
			return
		}
		extras[key] = cmp.Or(value.Text(), value.JSON())
	}
	v := c.extras.eval(s)
	if c.extrasKey != nil {
		for _, one := range v.List() {
			add(s.on(one, c.extrasKey.root).Text(), s.on(one, evaluated(c.extrasValue)))
		}
		return extras
	}
	for key, value := range v.Members() {
		add(key, value)
	}
	return extras
}

// evaluated returns the root of an expression, which is the current value for a nil one.
func evaluated(e *expression) node {
	if e == nil {
		return current{}
	}
	return e.root
}

// read returns the files that an item has by one rule.
func (c compiledDistribution) read(s *scope, root string) (list []harvest.Distribution) {
	item := s.current
	defer func() { s.current = item }()
	values := c.with
	switch {
	case c.each != nil:
		values = c.each.eval(s).List()
	case values == nil:
		values = []loose.Value{item}
	}
	for _, v := range values {
		s.current = v
		if len(list) > maxFiles || s.failed != nil {
			break
		}
		if c.when != nil && !holds(c.when.eval(s)) {
			continue
		}
		d := harvest.Distribution{
			IRI: c.iri.textOf(s), URL: portalapi.Resolve(root+"/", c.url.textOf(s)), AccessURL: c.accessURL.textOf(s),
			Title:       c.title.textOf(s),
			Description: portalapi.Plain(c.description.textOf(s)), Format: c.format.textOf(s), MediaType: c.mediaType.textOf(s),
			License: c.license.textOf(s),
			Size:    c.size.eval(s).Int(), Checksum: strings.ToLower(c.checksum.textOf(s)), Issued: c.issued.textOf(s),
			Modified: c.modified.textOf(s),
			Conforms: portalapi.Links(c.conforms.eval(s)),
		}
		d.Service = c.service != nil && holds(c.service.eval(s)) || portalapi.IsService(d.Format)
		if d.Checksum != "" {
			d.ChecksumAlg = strings.ToLower(c.checksumAlg.textOf(s))
		}
		list = append(list, d)
	}
	return list
}
