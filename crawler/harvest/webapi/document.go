// Package webapi harvests any web interface that a document describes: where it is, how it is asked, how its lists are
// paged, and which of its fields are those of a dataset. README.md has examples.
//
// A document is an operator's; answers are a stranger's. Every answer, list, expression and number of requests is
// bounded, and each fault is one sentence. Credentials are named by environment variables. They are sent to the host of
// the document's base only, and are taken out of whatever it answers, so that no statement, log or report has them.
package webapi

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"odarchive/crawler/address"
)

// Document describes an interface. Only Base, Request and Dataset.IRI or Dataset.ID are required. Texts that are paths
// to fields are expressions (see expression); Path and Query of requests are texts with holes.
type Document struct {
	Base string `toml:"base" json:"base"` // paths of requests follow it
	// requests, at most: "600/h", "30/m", "2/s"; the host's own pauses apply, too
	Rate        string `toml:"rate,omitempty" json:"rate,omitempty"`
	MaxRequests int    `toml:"max-requests,omitempty" json:"maxRequests,omitempty"` // of one round; default 10,000
	MaxAnswer   int64  `toml:"max-answer,omitempty" json:"maxAnswer,omitempty"`     // bytes of one answer; default 16 MiB
	Accept      string `toml:"accept,omitempty" json:"accept,omitempty"`            // default JSON
	XML         bool   `toml:"xml,omitempty" json:"xml,omitempty"`                  // answers are XML
	// what is not listed any more is not withdrawn; always so with {keyword}
	Part        bool   `toml:"part,omitempty" json:"part,omitempty"`
	KeepAnswers bool   `toml:"keep-answers,omitempty" json:"keepAnswers,omitempty"` // as WARC files
	Auth        *Auth  `toml:"auth,omitempty" json:"auth,omitempty"`                // nil: none
	Portal      Portal `toml:"portal,omitempty" json:"portal,omitzero"`             // what the datasets are listed by
	// Request is the list and, if there are more, what is asked for each of its items; the items of the last are
	// datasets.
	Request []Request `toml:"request" json:"request"`
	Dataset Dataset   `toml:"dataset" json:"dataset"`
}

// Auth says how credentials are sent. They are the values of environment variables whose names begin with EnvPrefix, so
// that a document cannot send other secrets of the program to a host.
type Auth struct {
	Kind string `toml:"kind" json:"kind"`                            // "bearer", "basic", "header" or "query"
	Env  string `toml:"env" json:"env"`                              // variable with the secret; for basic, the password
	User string `toml:"user-env,omitempty" json:"userEnv,omitempty"` // variable with the user, for basic
	Name string `toml:"name,omitempty" json:"name,omitempty"`        // of the header or the parameter
}

// EnvPrefix is what names of environment variables with credentials begin with.
const EnvPrefix = "API_"

// Portal describes the portal of the datasets. All but IRI are expressions on the answer to Path.
type Portal struct {
	IRI         string `toml:"iri,omitempty" json:"iri,omitempty"`   // default: Base without its path
	Path        string `toml:"path,omitempty" json:"path,omitempty"` // of a request about the portal; "" for none
	Title       string `toml:"title,omitempty" json:"title,omitempty"`
	Description string `toml:"description,omitempty" json:"description,omitempty"`
	Software    string `toml:"software,omitempty" json:"software,omitempty"`
}

// Request is one kind of request. Holes of its texts are expressions on the item of the request before, and {keyword}.
type Request struct {
	Path  string            `toml:"path" json:"path"`                       // below the base
	Query map[string]string `toml:"query,omitempty" json:"query,omitempty"` // parameters; one whose hole is empty is left out
	// expression: the list in the answer; default "@", the answer
	Items string `toml:"items,omitempty" json:"items,omitempty"`
	Total string `toml:"total,omitempty" json:"total,omitempty"` // expression: number of items of all pages
	// expression on an item: what tells it from others; default the whole item
	ID     string  `toml:"id,omitempty" json:"id,omitempty"`
	Paging *Paging `toml:"paging,omitempty" json:"paging,omitempty"` // nil: the list has one page
	// expression on the item of the request before: whether to ask
	When string `toml:"when,omitempty" json:"when,omitempty"`
}

