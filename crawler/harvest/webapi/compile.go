package webapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// variables are the names that expressions may use after "$".
var variables = []string{"answer", "base", "host", "iri", "item", "keyword", "modified", "parent"}

// API is a document that is ready for use.
type API struct {
	document Document
	base     *url.URL
	root     string // base without a final slash
	portal   compiledPortal
	requests []compiledRequest
	dataset  compiledDataset
}

type compiledPortal struct {
	iri                          string
	path                         text
	title, description, software *expression
}

type compiledRequest struct {
	path                   text
	query                  map[string]text
	items, total, id, when *expression
	next, more             *expression
	paging                 *Paging // nil for none
}

type compiledDataset struct {
	id, iri, title, description, keywords, themes, landingPage, license, rights, accessLevel *expression
	publisher, publisherName, publisherIRI, publisherURL, publisherType                      *expression
	creators, contact, contactEmail, frequency, issued, modified, temporal, language         *expression
	version, conforms, partOf, extras, extrasKey, extrasValue, when, gone                    *expression
	identifiers, spatial                                                                     []*expression

	distributions []compiledDistribution
}

type compiledDistribution struct {
	when, each, iri, url, accessURL, title, description, format, mediaType, license *expression
	size, checksum, checksumAlg, issued, modified, conforms, service                *expression

	with []loose.Value // nil if there is no With
}

// compiler keeps the first fault.
type compiler struct{ fault error }

func (c *compiler) expression(setting, in string) *expression {
	e, err := parseExpression(in)
	if err != nil && c.fault == nil {
		c.fault = &Fault{setting, in, err.Error()}
	}
	return e
}

func (c *compiler) template(setting, in string) text {
	t, err := parseTemplate(in)
	if err != nil && c.fault == nil {
		c.fault = &Fault{setting, in, err.Error()}
	}
	return t
}

func (c *compiler) list(setting string, in []string) (list []*expression) {
	if len(in) > maxMembers && c.fault == nil {
		c.fault = &Fault{setting, "", fmt.Sprintf("at most %d expressions are allowed", maxMembers)}
		return nil
	}
	for _, one := range in {
		list = append(list, c.expression(setting, one))
	}
	return list
}

// Compile checks a document and makes it ready for use. The error is a *Fault.
func Compile(d Document) (*API, error) {
	base, err := d.check()
	if err != nil {
		return nil, err
	}
	a := &API{document: d, base: base, root: strings.TrimRight(base.String(), "/")}
	if a.document.MaxRequests == 0 {
		a.document.MaxRequests = maxRequestsDefault
	}
	if a.document.MaxAnswer == 0 {
		a.document.MaxAnswer = maxAnswerDefault
	}
	c := &compiler{}
	p := d.Portal
	root, err := portalapi.Root(base.Scheme + "://" + base.Host)
	if err != nil {
		return nil, &Fault{"base", d.Base, err.Error()}
	}
	a.portal = compiledPortal{cmp.Or(p.IRI, portalapi.IRI(root)), c.template("portal.path", p.Path), c.expression("portal.title", p.Title),
		c.expression("portal.description", p.Description), c.expression("portal.software", p.Software)}
	if !portalapi.IsLink(a.portal.iri) {
		return nil, &Fault{"portal.iri", p.IRI, "expected an http or https address"}
	}
	for i, r := range d.Request {
		a.requests = append(a.requests, c.request(fmt.Sprintf("request.%d.", i+1), r))
	}
	a.dataset = c.dataset(d.Dataset)
	return a, c.fault
}

func (c *compiler) request(at string, r Request) compiledRequest {
	made := compiledRequest{
		path: c.template(at+"path", r.Path), query: map[string]text{}, paging: r.Paging,
		items: c.expression(at+"items", cmp.Or(r.Items, "@")), total: c.expression(at+"total", r.Total),
		id: c.expression(at+"id", r.ID), when: c.expression(at+"when", r.When),
	}
	for name, value := range r.Query {
		made.query[name] = c.template(at+"query."+name, value)
	}
	if p := r.Paging; p != nil {
		made.next, made.more = c.expression(at+"paging.next", p.Next), c.expression(at+"paging.more", p.More)
	}
	return made
}

