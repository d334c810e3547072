// Package portalapi is what the harvesters of JSON interfaces have in common: asking for a document and saying in one
// sentence what came instead of it, marks, and how portals write texts, agents, places and periods.
//
// It knows no portal software; crawler/harvest/ckan and its neighbours do. Nothing here keeps state.
package portalapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/inspect/charset"
	"odarchive/triplestore/compression"
)

// Client asks for JSON.
type Client struct {
	HTTP  harvest.Doer
	Max   int64 // bytes of an answer, 0 = 64 MiB
	Tries int   // 0 = what harvest.Ask does
}

// Get asks for a document with a query; where its JSON is broken, the Value is what was complete, beside the error. Other
// errors are those of harvest.Ask.
func (c Client) Get(ctx context.Context, address string, query url.Values) (loosejson.Value, error) {
	return c.ask(ctx, harvest.Request{URL: WithQuery(address, query)})
}

// Post sends JSON and reads the answer as Get does.
func (c Client) Post(ctx context.Context, address, body string) (loosejson.Value, error) {
	return c.ask(ctx, harvest.Request{URL: address, Method: http.MethodPost, Type: "application/json", Body: body})
}

func (c Client) ask(ctx context.Context, r harvest.Request) (loosejson.Value, error) {
	r.Accept, r.Max, r.Tries = "application/json, */*;q=0.1", c.Max, c.Tries
	answer, err := harvest.Ask(ctx, c.HTTP, r)
	if err != nil {
		return loosejson.Value{}, err
	}
	return Document(answer.URL, answer.Body)
}

// Document reads the body of an answer.
func Document(address string, body []byte) (loosejson.Value, error) {
	if page := WebPage(body); page != "" {
		return loosejson.Value{}, &PageError{address, page}
	}
	v, err := loosejson.Parse(body)
	if err != nil {
		return v, fmt.Errorf("%s answered with %w", address, err)
	}
	return v, nil
}

// PageError is a page for people where JSON was asked for.
type PageError struct{ URL, Page string }

func (e *PageError) Error() string {
	return fmt.Sprintf("%s answered with %s instead of JSON", e.URL, e.Page)
}

// WebPage says what kind of page for people a body is, "" where it is none.
func WebPage(body []byte) string {
	if !harvest.LooksLikeHTML(body) {
		return ""
	}
	lower := bytes.ToLower(body)
	if bytes.Contains(lower, []byte(`type="password"`)) || bytes.Contains(lower, []byte(`type='password'`)) {
		return "a login page"
	}
	_, rest, found := bytes.Cut(lower, []byte("<title"))
	_, rest, opened := bytes.Cut(rest, []byte(">"))
	if title, _, closed := bytes.Cut(rest, []byte("</title")); found && opened && closed && len(title) < 200 {
		from := len(lower) - len(rest) // ToLower keeps the length of ASCII only: take the title only where it did
		if text := strings.Join(strings.Fields(string(title)), " "); text != "" {
			if len(lower) == len(body) {
				text = strings.Join(strings.Fields(string(body[from:from+len(title)])), " ")
			}
			return fmt.Sprintf("a web page (%q)", text)
		}
	}
	return "a web page"
}

// Open asks for a document of any length, to be read while it comes, in UTF-8 whatever it declares. The caller closes it.
// unless is as in harvest.Request.
func Open(ctx context.Context, doer harvest.Doer, address, unless string) (io.ReadCloser, http.Header, error) {
	resp, err := harvest.Send(ctx, doer, harvest.Request{URL: address, Accept: "application/json, */*;q=0.1", Unless: unless})
	if err != nil {
		return nil, nil, err
	}
	start := bufio.NewReader(resp.Body)
	var from io.Reader = start
	if magic, _ := start.Peek(3); harvest.Packed(magic) { // without a word in the header; a fault is met again by reading
		if from, err = compression.Open(start, compression.Gzip, compression.Options{}); err != nil {
			resp.Body.Close()
			return nil, nil, fmt.Errorf("%s: %w", address, err)
		}
	}
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(from, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		resp.Body.Close()
		return nil, nil, fmt.Errorf("%s broke off after %d bytes: %w", address, n, err)
	}
	head = head[:n]
	if page := WebPage(head); page != "" {
		resp.Body.Close()
		return nil, nil, &PageError{address, page}
	}
	hint := ""
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil {
		hint = params["charset"]
	}
	all := io.MultiReader(bytes.NewReader(head), from)
	if name := charset.Detect(head, hint).Name; name != "" && name != "utf-8" && name != "ascii" {
		if decoded, err := charset.NewReader(all, name); err == nil {
			all = decoded
		}
	}
	return stream{all, resp.Body}, resp.Header, nil
}

