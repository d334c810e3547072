package csw

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/iso19115"
	"odarchive/crawler/harvest/loose"
)

// answer is the answer of a catalog service, or a single record.
type answer struct {
	portal                  harvest.Portal // as the capabilities describe it
	schemas                 []string
	list                    bool // the answer has a list of records, which may be empty
	matched, returned, next int  // as the list says; next is 0 at the end
	records                 []record
	exception               *exception
}

// record is a record as the service returned it.
type record struct {
	id       string
	fallback string // hash of the content, if there is no identifier
	root     *loose.Element
	raw      []byte // set for RDF only: a document of its own
}

// exception is an error that the service reports.
type exception struct{ code, text string }

func (e *exception) Error() string {
	return strings.TrimSuffix(strings.TrimSpace("the catalog says: "+e.code+" "+e.text), ".")
}

var errNoCSW = errors.New("something that is neither a catalog service (CSW) nor a record of ISO 19139")

// maxException is the maximum number of bytes quoted from the service.
const maxException = 200

// parse parses a document in UTF-8. Elements are identified by their local names. With an error, the part of the answer
// before the fault has been read.
func parse(body []byte) (*answer, error) {
	a := &answer{}
	r := loose.NewXMLReader(body)
	depth := 0
	for {
		start, from, err := r.Next()
		switch {
		case err != nil && depth == 0 && loose.EndsEarly(err):
			return a, errNoCSW
		case err != nil && depth == 0:
			return a, fmt.Errorf("%w (%w)", errNoCSW, err)
		case err != nil:
			return a, loose.Broken(err)
		case start == nil:
			if depth--; depth <= 0 {
				return a, nil
			}
			continue
		}
		switch start.Name.Local {
		case "GetRecordsResponse", "GetRecordByIdResponse", "SearchResults":
			r.Enter(start)
			depth++
			a.envelope(start)
			continue
		}
		e, err := r.Element(start)
		if err != nil {
			return a, err
		}
		if !a.part(e, func() []byte { return r.Raw(start, from) }) && depth == 0 {
			return a, errNoCSW
		}
		if depth == 0 {
			return a, nil
		}
	}
}

func (a *answer) envelope(start *xml.StartElement) {
	a.list = true
	if start.Name.Local != "SearchResults" {
		return
	}
	e := &loose.Element{Attrs: start.Attr}
	a.matched, a.returned, a.next = number(e.Attr("numberOfRecordsMatched")), number(e.Attr("numberOfRecordsReturned")),
		number(e.Attr("nextRecord"))
}

// part reads an element of an answer. It returns false for unknown elements.
func (a *answer) part(e *loose.Element, raw func() []byte) bool {
	switch name := e.Name.Local; {
	case iso19115.Is(e):
		a.record(record{id: iso19115.ID(e), root: e}, raw)
	case name == "Record" || name == "SummaryRecord" || name == "BriefRecord":
		a.record(record{id: e.Child("identifier"), root: e}, raw)
	case name == "Dataset" || name == "RDF" || name == "Catalog":
		id := e.Attr("about")
		if id == "" {
			id = e.First("Dataset").Attr("about")
		}
		a.record(record{id: id, root: e, raw: raw()}, raw)
	case name == "Capabilities":
		a.capabilities(e)
	case strings.HasSuffix(name, "ExceptionReport"):
		a.exception = &exception{}
		if x := e.Find("Exception"); x != nil {
			a.exception.code = x.Attr("exceptionCode")
		}
		for _, local := range []string{"ExceptionText", "ServiceException"} {
			if x := e.Find(local); x != nil {
				text := strings.Join(strings.Fields(x.Text()), " ")
				a.exception.text = strings.ToValidUTF8(text[:min(len(text), maxException)], "")
			}
		}
	case name == "SearchStatus" || name == "RequestId":
	default:
		return false
	}
	return true
}

func (a *answer) record(r record, raw func() []byte) {
	if r.id == "" {
		sum := sha256.Sum256(raw())
		r.fallback = "record-" + hex.EncodeToString(sum[:8])
	}
	a.records = append(a.records, r)
}

// capabilities reads the description of a catalog and the schemas of its records (OGC 07-006r1, 10.2).
func (a *answer) capabilities(e *loose.Element) {
	id, provider := e.First("ServiceIdentification"), e.First("ServiceProvider")
	a.portal = harvest.Portal{
		Title: id.Child("Title"), Description: id.Child("Abstract"),
		Publisher: harvest.Agent{Name: provider.Child("ProviderName"), URL: provider.First("ProviderSite").Attr("href"),
			Email: provider.First("ServiceContact/ContactInfo/Address/ElectronicMailAddress").Text()},
	}
	for _, operation := range e.All("OperationsMetadata/Operation") {
		if operation.Attr("name") != "GetRecords" {
			continue
		}
		for _, p := range operation.All("Parameter") {
			if !strings.EqualFold(p.Attr("name"), "outputSchema") {
				continue
			}
			for _, v := range append(p.All("Value"), p.All("AllowedValues/Value")...) {
				a.schemas = append(a.schemas, v.Text())
			}
		}
	}
}
