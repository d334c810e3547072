package preserve

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"strconv"
	"time"
)

// PREMIS 3.0 (Library of Congress, http://www.loc.gov/premis/v3). Only the units that say something are written, in the
// order of the schema.

type premisDocument struct {
	XMLName xml.Name       `xml:"http://www.loc.gov/premis/v3 premis"`
	Version string         `xml:"version,attr"`
	XSI     string         `xml:"xmlns:xsi,attr"`
	Object  premisObject   `xml:"object"`
	Events  []premisEvent  `xml:"event"`
	Agent   premisAgent    `xml:"agent"`
	Rights  []premisRights `xml:"rights"`
}

type premisObject struct {
	Type         string              `xml:"xsi:type,attr"`
	Identifiers  []premisIdentifier  `xml:"objectIdentifier"`
	Composition  string              `xml:"objectCharacteristics>compositionLevel"`
	Fixity       []premisFixity      `xml:"objectCharacteristics>fixity"`
	Size         string              `xml:"objectCharacteristics>size,omitempty"`
	Format       string              `xml:"objectCharacteristics>format>formatDesignation>formatName"`
	OriginalName string              `xml:"originalName,omitempty"`
	Events       []premisLinkedEvent `xml:"linkingEventIdentifier"`
}

type premisIdentifier struct {
	Type  string `xml:"objectIdentifierType"`
	Value string `xml:"objectIdentifierValue"`
}

type premisFixity struct {
	Algorithm  string `xml:"messageDigestAlgorithm"`
	Digest     string `xml:"messageDigest"`
	Originator string `xml:"messageDigestOriginator,omitempty"`
}

type premisLinkedEvent struct {
	Type  string `xml:"linkingEventIdentifierType"`
	Value string `xml:"linkingEventIdentifierValue"`
}

type premisEvent struct {
	IDType  string             `xml:"eventIdentifier>eventIdentifierType"`
	ID      string             `xml:"eventIdentifier>eventIdentifierValue"`
	Type    premisTerm         `xml:"eventType"`
	Time    string             `xml:"eventDateTime"`
	Detail  string             `xml:"eventDetailInformation>eventDetail"`
	Outcome string             `xml:"eventOutcomeInformation>eventOutcome"`
	Agent   premisLinkedAgent  `xml:"linkingAgentIdentifier"`
	Object  premisLinkedObject `xml:"linkingObjectIdentifier"`
}

// premisTerm is a term of a vocabulary of the Library of Congress.
type premisTerm struct {
	Authority string `xml:"authority,attr"`
	URI       string `xml:"valueURI,attr"`
	Name      string `xml:",chardata"`
}

type premisLinkedAgent struct {
	Type  string `xml:"linkingAgentIdentifierType"`
	Value string `xml:"linkingAgentIdentifierValue"`
}

type premisLinkedObject struct {
	Type  string `xml:"linkingObjectIdentifierType"`
	Value string `xml:"linkingObjectIdentifierValue"`
}

type premisAgent struct {
	IDType string `xml:"agentIdentifier>agentIdentifierType"`
	ID     string `xml:"agentIdentifier>agentIdentifierValue"`
	Name   string `xml:"agentName"`
	Type   string `xml:"agentType"`
}

type premisRights struct {
	IDType string             `xml:"rightsStatement>rightsStatementIdentifier>rightsStatementIdentifierType"`
	ID     string             `xml:"rightsStatement>rightsStatementIdentifier>rightsStatementIdentifierValue"`
	Basis  string             `xml:"rightsStatement>rightsBasis"`
	Other  string             `xml:"rightsStatement>otherRightsInformation>otherRightsBasis"`
	Note   string             `xml:"rightsStatement>otherRightsInformation>otherRightsNote"`
	Object premisLinkedObject `xml:"rightsStatement>linkingObjectIdentifier"`
}

const uriType = "URI"

// eventTypes are identifiers of http://id.loc.gov/vocabulary/preservation/eventType.
var eventTypes = map[string]string{
	"capture": "cap", "message digest calculation": "mes", "ingestion": "ing", "deaccession": "dea",
}

// PREMIS returns the events of a version as PREMIS 3.0 in XML: how it was captured and, if it was, withdrawn. agent is
// the IRI of the crawler.
func PREMIS(v Version, agent string) []byte {
	id := cmp.Or(v.IRI, v.URL)
	doc := premisDocument{
		Version: "3.0", XSI: "http://www.w3.org/2001/XMLSchema-instance",
		Object: premisObject{
			Type: "file", Identifiers: []premisIdentifier{{uriType, id}}, Composition: "0", OriginalName: v.URL,
			Format: cmp.Or(v.MediaType, "application/octet-stream"),
		},
		Agent: premisAgent{IDType: uriType, ID: agent, Name: "ODArchive", Type: "software"},
	}
	if v.Size >= 0 {
		doc.Object.Size = strconv.FormatInt(v.Size, 10)
	}
	for _, f := range [][2]string{{"SHA-256", v.SHA256}, {"MD5", v.MD5}} {
		if f[1] != "" {
			doc.Object.Fixity = append(doc.Object.Fixity, premisFixity{f[0], f[1], agent})
		}
	}
	add := func(kind string, at time.Time, detail, outcome string) {
		e := premisEvent{
			IDType: "local", ID: id + "#" + eventTypes[kind], Time: at.UTC().Format(time.RFC3339Nano), Detail: detail, Outcome: outcome,
			Type:  premisTerm{"eventType", "http://id.loc.gov/vocabulary/preservation/eventType/" + eventTypes[kind], kind},
			Agent: premisLinkedAgent{uriType, agent}, Object: premisLinkedObject{uriType, id},
		}
		doc.Events = append(doc.Events, e)
		doc.Object.Events = append(doc.Object.Events, premisLinkedEvent{e.IDType, e.ID})
	}
	from := "Fetched from " + v.URL
	if v.FinalURL != "" {
		from += ", which redirected to " + v.FinalURL
	}
	outcome := "success"
	if v.Status != 0 {
		outcome = "success: HTTP status " + strconv.Itoa(v.Status)
	}
	if v.Truncated != "" {
		outcome = "partial: " + v.Truncated
	}
	add("capture", v.Time, from+".", outcome)
	add("message digest calculation", v.Time, "SHA-256 and MD5 of the bytes, without content codings.", "success")
	add("ingestion", v.Time, "Stored as version "+strconv.Itoa(v.N)+" of the file.", "success")
	if w := v.Withdrawal; w != nil {
		add("deaccession", w.At, w.Sentence(), "the bytes were removed")
		doc.Rights = []premisRights{
			{IDType: "local", ID: id + "#withdrawal", Basis: "other", Other: cmp.Or(w.Basis, "decision of the archive"), Note: w.Reason,
				Object: premisLinkedObject{uriType, id}}}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil { // strings and a buffer never fail
		panic(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}
