package oai

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
)

// repo is a small repository in the process, as a harvest.Doer. It follows the protocol, except for breaks.
type repo struct {
	items       []item
	page        int    // records per page; 0 means 10
	granularity string // as declared by Identify
	date        string // responseDate
	jumbled     bool   // lists are in the order of items, not of datestamps
	token       func(offset int) string
	breaks      func(w http.ResponseWriter, args url.Values, r *repo) bool // answers the request, or returns false
	alters      func(body string, args url.Values) string
	lists       func(all []item, args url.Values) []item // records that a selection returns
	asked       []url.Values
}

type item struct {
	id, stamp, set string
	deleted        bool
	metadata       string
}

// some returns n items, one a day from 2020-01-01 on.
func some(n int) []item {
	items := make([]item, n)
	for i := range items {
		day := time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, i)
		items[i] = item{id: fmt.Sprintf("oai:r.example:%d", i), stamp: day.Format(time.RFC3339),
			metadata: dc(fmt.Sprintf("http://r.example/files/%d.csv", i))}
	}
	return items
}

func dc(identifier string) string {
	return `<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">` +
		`<dc:title>A title</dc:title><dc:identifier>` + identifier + `</dc:identifier></oai_dc:dc>`
}

func (r *repo) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	args := req.URL.Query()
	r.asked = append(r.asked, args)
	if r.breaks == nil || !r.breaks(w, args, r) {
		body := r.answer(args)
		if r.alters != nil {
			body = r.alters(body, args)
		}
		w.WriteString(body)
	}
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

func (r *repo) answer(args url.Values) string {
	date := r.date
	if date == "" {
		date = "2021-01-01T00:00:00Z"
	}
	return `<?xml version="1.0" encoding="UTF-8"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>` + date +
		`</responseDate><request>http://r.example/oai</request>` + r.verb(args) + `</OAI-PMH>`
}

func fail(code string) string { return `<error code="` + code + `">as asked for</error>` }

func (r *repo) verb(args url.Values) string {
	switch args.Get("verb") {
	case "Identify":
		granularity := r.granularity
		if granularity == "" {
			granularity = "YYYY-MM-DDThh:mm:ssZ"
		}
		return `<Identify><repositoryName>The ` +
			`repository</repositoryName><baseURL>http://r.example/oai</baseURL><adminEmail>a@r.example</adminEmail>` +
			`<earliestDatestamp>2020-01-01</earliestDatestamp><granularity>` + granularity + `</granularity></Identify>`
	case "ListMetadataFormats":
		return `<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix></metadataFormat></ListMetadataFormats>`
	case "ListSets":
		return `<ListSets><set><setSpec>a:b</setSpec><setName>Set A B</setName></set></ListSets>`
	case "GetRecord":
		for _, it := range r.items {
			if it.id == args.Get("identifier") {
				return "<GetRecord>" + it.record() + "</GetRecord>"
			}
		}
		return fail("idDoesNotExist")
	case "ListRecords", "ListIdentifiers":
		return r.list(args)
	}
	return fail("badVerb")
}

func (it item) header() string {
	status, set := "", ""
	if it.deleted {
		status = ` status="deleted"`
	}
	if it.set != "" {
		set = "<setSpec>" + it.set + "</setSpec>"
	}
	return "<header" + status + "><identifier>" + it.id + "</identifier><datestamp>" + it.stamp + "</datestamp>" + set + "</header>"
}

func (it item) record() string {
	if it.deleted {
		return "<record>" + it.header() + "</record>"
	}
	return "<record>" + it.header() + "<metadata>" + it.metadata + "</metadata></record>"
}

// list returns a page. A token is "offset from until set".
func (r *repo) list(args url.Values) string {
	offset, selection := 0, args
	if token := args.Get("resumptionToken"); token != "" {
		f := strings.Split(token, "!")
		if len(f) != 4 {
			return fail("badResumptionToken")
		}
		offset, _ = strconv.Atoi(f[0])
		selection = url.Values{"from": {f[1]}, "until": {f[2]}, "set": {f[3]}}
	}
	all := slices.Clone(r.items)
	if !r.jumbled {
		slices.SortStableFunc(all, func(a, b item) int { return strings.Compare(a.stamp, b.stamp) })
	}
	if r.lists != nil {
		all = r.lists(all, selection)
	} else {
		all = selected(all, selection)
	}
	if len(all) == 0 {
		return fail("noRecordsMatch")
	}
	size := r.page
	if size == 0 {
		size = 10
	}
	end := min(offset+size, len(all))
	var b strings.Builder
	verb := args.Get("verb")
	b.WriteString("<" + verb + ">")
	for _, it := range all[min(offset, end):end] {
		if verb == "ListIdentifiers" {
			b.WriteString(it.header())
		} else {
			b.WriteString(it.record())
		}
	}
	token := ""
	if end < len(all) {
		token = fmt.Sprintf("%d!%s!%s!%s", end, selection.Get("from"), selection.Get("until"), selection.Get("set"))
	}
	if r.token != nil {
		token = r.token(end)
	}
	if token != "" || offset > 0 { // the last page has an empty token, as the protocol requires
		b.WriteString("<resumptionToken>")
		xml.EscapeText(&b, []byte(token))
		b.WriteString("</resumptionToken>")
	}
	b.WriteString("</" + verb + ">")
	return b.String()
}

func selected(all []item, args url.Values) []item {
	var in []item
	for _, it := range all {
		from, until := args.Get("from"), args.Get("until")
		if (from == "" || it.stamp[:len(from)] >= from) && (until == "" || it.stamp[:len(until)] <= until) &&
			(args.Get("set") == "" || it.set == args.Get("set")) {
			in = append(in, it)
		}
	}
	return in
}

// recorder is a harvest.Sink that records its input.
type recorder struct {
	portal   harvest.Portal
	whole    bool
	datasets map[string]harvest.Dataset // by the record's identifier
	times    map[string]int
	gone     []string
	quads    []term.Quad
	marks    []string
	next     string
	skipped  []string
	unknown  []string
	stopAt   int // number of marks after which the harvest is interrupted
}

func listen() *recorder {
	return &recorder{datasets: map[string]harvest.Dataset{}, times: map[string]int{}}
}

var errStop = fmt.Errorf("the lights went out")

func (t *recorder) Portal(p harvest.Portal, whole bool) error {
	t.portal, t.whole = p, whole
	return nil
}
func (t *recorder) Dataset(d harvest.Dataset) error {
	t.datasets[d.Identifiers[0]] = d
	t.times[d.Identifiers[0]]++
	return nil
}
func (t *recorder) Unknown(_, why string) error {
	t.unknown = append(t.unknown, why)
	return nil
}

func (t *recorder) Gone(iri string) error {
	t.gone = append(t.gone, iri)
	return nil
}
func (t *recorder) Seed(catalog.Seed) error { return nil }
func (t *recorder) Quad(q term.Quad) error {
	t.quads = append(t.quads, q)
	return nil
}
func (t *recorder) Mark(token string) error {
	t.marks = append(t.marks, token)
	if len(t.marks) == t.stopAt {
		return errStop
	}
	return nil
}
func (t *recorder) Next(token string)  { t.next = token }
func (t *recorder) NotModified(string) {}
func (t *recorder) Skip(why string)    { t.skipped = append(t.skipped, why) }

func (t *recorder) last() string {
	if len(t.marks) == 0 {
		return ""
	}
	return t.marks[len(t.marks)-1]
}
