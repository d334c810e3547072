package webapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// Source is an interface that is harvested. API and HTTP are required.
type Source struct {
	API      *API
	Keywords []string             // values of {keyword}; the lists of all of them are read
	HTTP     http.RoundTripper    // must be polite
	Getenv   func(string) string  // returns an environment variable; nil means os.Getenv
	Pacer    *Pacer               // nil means the document's rate and budget, of this process
	Asked    func(address string) // is called before each request; may be nil
}

// Harvest implements harvest.Harvester. Its marks name the keyword, the page, and how many items of the page are done.
// If the budget of the round is used up, the error wraps ErrBudget, and the next harvest continues at the mark.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	h, err := s.begin(out)
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	if err := h.run(ctx, from); err != nil {
		return fmt.Errorf("api: %w", h.client.publicError(err))
	}
	return nil
}

// run is a harvest in progress.
type run struct {
	Source
	client *client
	doer   harvest.Doer
	out    harvest.Sink
	sum    string // of the document and the keywords, in marks

	described portalapi.Seen // IRIs of datasets
	failed    int            // successive items whose own requests failed
	vars      map[string]loose.Value
}

func (s Source) begin(out harvest.Sink) (*run, error) {
	if s.Pacer == nil {
		s.Pacer = s.API.Pacer()
	}
	h, c, err := s.API.newClient(s.HTTP, s.Pacer, s.Getenv)
	if err != nil {
		return nil, err
	}
	if s.API.UsesKeyword() && len(s.Keywords) == 0 {
		return nil, errors.New("the document has {keyword}, but no keywords")
	}
	if !s.API.UsesKeyword() {
		s.Keywords = nil
	}
	text, err := json.Marshal([]any{s.API.document, s.Keywords})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	a := s.API
	return &run{Source: s, client: c, doer: h, out: out, sum: hex.EncodeToString(sum[:6]), vars: map[string]loose.Value{
		"base": loose.String(a.root), "host": loose.String(a.base.Host)}}, nil
}

// Whole reports whether a harvest lists all of the portal, so that what it does not list is withdrawn.
func (a *API) Whole() bool { return !a.document.Part && !a.UsesKeyword() }

func (h *run) run(ctx context.Context, from string) error {
	mark := portalapi.ParseMark(from)
	if mark.Get("d") != h.sum { // of another document
		mark = portalapi.ParseMark("")
	}
	portal, err := h.portal(ctx)
	if err != nil {
		return err
	}
	if err := h.out.Portal(portal, h.API.Whole()); err != nil {
		return err
	}
	keywords := h.Keywords
	if len(keywords) == 0 {
		keywords = []string{""}
	}
	for k := mark.Int("k"); k < len(keywords); k++ {
		delete(h.vars, "keyword")
		if keywords[k] != "" {
			h.vars["keyword"] = loose.String(keywords[k])
		}
		l := &list{run: h, request: h.API.requests[0], parent: loose.Value{},
			at: position{token: mark.Get("at"), url: mark.Get("url"), number: mark.Int("p"), n: mark.Int("n"), done: mark.Int("i")}}
		l.resumed = l.at != position{}
		l.mark = func(at position) error { return h.out.Mark(h.markOf(k, at)) }
		if err := l.walk(ctx, 0); err != nil {
			return err
		}
		mark = portalapi.ParseMark("")
		if err := h.out.Mark(h.markOf(k+1, position{})); err != nil {
			return err
		}
	}
	h.out.Next("")
	return nil
}

func (h *run) markOf(k int, at position) string {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	return portalapi.MarkOf("d", h.sum, "k", number(k), "at", at.token, "url", at.url, "p", number(at.number), "n", number(at.n), "i",
		number(at.done)).String()
}

// portal asks the interface about its portal.
func (h *run) portal(ctx context.Context) (p harvest.Portal, err error) {
	described := h.API.portal
	p = harvest.Portal{IRI: described.iri, Homepage: described.iri}
	s := h.scope(loose.Value{})
	if h.API.document.Portal.Path != "" {
		path, why := path(described.path, s)
		if why != "" {
			return p, errors.New("portal.path: " + why)
		}
		answer, err := h.ask(ctx, h.API.root+path)
		if errors.Is(err, harvest.ErrFinal) || ctx.Err() != nil {
			return p, err
		}
		s.current = answer.document // a harvest can do without
	}
	p.Title, p.Description, p.Software = described.title.textOf(s), described.description.textOf(s), described.software.textOf(s)
	return p, nil
}