// Paging says how the next page is found.
type Paging struct {
	// "page", "offset", "cursor", "next" (an address in the answer) or "link" (the Link field)
	Kind      string `toml:"kind" json:"kind"`
	Parameter string `toml:"parameter,omitempty" json:"parameter,omitempty"` // that names the page, offset or cursor
	First     int    `toml:"first,omitempty" json:"first,omitempty"`         // number of the first page, or first offset
	Next      string `toml:"next,omitempty" json:"next,omitempty"`           // expression on the answer: the next cursor or address
	// expression on the answer: whether there is another page; if it says nothing, Total decides
	More string `toml:"more,omitempty" json:"more,omitempty"`
}

// Dataset says which fields of an item are those of a dataset; see harvest.Dataset. All texts are expressions.
type Dataset struct {
	ID            string   `toml:"id,omitempty" json:"id,omitempty"`   // identifier at the interface
	IRI           string   `toml:"iri,omitempty" json:"iri,omitempty"` // default: a name made of the portal's IRI and ID
	Title         string   `toml:"title,omitempty" json:"title,omitempty"`
	Description   string   `toml:"description,omitempty" json:"description,omitempty"`
	Keywords      string   `toml:"keywords,omitempty" json:"keywords,omitempty"`
	Themes        string   `toml:"themes,omitempty" json:"themes,omitempty"`
	Identifiers   []string `toml:"identifiers,omitempty" json:"identifiers,omitempty"` // default: ID
	LandingPage   string   `toml:"landing-page,omitempty" json:"landingPage,omitempty"`
	License       string   `toml:"license,omitempty" json:"license,omitempty"`
	Rights        string   `toml:"rights,omitempty" json:"rights,omitempty"`
	AccessLevel   string   `toml:"access-level,omitempty" json:"accessLevel,omitempty"`
	Publisher     string   `toml:"publisher,omitempty" json:"publisher,omitempty"` // a name or an object; what follows replaces parts of it
	PublisherName string   `toml:"publisher-name,omitempty" json:"publisherName,omitempty"`
	PublisherIRI  string   `toml:"publisher-iri,omitempty" json:"publisherIri,omitempty"`
	PublisherURL  string   `toml:"publisher-url,omitempty" json:"publisherUrl,omitempty"`
	PublisherType string   `toml:"publisher-type,omitempty" json:"publisherType,omitempty"`
	Creators      string   `toml:"creators,omitempty" json:"creators,omitempty"`
	Contact       string   `toml:"contact,omitempty" json:"contact,omitempty"`
	ContactEmail  string   `toml:"contact-email,omitempty" json:"contactEmail,omitempty"`
	Frequency     string   `toml:"frequency,omitempty" json:"frequency,omitempty"`
	Issued        string   `toml:"issued,omitempty" json:"issued,omitempty"`
	Modified      string   `toml:"modified,omitempty" json:"modified,omitempty"`
	Spatial       []string `toml:"spatial,omitempty" json:"spatial,omitempty"`
	Temporal      string   `toml:"temporal,omitempty" json:"temporal,omitempty"`
	Language      string   `toml:"language,omitempty" json:"language,omitempty"`
	Version       string   `toml:"version,omitempty" json:"version,omitempty"`
	Conforms      string   `toml:"conforms,omitempty" json:"conforms,omitempty"`
	PartOf        string   `toml:"part-of,omitempty" json:"partOf,omitempty"`
	// an object, or a list of objects with ExtrasKey and ExtrasValue
	Extras      string `toml:"extras,omitempty" json:"extras,omitempty"`
	ExtrasKey   string `toml:"extras-key,omitempty" json:"extrasKey,omitempty"`
	ExtrasValue string `toml:"extras-value,omitempty" json:"extrasValue,omitempty"`
	When        string `toml:"when,omitempty" json:"when,omitempty"` // whether the item is a dataset at all
	Gone        string `toml:"gone,omitempty" json:"gone,omitempty"` // whether it says that the dataset was deleted

	Distribution []Distribution `toml:"distribution,omitempty" json:"distribution,omitempty"`
}

