package faces

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/results"
	"odarchive/vocab"

	"golang.org/x/net/html"
)

// RemoteEndpoint is a SPARQL endpoint that queries are sent to.
type RemoteEndpoint struct {
	Address string
	Token   string // sent as a bearer token unless it is empty
	Client  *http.Client
}

// Query asks the endpoint and writes its answer.
func (e RemoteEndpoint) Query(ctx context.Context, text string, format QueryFormat, w io.Writer) error {
	resp, err := e.ask(ctx, url.Values{"query": {text}},
		"application/sparql-results+json, application/sparql-results+xml;q=0.9, application/n-triples;q=0.8, text/turtle;q=0.7")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	kind := resp.Header.Get("Content-Type")
	if f, ok := results.ByName(kind); ok {
		return copyRows(resp.Body, f, results.NewWriter(w, format.Rows, results.Options{Prefixes: vocab.Prefixes(), Width: 100}))
	}
	if s, ok := rdfio.ByMediaType(kind); ok {
		return copyGraph(resp.Body, s, rdfio.NewWriter(w, format.Graph, vocab.Prefixes()))
	}
	return fmt.Errorf("endpoint %s answered with %q, expected SPARQL results or RDF", e.Address, kind)
}

// Explain asks the endpoint how it answers a query and writes what it says. Only endpoints of this program know the
// question; others answer the query, which is an error.
func (e RemoteEndpoint) Explain(ctx context.Context, text string, w io.Writer) error {
	resp, err := e.ask(ctx, url.Values{"query": {text}, "explain": {"1"}}, "text/plain")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/plain" {
		return fmt.Errorf("endpoint %s does not explain queries: it answered with %q", e.Address, kind)
	}
	_, err = io.Copy(w, resp.Body)
	return err
}

// ask posts a form to the endpoint, or where nothing answers queries there, to that of the archive with this address.
// The caller closes the body of the response, whose status is 200.
func (e RemoteEndpoint) ask(ctx context.Context, form url.Values, accept string) (*http.Response, error) {
	resp, status, err := e.post(ctx, e.Address, form, accept)
	if at := baseOf(e.Address) + "/sparql"; (status == http.StatusNotFound || status == http.StatusMethodNotAllowed) && at != e.Address {
		if found, _, err := e.post(ctx, at, form, accept); err == nil {
			return found, nil
		}
	}
	return resp, err
}

// post posts a form to an address, and returns the status of the answer if there is one.
func (e RemoteEndpoint) post(ctx context.Context, address string, form url.Values, accept string) (*http.Response, int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil || req.URL.Host == "" {
		return nil, 0, fmt.Errorf("--endpoint %q: expected an address such as https://example.org/sparql", e.Address)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", accept)
	if e.Token != "" {
		req.Header.Set("Authorization", "Bearer "+e.Token)
	}
	client := e.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("endpoint: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, resp.StatusCode, nil
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	why := reason(resp.Header.Get("Content-Type"), raw)
	if err != nil && why == "" {
		why = err.Error()
	}
	if why == "" {
		return nil, resp.StatusCode, fmt.Errorf("endpoint %s answered %s without a reason", e.Address, resp.Status)
	}
	return nil, resp.StatusCode, fmt.Errorf("endpoint %s answered %s: %s", e.Address, resp.Status, why)
}

// maxReason is the maximum length of a reason, in characters.
const maxReason = 500

// reason returns the reason in the body of a failure as one line: the title and detail of a problem document (RFC
// 9457), the text of an HTML page, or the text as it is.
func reason(contentType string, body []byte) string {
	text := string(body)
	kind, _, _ := mime.ParseMediaType(contentType)
	var problem struct{ Title, Detail, Message string }
	switch {
	case strings.HasSuffix(kind, "json") && json.Unmarshal(body, &problem) == nil && problem != struct{ Title, Detail, Message string }{}:
		text = problem.Title + ": " + problem.Detail + problem.Message
		text = strings.TrimPrefix(strings.TrimSuffix(text, ": "), ": ")
	case strings.Contains(kind, "html"):
		text = pageText(text)
	}
	line := []rune(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool { return r <= ' ' || r == 0x7F }),
		" "))
	if len(line) > maxReason {
		return string(line[:maxReason]) + "…"
	}
	return string(line)
}

// pageText returns the text of an HTML page without scripts and styles.
func pageText(page string) string {
	var text strings.Builder
	skip := false
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return text.String()
		case html.StartTagToken:
			name, _ := z.TagName()
			skip = string(name) == "script" || string(name) == "style"
		case html.EndTagToken:
			skip = false
			text.WriteByte(' ')
		case html.TextToken:
			if !skip {
				text.Write(z.Text())
			}
		}
	}
}

func copyRows(body io.Reader, f results.Format, w *results.Writer) error {
	r, err := results.NewReader(body, f, results.Limits{})
	if err != nil {
		return err
	}
	if v, ok := r.Boolean(); ok {
		return w.Boolean(v)
	}
	return writeRows(r.Vars(), r.Next, w)
}

func copyGraph(body io.Reader, s rdfio.Syntax, w *rdfio.Writer) error {
	for q, err := range rdfio.NewReader(body, s, rdfio.Options{}).All() {
		if err == nil {
			err = w.Write(q)
		}
		if err != nil {
			return err
		}
	}
	return w.Close()
}
