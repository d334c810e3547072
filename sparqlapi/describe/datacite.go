package describe

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"
)

// The DataCite Metadata Schema 4.6: https://schema.datacite.org/meta/kernel-4.6/. Identifier, creators, titles,
// publisher, year and type are mandatory.

const (
	dataciteSchema    = "http://datacite.org/schema/kernel-4"
	dataciteNamespace = "http://datacite.org/schema/kernel-4"
	dataciteLocation  = dataciteNamespace + " https://schema.datacite.org/meta/kernel-4.6/metadata.xsd"
)

var doiPrefix = regexp.MustCompile(`^10\.[0-9]{4,9}(\.[0-9]+)*$`)

// IsDOIPrefix reports whether a text can be the prefix of DOIs.
func IsDOIPrefix(s string) bool { return doiPrefix.MatchString(s) }

type dcName struct {
	Name string `json:"name" xml:"creatorName"`
	Kind string `json:"nameType,omitempty" xml:"-"`
}

type dcTitle struct {
	Title string `json:"title" xml:",chardata"`
}

type dcPublisher struct {
	Name string `json:"name" xml:",chardata"`
}

type dcSubject struct {
	Subject string `json:"subject" xml:",chardata"`
}

type dcDate struct {
	Date string `json:"date" xml:",chardata"`
	Type string `json:"dateType" xml:"dateType,attr"`
	Info string `json:"dateInformation,omitempty" xml:"dateInformation,attr,omitempty"`
}

type dcType struct {
	General string `json:"resourceTypeGeneral" xml:"resourceTypeGeneral,attr"`
	Type    string `json:"resourceType" xml:",chardata"`
}

type dcIdentifier struct {
	Identifier string `json:"identifier" xml:",chardata"`
	Type       string `json:"identifierType" xml:"identifierType,attr"`
}

// dcAlternate is an alternate identifier: JSON and XML name its parts differently.
type dcAlternate struct {
	Identifier string `json:"alternateIdentifier" xml:",chardata"`
	Type       string `json:"alternateIdentifierType" xml:"alternateIdentifierType,attr"`
}

type dcRelated struct {
	Identifier string `json:"relatedIdentifier" xml:",chardata"`
	Type       string `json:"relatedIdentifierType" xml:"relatedIdentifierType,attr"`
	Relation   string `json:"relationType" xml:"relationType,attr"`
	General    string `json:"resourceTypeGeneral,omitempty" xml:"resourceTypeGeneral,attr,omitempty"`
}

type dcRights struct {
	Rights string `json:"rights" xml:",chardata"`
	URI    string `json:"rightsUri,omitempty" xml:"rightsURI,attr,omitempty"`
}

type dcDescription struct {
	Description string `json:"description" xml:",chardata"`
	Type        string `json:"descriptionType" xml:"descriptionType,attr"`
}

// dataciteXML is the metadata as XML, in the order of the schema.
type dataciteXML struct {
	XMLName      xml.Name        `xml:"http://datacite.org/schema/kernel-4 resource" json:"-"`
	XSI          string          `xml:"xmlns:xsi,attr" json:"-"`
	Location     string          `xml:"xsi:schemaLocation,attr" json:"-"`
	Identifier   dcIdentifier    `xml:"identifier"`
	Creators     []dcName        `xml:"creators>creator"`
	Titles       []dcTitle       `xml:"titles>title"`
	Publisher    dcPublisher     `xml:"publisher"`
	Year         string          `xml:"publicationYear"`
	ResourceType dcType          `xml:"resourceType"`
	Subjects     []dcSubject     `xml:"subjects>subject,omitempty"`
	Dates        []dcDate        `xml:"dates>date,omitempty"`
	Language     string          `xml:"language,omitempty"`
	Alternates   []dcAlternate   `xml:"alternateIdentifiers>alternateIdentifier,omitempty"`
	Related      []dcRelated     `xml:"relatedIdentifiers>relatedIdentifier,omitempty"`
	Sizes        []string        `xml:"sizes>size,omitempty"`
	Formats      []string        `xml:"formats>format,omitempty"`
	Version      string          `xml:"version,omitempty"`
	Rights       []dcRights      `xml:"rightsList>rights,omitempty"`
	Descriptions []dcDescription `xml:"descriptions>description,omitempty"`
}

