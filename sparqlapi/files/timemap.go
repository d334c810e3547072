package files

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// The two formats of a TimeMap.
const (
	linkFormat = "application/link-format" // RFC 6690, required by RFC 7089 §5
	jsonFormat = "application/json"        // with the fields that MemGator uses
)

// page is a part of a TimeMap. A long TimeMap is split into pages of consecutive mementos (RFC 7089 §5.1). The position
// of its first memento names a page; the address without a position is that of the first page.
type page struct {
	address    string
	all        []catalog.Version
	part       []catalog.Version
	from, next int // next: position of the next page, 0 for none
	prev       int // position of the page before, -1 for none
}

// pageOf returns the page that a request names.
func (m *Memento) pageOf(r *http.Request) (p page, err error) {
	from := 0
	if query, position, found := target.CutParameter(r.URL.RawQuery, pageParameter); found {
		r = r.Clone(r.Context())
		r.URL.RawQuery = query
		if from, err = strconv.Atoi(position); err != nil || from < 0 {
			return p, problem.Newf(http.StatusBadRequest, "Bad page", "%q is not a position in a TimeMap", position)
		}
	}
	p.address, p.all, err = m.requested(r)
	if err != nil {
		return p, err
	}
	size := cmp.Or(m.Pages, defaultPage)
	if from >= len(p.all) {
		return p, problem.Newf(http.StatusNotFound, "No such page", "the TimeMap has %d mementos, and no page begins at %d", len(p.all),
			from)
	}
	end := min(from+size, len(p.all))
	p.from, p.part, p.prev = from, p.all[from:end], -1
	if end < len(p.all) {
		p.next = end
	}
	if from > 0 {
		p.prev = max(from-size, 0)
	}
	return p, nil
}

// pageParameter has a name that crawled addresses are unlikely to use. Their own parameters must stay in the address.
const pageParameter = "odarchive-timemap-from"

// pageIRI returns the IRI of the page of a TimeMap that begins at a position.
func pageIRI(timeMap string, from int) string {
	if from == 0 {
		return timeMap
	}
	sep := "?"
	if u, err := url.Parse(timeMap); err == nil && (u.RawQuery != "" || u.ForceQuery) {
		sep = "&"
	}
	return timeMap + sep + pageParameter + "=" + strconv.Itoa(from)
}

// TimeMapLink answers GET /timemap/link/{URL} in link format.
func (m *Memento) TimeMapLink(w http.ResponseWriter, r *http.Request) error {
	p, err := m.pageOf(r)
	if err != nil {
		return err
	}
	begin(w, linkFormat)
	out := bufio.NewWriterSize(w, 32<<10)
	self := m.Mint.TimeMap(p.address)
	fmt.Fprintf(out, "%s,\n", link(p.address, "original", ""))
	fmt.Fprintf(out, "%s; from=\"%s\"; until=\"%s\"", link(pageIRI(self, p.from), "self", linkFormat), stamp(p.part[0]),
		stamp(p.part[len(p.part)-1]))
	fmt.Fprintf(out, ",\n%s", link(m.Mint.TimeGate(p.address), "timegate", ""))
	if p.prev >= 0 {
		fmt.Fprintf(out, ",\n%s", link(pageIRI(self, p.prev), "timemap prev", linkFormat))
	}
	if p.next > 0 {
		fmt.Fprintf(out, ",\n%s; from=\"%s\"", link(pageIRI(self, p.next), "timemap next", linkFormat), stamp(p.all[p.next]))
	}
	for i := range p.part {
		fmt.Fprintf(out, ",\n%s", m.mementoLink(p.part[i], p.rel(i)))
	}
	out.WriteString("\n")
	return flush(out)
}

// rel returns the relations of the page's i-th memento.
func (p *page) rel(i int) string {
	at := p.from + i
	switch {
	case len(p.all) == 1:
		return "first last memento"
	case at == 0:
		return "first memento"
	case at == len(p.all)-1:
		return "last memento"
	}
	return "memento"
}

func stamp(v catalog.Version) string { return v.At.UTC().Format(http.TimeFormat) }

type jsonMemento struct {
	Datetime time.Time `json:"datetime"`
	URI      string    `json:"uri"`
}

// TimeMapJSON answers GET /timemap/json/{URL} in JSON.
func (m *Memento) TimeMapJSON(w http.ResponseWriter, r *http.Request) error {
	p, err := m.pageOf(r)
	if err != nil {
		return err
	}
	begin(w, jsonFormat)
	out := bufio.NewWriterSize(w, 32<<10)
	self := m.Mint.TimeMapJSON(p.address)
	head := map[string]any{
		"original_uri": p.address,
		"self":         pageIRI(self, p.from),
		"timegate_uri": m.Mint.TimeGate(p.address),
		"timemap_uri":  map[string]string{"link_format": m.Mint.TimeMap(p.address), "json_format": self},
	}
	if p.prev >= 0 {
		head["prev"] = pageIRI(self, p.prev)
	}
	if p.next > 0 {
		head["next"] = pageIRI(self, p.next)
	}
	start, err := json.Marshal(head)
	if err != nil {
		return err
	}
	out.Write(start[:len(start)-1])
	out.WriteString(",\n\"mementos\": {\"list\": [")
	for i := range p.part {
		if i > 0 {
			out.WriteString(",")
		}
		out.WriteString("\n")
		out.Write(m.marshal(p.part[i]))
	}
	fmt.Fprintf(out, "],\n\"first\": %s,\n\"last\": %s}}\n", m.marshal(p.all[0]), m.marshal(p.all[len(p.all)-1]))
	return flush(out)
}

func (m *Memento) marshal(v catalog.Version) []byte {
	b, err := json.Marshal(jsonMemento{v.At.UTC().Truncate(time.Second), m.Mint.Version(v.ID)})
	if err != nil { // the year is after 9999
		return []byte("null")
	}
	return b
}

func begin(w http.ResponseWriter, mediaType string) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "no-cache")
}

// flush sends the rest. If that fails, it cuts the connection, so that the answer does not look complete.
func flush(out *bufio.Writer) error {
	if out.Flush() != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}
