package protocol

import (
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"odarchive/sparqlapi/problem"
)

type kind byte

const (
	nothing kind = iota // a request for the endpoint itself
	query
	update
)

// request is a parsed request, however it was sent (SPARQL 1.1 Protocol §2.1, §2.2).
type request struct {
	kind                       kind
	text                       string
	defaultGraphs, namedGraphs []string // for an update, those of using-graph-uri and using-named-graph-uri
	timeout                    time.Duration
	explain, strict            bool
	formats                    []string // values of the parameters that name a format
}

func badRequest(format string, args ...any) error {
	return problem.Newf(http.StatusBadRequest, "Not a request of the SPARQL protocol", format, args...)
}

// parseRequest parses a request, whose body it reads from in.
func parseRequest(r *http.Request, in *incoming) (*request, error) {
	params, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("The query string of the address cannot be read: %v.", err)
	}
	req := &request{}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if params.Has("update") {
			return nil, badRequest("An update is sent by POST, not by %s.", r.Method)
		}
		if params.Has("query") {
			req.kind = query
		}
	case http.MethodPost:
		if err := req.readPost(r, in, &params); err != nil {
			return nil, err
		}
	default:
		return nil, problem.Newf(http.StatusMethodNotAllowed, "Not a method of the SPARQL protocol", "Use GET or POST, not %s.", r.Method)
	}
	if err := req.readParams(params); err != nil {
		return nil, err
	}
	if !utf8.ValidString(req.text) {
		return nil, badRequest("The text is not UTF-8.")
	}
	return req, nil
}

// readPost reads the body of a POST in any of the three ways to send it. It adds the fields of a form to params.
func (req *request) readPost(r *http.Request, in *incoming, params *url.Values) error {
	mt, attrs, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return unsupported(r, "The Content-Type is missing or cannot be read.")
	}
	if cs := attrs["charset"]; cs != "" && !strings.EqualFold(cs, "utf-8") && !strings.EqualFold(cs, "us-ascii") {
		return unsupported(r, "The text must be UTF-8.")
	}
	switch mt {
	case "application/sparql-query":
		req.kind = query
	case "application/sparql-update":
		req.kind = update
	case "application/x-www-form-urlencoded":
	default:
		return unsupported(r,
			"A query is sent as application/sparql-query, an update as application/sparql-update, or either in a form "+
				"(application/x-www-form-urlencoded).")
	}
	body, err := in.read()
	if err != nil {
		return err
	}
	if req.kind != nothing {
		if params.Has("query") || params.Has("update") {
			return badRequest("The address and the body both contain a query or update.")
		}
		req.text = string(body)
		return nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return badRequest("The form cannot be read: %v.", err)
	}
	for k, v := range *params {
		form[k] = append(form[k], v...)
	}
	*params = form
	switch {
	case form.Has("query") && form.Has("update"):
		return badRequest("The form contains a query and an update. Send one of them.")
	case form.Has("query"):
		req.kind = query
	case form.Has("update"):
		req.kind = update
	default:
		return badRequest("The form has neither a query nor an update.")
	}
	return nil
}

func unsupported(r *http.Request, detail string) error {
	return &problem.Error{Status: http.StatusUnsupportedMediaType, Title: "Not a request of the SPARQL protocol", Detail: detail,
		Fields: map[string]any{"content_type": r.Header.Get("Content-Type")}}
}

// readParams reads the parameters.
func (req *request) readParams(params url.Values) error {
	one := func(name string) (string, error) {
		switch v := params[name]; len(v) {
		case 0:
			return "", nil
		case 1:
			return v[0], nil
		default:
			return "", badRequest("The parameter %q is given %d times.", name, len(v))
		}
	}
	defaults, named := "default-graph-uri", "named-graph-uri"
	textParam := "query"
	if req.kind == update {
		defaults, named, textParam = "using-graph-uri", "using-named-graph-uri", "update"
	}
	if params.Has(textParam) {
		text, err := one(textParam)
		if err != nil {
			return err
		}
		req.text = text
	}
	given := func(name string) []string { // forms also send fields that are empty
		return slices.DeleteFunc(params[name], func(iri string) bool { return iri == "" })
	}
	req.defaultGraphs, req.namedGraphs = given(defaults), given(named)
	for _, iri := range slices.Concat(req.defaultGraphs, req.namedGraphs) {
		if u, err := url.Parse(iri); err != nil || !u.IsAbs() {
			return badRequest("%q is not the absolute IRI of a graph.", iri)
		}
	}
	timeout, err := one("timeout")
	if err != nil {
		return err
	}
	if timeout != "" {
		s, err := strconv.ParseFloat(timeout, 64)
		if err != nil || !(s >= 0 && s < 1e9) {
			return badRequest("timeout is a number of seconds, not %q.", timeout)
		}
		req.timeout = time.Duration(s * float64(time.Second))
	}
	for name, flag := range map[string]*bool{"explain": &req.explain, "strict": &req.strict} {
		v, err := one(name)
		if err != nil {
			return err
		}
		if v != "" {
			if *flag, err = strconv.ParseBool(v); err != nil {
				return badRequest("%s is 1 or 0, not %q.", name, v)
			}
		}
	}
	for _, name := range formatParams {
		req.formats = append(req.formats, given(name)...)
	}
	return nil
}

// base returns the base of relative IRIs in a request, the endpoint (Protocol §2.1.5).
func (req *request) base(r *http.Request, endpoint string) string {
	if endpoint != "" {
		return endpoint
	}
	if r.Host == "" {
		return ""
	}
	u := url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path}
	if r.TLS != nil {
		u.Scheme = "https"
	}
	return u.String()
}
