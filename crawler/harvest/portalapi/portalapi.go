// Package portalapi is what the harvesters of JSON APIs have in common. Software and Harvest run a harvest of datasets
// listed page by page; Client requests documents and explains in one sentence what came instead; Mark is a position;
// other functions read texts, agents, places and periods as portals write them.
//
// It contains nothing about particular software, which is in crawler/harvest/ckan and its neighbours, and keeps no
// state.
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
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/inspect/charset"
	"odarchive/triplestore/compression"
)

// Client requests JSON.
type Client struct {
	HTTP  harvest.Doer
	Max   int64 // maximum size of an answer in bytes; 0 means 64 MiB
	Tries int   // 0 means the default of harvest.Request
}

// Get requests a document. If its JSON is broken, Get returns the complete part with the error. Other errors are those
// of harvest.Ask.
func (c Client) Get(ctx context.Context, address string, query url.Values) (loose.Value, error) {
	return c.ask(ctx, harvest.Request{URL: WithQuery(address, query)})
}

// Post posts JSON and returns the answer as Get does.
func (c Client) Post(ctx context.Context, address, body string) (loose.Value, error) {
	return c.ask(ctx, harvest.Request{URL: address, Method: http.MethodPost, Type: "application/json", Body: body})
}

func (c Client) ask(ctx context.Context, r harvest.Request) (loose.Value, error) {
	r.Accept, r.Max, r.Tries = "application/json, */*;q=0.1", c.Max, c.Tries
	answer, err := harvest.Ask(ctx, c.HTTP, r)
	if err != nil {
		return loose.Value{}, err
	}
	return Document(answer.URL, answer.Body)
}

// Document parses the body of an answer.
func Document(address string, body []byte) (loose.Value, error) {
	if page := WebPage(body); page != "" {
		return loose.Value{}, &PageError{address, page}
	}
	v, err := loose.Parse(body)
	if err != nil {
		return v, fmt.Errorf("%s answered with %w", address, err)
	}
	return v, nil
}

// PageError is the error of an answer that is not what was requested, such as a page for people.
type PageError struct{ URL, Page string }

func (e *PageError) Error() string {
	return fmt.Sprintf("%s answered with %s instead of JSON", e.URL, e.Page)
}

// OtherKind reports that the source may be one of another kind.
func (e *PageError) OtherKind() bool { return true }

// WebPage describes a body that is a page for people. It returns "" for others.
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
		from := len(lower) - len(rest) // valid only if ToLower kept all lengths
		if text := strings.Join(strings.Fields(string(title)), " "); text != "" {
			if len(lower) == len(body) {
				text = strings.Join(strings.Fields(string(body[from:from+len(title)])), " ")
			}
			return fmt.Sprintf("a web page (%q)", text)
		}
	}
	return "a web page"
}

// Open requests a document of any length and returns its body, decoded to UTF-8 while it is read. The caller closes it.
// unless is as in harvest.Request.
func Open(ctx context.Context, doer harvest.Doer, address, unless string) (io.ReadCloser, http.Header, error) {
	resp, err := harvest.Send(ctx, doer, harvest.Request{URL: address, Accept: "application/json, */*;q=0.1", Unless: unless})
	if err != nil {
		return nil, nil, err
	}
	start := bufio.NewReader(resp.Body)
	var from io.Reader = start
	if magic, _ := start.Peek(3); harvest.Packed(magic) { // compressed without a declaration; a failure to read occurs again below
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

// WithQuery adds parameters to an address, which may have some already.
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

// UpdatedSince adds a condition to the Lucene query in a parameter: the time of the last update. If since is "", it
// does nothing.
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

// Root returns a portal's address without final slash, query, fragment and user, cut before any of the tails
// ("/api/3").
func Root(address string, tails ...string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%q is not an http or https address", address)
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

// IRI returns the IRI of a portal by its Root. If that is a bare host, the path is "/".
func IRI(root string) string {
	if strings.Count(root, "/") == 2 {
		return root + "/"
	}
	return root
}

// Resolve returns an address found on a portal as an absolute one: a path is on the portal, a bare host name lacks its
// scheme. Other words are returned unchanged.
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

// filePath matches paths relative to the portal ("files/2020/a.csv"), but not words, hosts or prose.
var filePath = regexp.MustCompile(`^(\./)?[\pL\pN_~%-]+(/[^/\s:]+)*/[^/\s:]+\.[A-Za-z0-9]{2,7}$`)

// services lists, in order, formats of APIs and pages, as opposed to files.
var services = []string{"api", "arcgis geoservices rest api", "arcgis online map", "csw", "esri rest", "geoservice", "graphql", "oai-pmh",
	"odata", "ogc api", "ogc:wfs",
	"ogc:wms", "rest", "rest api", "soap", "sos", "sparql", "wcs", "web page", "web service", "webservice", "wfs", "wms", "wmts", "wps"}

// IsService reports whether a format is that of an API or of a page for people.
func IsService(format string) bool {
	_, found := slices.BinarySearch(services, strings.ToLower(strings.TrimSpace(format)))
	return found
}

// Answered reports whether an error is a wrong answer, so that another request may succeed. Other errors concern the
// network or the host.
func Answered(err error) bool {
	var status *harvest.StatusError
	var broken *loose.Error
	var page *PageError
	return errors.As(err, &status) && status.Status != http.StatusTooManyRequests && status.Status != http.StatusServiceUnavailable ||
		errors.As(err, &broken) || errors.As(err, &page) || errors.Is(err, harvest.ErrTooLong)
}

// Refused reports whether a source refused a request with a status such as 400 or 409.
func Refused(err error) bool {
	var status *harvest.StatusError
	return errors.As(err, &status) && status.Status/100 == 4 && status.Status != http.StatusNotFound &&
		status.Status != http.StatusTooManyRequests
}