// dataciteJSON is the metadata as DataCite's JSON has it.
type dataciteJSON struct {
	ID           string          `json:"id,omitempty"`
	DOI          string          `json:"doi,omitempty"`
	URL          string          `json:"url"`
	Types        dcType          `json:"types"`
	Creators     []dcName        `json:"creators"`
	Titles       []dcTitle       `json:"titles"`
	Publisher    dcPublisher     `json:"publisher"`
	Year         int             `json:"publicationYear"`
	Subjects     []dcSubject     `json:"subjects,omitempty"`
	Dates        []dcDate        `json:"dates,omitempty"`
	Language     string          `json:"language,omitempty"`
	Identifiers  []dcIdentifier  `json:"identifiers"`
	Alternates   []dcAlternate   `json:"alternateIdentifiers,omitempty"`
	Related      []dcRelated     `json:"relatedIdentifiers,omitempty"`
	Sizes        []string        `json:"sizes,omitempty"`
	Formats      []string        `json:"formats,omitempty"`
	Version      string          `json:"version,omitempty"`
	Rights       []dcRights      `json:"rightsList,omitempty"`
	Descriptions []dcDescription `json:"descriptions,omitempty"`
	Schema       string          `json:"schemaVersion"`
}

// datacite returns the metadata. doi is the one to be registered; "" leaves it out, and names the IRI instead.
func (w Work) datacite(doi string) (d dataciteXML, year int) {
	d = dataciteXML{XSI: "http://www.w3.org/2001/XMLSchema-instance", Location: dataciteLocation, Identifier: dcIdentifier{w.IRI, "URL"},
		Titles: []dcTitle{{line(w.Title)}}, Publisher: dcPublisher{line(w.From())}, ResourceType: dcType{"Dataset", "Dataset"},
		Language: w.Language, Version: w.version()}
	if doi != "" {
		d.Identifier = dcIdentifier{doi, "DOI"}
		d.Alternates = append(d.Alternates, dcAlternate{w.IRI, "URL"})
	}
	for _, a := range w.Creators() {
		kind := ""
		if len(w.Authors) == 0 {
			kind = "Organizational"
		}
		d.Creators = append(d.Creators, dcName{line(a), kind})
	}
	date := w.Date()
	year = date.UTC().Year()
	d.Year = fmt.Sprintf("%04d", year)
	for _, k := range w.Keywords {
		d.Subjects = append(d.Subjects, dcSubject{line(k)})
	}
	if !w.Published.IsZero() {
		d.Dates = append(d.Dates, dcDate{w.Published.UTC().Format(dayForm), "Issued", ""})
	}
	if !w.Archived.IsZero() {
		d.Dates = append(d.Dates, dcDate{w.Archived.UTC().Format("2006-01-02T15:04:05Z"), "Collected", "when the archive fetched it"})
	}
	if w.SHA256 != "" && w.Version >= 0 {
		d.Alternates = append(d.Alternates, dcAlternate{w.SHA256, "SHA-256"})
	}
	relation := "IsVersionOf"
	if w.Version < 0 {
		relation = "IsIdenticalTo"
	}
	d.Related = append(d.Related, dcRelated{w.URL, "URL", relation, "Dataset"})
	if w.Dataset != "" && w.Dataset != w.URL && strings.Contains(w.Dataset, "://") {
		d.Related = append(d.Related, dcRelated{w.Dataset, "URL", "IsPartOf", "Dataset"})
	}
	if w.DOI != "" {
		d.Related = append(d.Related, dcRelated{w.DOI, "DOI", "IsDerivedFrom", "Dataset"})
	}
	if w.Size > 0 {
		d.Sizes = []string{fmt.Sprintf("%d bytes", w.Size)}
	}
	if w.Type != "" {
		d.Formats = []string{w.Type}
	}
	if w.Licence != "" {
		r := dcRights{Rights: line(w.Licence)}
		if strings.Contains(w.Licence, "://") {
			r.URI = r.Rights
		}
		d.Rights = []dcRights{r}
	}
	if w.Description != "" {
		d.Descriptions = append(d.Descriptions, dcDescription{strings.TrimSpace(w.Description), "Abstract"})
	}
	d.Descriptions = append(d.Descriptions, dcDescription{w.note(), "TechnicalInfo"})
	return d, year
}

// DataCite returns the metadata as JSON, for registering a DOI, or without one if it is empty.
func (w Work) DataCite(doi string) ([]byte, error) {
	d, year := w.datacite(doi)
	j := dataciteJSON{URL: w.IRI, Types: d.ResourceType, Creators: d.Creators, Titles: d.Titles, Publisher: d.Publisher, Year: year,
		Subjects: d.Subjects, Dates: d.Dates, Language: d.Language,
		Identifiers: []dcIdentifier{}, Alternates: d.Alternates, Related: d.Related, Sizes: d.Sizes, Formats: d.Formats, Version: d.Version,
		Rights: d.Rights, Descriptions: d.Descriptions, Schema: dataciteSchema}
	if doi != "" {
		j.DOI, j.ID = doi, "https://doi.org/"+doi
		j.Identifiers = []dcIdentifier{{j.ID, "DOI"}}
	}
	return indented(j)
}

// DataCiteXML returns the metadata as XML. Without a DOI the identifier is the IRI, which DataCite replaces with the
// DOI that it registers.
func (w Work) DataCiteXML(doi string) ([]byte, error) {
	d, _ := w.datacite(doi)
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