type stream struct {
	io.Reader
	io.Closer
}

// WithQuery adds parameters to those that an address has.
func WithQuery(address string, query url.Values) string {
	if len(query) == 0 {
		return address
	}
	sep := "?"
	if strings.Contains(address, "?") {
		sep = "&"
	}
	return address + sep + query.Encode()
}

// UpdatedSince narrows the Lucene query in a parameter to what was updated since a time, "" for ever.
func UpdatedSince(parameters url.Values, name, since string) {
	if since == "" {
		return
	}
	condition := "updated:[" + since + " TO *]"
	if q := parameters.Get(name); q != "" {
		condition = "(" + q + ") AND " + condition
	}
	parameters.Set(name, condition)
}

// Root is a portal's address without a final slash, a query, a fragment, and without any of the given tails ("/api/3")
// and what follows them.
func Root(address string, tails ...string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%q is no http or https address", address)
	}
	u.RawQuery, u.Fragment, u.RawFragment, u.User = "", "", "", nil
	path := u.EscapedPath()
	for _, tail := range tails {
		if at := strings.Index(path+"/", tail+"/"); at >= 0 {
			path = path[:at]
		}
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(path, "/"), nil
}

// IRI is how a portal is named after its Root: a bare host has the path "/".
func IRI(root string) string {
	if strings.Count(root, "/") == 2 {
		return root + "/"
	}
	return root
}

// Resolve what a portal gives as an address: a path is one on the portal, a bare host name wants its scheme. Words stay
// as they are.
func Resolve(base, reference string) string {
	reference = strings.TrimSpace(reference)
	if strings.HasPrefix(strings.ToLower(reference), "www.") {
		return "http://" + reference
	}
	if !strings.HasPrefix(reference, "/") && !filePath.MatchString(reference) {
		return reference
	}
	b, err := url.Parse(base)
	if err != nil {
		return reference
	}
	u, err := b.Parse(reference)
	if err != nil {
		return reference
	}
	return u.String()
}

// filePath that is meant relative to the portal ("files/2020/a.csv"), and no word, host or prose.
var filePath = regexp.MustCompile(`^(\./)?[\pL\pN_~%-]+(/[^/\s:]+)*/[^/\s:]+\.[A-Za-z0-9]{2,7}$`)

// services are formats of what answers questions instead of being a file.
var services = []string{"api", "arcgis geoservices rest api", "arcgis online map", "csw", "esri rest", "geoservice", "graphql", "oai-pmh", "odata", "ogc api", "ogc:wfs",
	"ogc:wms", "rest", "rest api", "soap", "sos", "sparql", "wcs", "web page", "web service", "webservice", "wfs", "wms", "wmts", "wps"}

// IsService tells by its declared format whether a distribution is an API or a page for people.
func IsService(format string) bool {
	_, found := slices.BinarySearch(services, strings.ToLower(strings.TrimSpace(format)))
	return found
}

// Answered tells that a source gave an answer, if a wrong one: another question may fare better. Otherwise the network or
// the host is in trouble.
func Answered(err error) bool {
	var status *harvest.StatusError
	var broken *loosejson.Error
	var page *PageError
	return errors.As(err, &status) && status.Status != http.StatusTooManyRequests && status.Status != http.StatusServiceUnavailable ||
		errors.As(err, &broken) || errors.As(err, &page) || errors.Is(err, harvest.ErrTooLong)
}

// Refused tells that a source would not have a question as it was asked: status 400, 409 and their like.
func Refused(err error) bool {
	var status *harvest.StatusError
	return errors.As(err, &status) && status.Status/100 == 4 && status.Status != http.StatusNotFound && status.Status != http.StatusTooManyRequests
}