// scope returns the scope of expressions on a value.
func (h *run) scope(current loose.Value) *scope {
	return &scope{current: current, vars: h.vars}
}

// answered is the answer to one request.
type answered struct {
	url      string // after redirects
	link     string // of the Link field with the relation "next"; "" for none
	document loose.Value
}

// ask requests a document. If it breaks off, its complete part comes with the error.
func (h *run) ask(ctx context.Context, address string) (a answered, err error) {
	if h.Asked != nil {
		h.Asked(address)
	}
	got, err := h.client.ask(ctx, h.doer, address)
	if err != nil {
		var status *harvest.StatusError
		if auth := h.API.document.Auth; auth != nil && errors.As(err, &status) && status.Status == http.StatusUnauthorized {
			return a, fmt.Errorf("%w: it does not accept the credentials in %s", err, auth.Env)
		}
		return a, err
	}
	a.url, a.link = got.URL, nextLink(got.Header.Values("Link"))
	if h.API.document.XML {
		a.document, err = parseXML(got.URL, got.Body)
	} else {
		a.document, err = portalapi.Document(got.URL, got.Body)
	}
	return a, err
}

// maxFailed is how many items in a row may have requests of their own that fail.
const maxFailed = 20

// item handles one item of the list of a request: it asks for more about it, or it is a dataset.
func (h *run) item(ctx context.Context, depth int, parent, item, answer loose.Value) error {
	if depth+1 < len(h.API.requests) {
		return h.more(ctx, depth+1, item)
	}
	h.vars["parent"], h.vars["answer"], h.vars["item"] = parent, answer, item
	s := h.scope(item)
	d, state := h.API.read(s)
	if s.failed != nil {
		return s.failed
	}
	switch state {
	case noIRI:
		h.out.Skip(fmt.Sprintf("an item has no ID: %.200s", item.JSON()))
	case isGone:
		return h.out.Gone(d.IRI)
	case isDataset:
		if h.described.Add(d.IRI) {
			return h.out.Dataset(d)
		}
	}
	return nil
}

// more reads the list that a chained request returns for an item. A failure that is only about this item is reported,
// and the harvest goes on.
func (h *run) more(ctx context.Context, depth int, item loose.Value) error {
	request := h.API.requests[depth]
	s := h.scope(item)
	if request.when != nil && !holds(request.when.eval(s)) {
		return s.failed
	}
	l := &list{run: h, request: request, parent: item}
	err := l.walk(ctx, depth)
	if err == nil {
		h.failed = 0
		return nil
	}
	var status *harvest.StatusError
	only := isWrong(err) && !(errors.As(err, &status) && status.Status == http.StatusUnauthorized) || errors.Is(err, errItem)
	if h.failed++; !only || ctx.Err() != nil || h.failed >= maxFailed {
		return err
	}
	id := request.id.textOf(s)
	if id == "" {
		sum := sha256.Sum256([]byte(item.JSON()))
		id = hex.EncodeToString(sum[:8])
	}
	return h.out.Unknown(id, oneLine(err))
}

// errItem is in the chain of errors about one item of a list.
var errItem = errors.New("the item cannot be used")

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// nextLink returns the target of the first link with the relation "next" in Link fields (RFC 8288).
func nextLink(fields []string) string {
	for _, field := range fields {
		for field != "" {
			_, rest, found := strings.Cut(field, "<")
			target, rest, closed := strings.Cut(rest, ">")
			if !found || !closed {
				break
			}
			parameters, after, _ := strings.Cut(rest, "<") // of the next link
			for parameter := range strings.SplitSeq(parameters, ";") {
				name, value, _ := strings.Cut(parameter, "=")
				value = strings.Trim(strings.TrimSpace(strings.TrimRight(strings.TrimSpace(value), ",")), `"`)
				if strings.EqualFold(strings.TrimSpace(name), "rel") && slices.Contains(strings.Fields(strings.ToLower(value)), "next") {
					return strings.TrimSpace(target)
				}
			}
			if field = ""; after != "" {
				field = "<" + after
			}
		}
	}
	return ""
}