func (c *compiler) dataset(d Dataset) compiledDataset {
	of := func(name, in string) *expression { return c.expression("dataset."+name, in) }
	made := compiledDataset{
		id: of("id", d.ID), iri: of("iri", d.IRI), title: of("title", d.Title), description: of("description", d.Description),
		keywords: of("keywords", d.Keywords), themes: of("themes", d.Themes), landingPage: of("landing-page", d.LandingPage),
		license: of("license", d.License), rights: of("rights", d.Rights), accessLevel: of("access-level", d.AccessLevel),
		publisher: of("publisher", d.Publisher), publisherName: of("publisher-name", d.PublisherName),
		publisherIRI: of("publisher-iri", d.PublisherIRI),
		publisherURL: of("publisher-url", d.PublisherURL), publisherType: of("publisher-type", d.PublisherType),
		creators: of("creators", d.Creators), contact: of("contact", d.Contact), contactEmail: of("contact-email", d.ContactEmail),
		frequency: of("frequency", d.Frequency), issued: of("issued", d.Issued), modified: of("modified", d.Modified),
		temporal: of("temporal", d.Temporal), language: of("language", d.Language), version: of("version", d.Version),
		conforms: of("conforms", d.Conforms), partOf: of("part-of", d.PartOf), extras: of("extras", d.Extras),
		extrasKey: of("extras-key", d.ExtrasKey), extrasValue: of("extras-value", d.ExtrasValue), when: of("when", d.When),
		gone:        of("gone", d.Gone),
		identifiers: c.list("dataset.identifiers", d.Identifiers), spatial: c.list("dataset.spatial", d.Spatial),
	}
	for i, one := range d.Distribution {
		made.distributions = append(made.distributions, c.distribution(fmt.Sprintf("dataset.distribution.%d.", i+1), one))
	}
	return made
}

func (c *compiler) distribution(at string, d Distribution) compiledDistribution {
	of := func(name, in string) *expression { return c.expression(at+name, in) }
	made := compiledDistribution{
		when: of("when", d.When), each: of("each", d.Each), iri: of("iri", d.IRI), url: of("url", d.URL),
		accessURL: of("access-url", d.AccessURL),
		title:     of("title", d.Title), description: of("description", d.Description), format: of("format", d.Format),
		mediaType: of("media-type", d.MediaType),
		license:   of("license", d.License), size: of("size", d.Size), checksum: of("checksum", d.Checksum),
		checksumAlg: of("checksum-algorithm", d.ChecksumAlg),
		issued:      of("issued", d.Issued), modified: of("modified", d.Modified), conforms: of("conforms", d.Conforms),
		service: of("service", d.Service),
	}
	if made.url == nil && c.fault == nil {
		c.fault = &Fault{at + "url", "", "it is missing"}
	}
	if len(d.With) > 0 && d.Each != "" && c.fault == nil {
		c.fault = &Fault{at + "with", "", "either each or with is possible, not both"}
	}
	if len(d.With) > maxWith && c.fault == nil {
		c.fault = &Fault{at + "with", "", fmt.Sprintf("at most %d are allowed", maxWith)}
	}
	for _, row := range d.With {
		var names []string
		var values []loose.Value
		for name, value := range row {
			names, values = append(names, name), append(values, loose.String(value))
		}
		made.with = append(made.with, loose.Object(names, values))
	}
	return made
}

// Document returns the document with defaults in place of what is missing.
func (a *API) Document() Document { return a.document }

// UsesKeyword reports whether the first request depends on a keyword.
func (a *API) UsesKeyword() bool {
	r := a.document.Request[0]
	parts := []string{r.Path}
	for _, value := range r.Query {
		parts = append(parts, value)
	}
	for _, part := range parts {
		if strings.Contains(part, "keyword") {
			return true
		}
	}
	return false
}

// credentials reads the environment variables of the document. The error names the one that is missing.
func (a *API) credentials(getenv func(string) string) (user, secret string, err error) {
	auth := a.document.Auth
	if auth == nil {
		return "", "", nil
	}
	if getenv == nil {
		getenv = os.Getenv
	}
	missing := func(name string) error {
		return fmt.Errorf("%w: the environment variable %s is not set", ErrDocument, name)
	}
	if secret = getenv(auth.Env); secret == "" {
		return "", "", missing(auth.Env)
	}
	if auth.Kind == "basic" {
		if user = getenv(auth.User); user == "" {
			return "", "", missing(auth.User)
		}
	}
	if strings.ContainsFunc(user+secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", "", errors.New("the environment variable " + auth.Env + " contains control characters")
	}
	return user, secret, nil
}