// Distribution says how items have files: one for each value of Each, or for each of With, or one. Its expressions are
// evaluated on that value; $item is the item.
type Distribution struct {
	When        string              `toml:"when,omitempty" json:"when,omitempty"`
	Each        string              `toml:"each,omitempty" json:"each,omitempty"`
	With        []map[string]string `toml:"with,omitempty" json:"with,omitempty"`
	IRI         string              `toml:"iri,omitempty" json:"iri,omitempty"`
	URL         string              `toml:"url" json:"url"`
	AccessURL   string              `toml:"access-url,omitempty" json:"accessUrl,omitempty"`
	Title       string              `toml:"title,omitempty" json:"title,omitempty"`
	Description string              `toml:"description,omitempty" json:"description,omitempty"`
	Format      string              `toml:"format,omitempty" json:"format,omitempty"`
	MediaType   string              `toml:"media-type,omitempty" json:"mediaType,omitempty"`
	License     string              `toml:"license,omitempty" json:"license,omitempty"`
	Size        string              `toml:"size,omitempty" json:"size,omitempty"`
	Checksum    string              `toml:"checksum,omitempty" json:"checksum,omitempty"`
	ChecksumAlg string              `toml:"checksum-algorithm,omitempty" json:"checksumAlgorithm,omitempty"`
	Issued      string              `toml:"issued,omitempty" json:"issued,omitempty"`
	Modified    string              `toml:"modified,omitempty" json:"modified,omitempty"`
	Conforms    string              `toml:"conforms,omitempty" json:"conforms,omitempty"`
	Service     string              `toml:"service,omitempty" json:"service,omitempty"` // whether it is an API or a page rather than a file
}

// Limits of a document.
const (
	maxRequestsDefault = 10_000
	maxRequests        = 10_000_000
	maxAnswerDefault   = 16 << 20
	maxAnswer          = 64 << 20
	maxDepth           = 4
	maxParameters      = 50
	maxDistributions   = 100
	maxWith            = 100
	maxMembers         = 100 // expressions of one list, such as Spatial
)

// Fault is what is wrong with a document: in which setting, and why. Line finds it in a text.
type Fault struct {
	Setting string // "request.1.items", counted from 1
	Text    string // the value, to find it by
	Why     string
}

func (f *Fault) Error() string { return f.Setting + ": " + f.Why }

// Line returns the number of the line of a document that a fault is about, 0 if it is not found.
func (f *Fault) Line(document string) int {
	name := f.Setting[strings.LastIndexByte(f.Setting, '.')+1:]
	onlyText, onlyName, n := 0, 0, 0
	for line := range strings.Lines(document) {
		n++
		named := slices.ContainsFunc(strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t[]{}=,.\"'", r) }),
			func(w string) bool { return w == name })
		texted := f.Text != "" && strings.Contains(line, f.Text)
		switch {
		case named && texted:
			return n
		case texted && onlyText == 0:
			onlyText = n
		case named && onlyName == 0:
			onlyName = n
		}
	}
	return cmp.Or(onlyText, onlyName)
}

var validEnv = regexp.MustCompile(`^` + EnvPrefix + `[A-Z0-9_]{1,100}$`)

// check returns the base of a document that is in order except for its expressions.
func (d Document) check() (*url.URL, error) {
	fault := func(setting, text, why string, args ...any) (*url.URL, error) {
		return nil, &Fault{setting, text, fmt.Sprintf(why, args...)}
	}
	if strings.Contains(d.Base, "@") {
		return fault("base", "", "a user or password does not belong into a document; name environment variables in auth")
	}
	u, err := address.Parse(d.Base)
	if err != nil {
		return fault("base", d.Base, "%v", err)
	}
	base, err := url.Parse(u.String())
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" || base.User != nil {
		return fault("base", d.Base, "expected an http or https address without a user and a query")
	}
	if _, err := parseRate(d.Rate); err != nil {
		return fault("rate", d.Rate, "%v", err)
	}
	if d.MaxRequests < 0 || d.MaxRequests > maxRequests {
		return fault("max-requests", fmt.Sprint(d.MaxRequests), "at most %d requests are allowed", maxRequests)
	}
	if d.MaxAnswer < 0 || d.MaxAnswer > maxAnswer {
		return fault("max-answer", fmt.Sprint(d.MaxAnswer), "answers of at most %d bytes are allowed", maxAnswer)
	}
	if strings.ContainsFunc(d.Accept, func(r rune) bool { return r < ' ' || r >= 0x7f }) || len(d.Accept) > 1000 {
		return fault("accept", "", "not the value of a header field")
	}
	if len(d.Request) == 0 || len(d.Request) > maxDepth {
		return fault("request", "", "expected 1 to %d requests, each for the items of the one before", maxDepth)
	}
	if len(d.Dataset.Distribution) > maxDistributions {
		return fault("dataset.distribution", "", "at most %d are allowed", maxDistributions)
	}
	if d.Dataset.ID == "" && d.Dataset.IRI == "" {
		return fault("dataset", "", "id or iri is missing")
	}
	if a := d.Auth; a != nil {
		if err := a.check(base); err != nil {
			return nil, err
		}
	}
	for i, r := range d.Request {
		at := fmt.Sprintf("request.%d", i+1)
		if len(r.Query) > maxParameters {
			return fault(at+".query", "", "at most %d parameters are allowed", maxParameters)
		}
		if !strings.HasPrefix(r.Path, "/") && r.Path != "" {
			return fault(at+".path", r.Path, `expected a path that begins with "/"`)
		}
		if err := r.Paging.check(at); err != nil {
			return nil, err
		}
	}
	return base, nil
}

func (a *Auth) check(base *url.URL) error {
	switch {
	case !slices.Contains([]string{"bearer", "basic", "header", "query"}, a.Kind):
		return &Fault{"auth.kind", a.Kind, "expected bearer, basic, header or query"}
	case !validEnv.MatchString(a.Env):
		return &Fault{"auth.env", a.Env, "expected the name of an environment variable that begins with " + EnvPrefix}
	case a.Kind == "basic" && !validEnv.MatchString(a.User):
		return &Fault{"auth.user-env", a.User, "expected the name of an environment variable that begins with " + EnvPrefix}
	case (a.Kind == "header" || a.Kind == "query") && !validName.MatchString(a.Name):
		return &Fault{"auth.name", a.Name, "expected the name of the " + a.Kind}
	case base.Scheme != "https" && !isLoopback(base.Hostname()):
		return &Fault{"base", base.String(), "credentials are sent over https only"}
	}
	return nil
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func isLoopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

func (p *Paging) check(at string) error {
	if p == nil {
		return nil
	}
	at += ".paging"
	switch p.Kind {
	case "page", "offset", "cursor":
		if p.Parameter == "" {
			return &Fault{at + ".parameter", "", "the name of the parameter is missing"}
		}
	case "next", "link":
	default:
		return &Fault{at + ".kind", p.Kind, "expected page, offset, cursor, next or link"}
	}
	if (p.Kind == "cursor" || p.Kind == "next") && p.Next == "" {
		return &Fault{at + ".next", "", "the path to the next page is missing"}
	}
	return nil
}
