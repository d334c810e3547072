package csw

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
)

const accepted = "application/xml, text/xml;q=0.9, */*;q=0.1"

// greet requests the capabilities of a service. If the address is that of a saved answer or a record, that is all there
// is to harvest.
func (c *client) greet(ctx context.Context, address string) (*answer, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, fmt.Errorf("malformed address %q: %w", address, err)
	}
	ask := portalapi.WithQuery(c.base, url.Values{"service": {"CSW"}, "request": {"GetCapabilities"}})
	if kind := strings.ToLower(u.Query().Get("request")); kind == "getrecordbyid" {
		ask = address
	}
	a, err := c.ask(ctx, harvest.Request{URL: ask})
	if err != nil {
		return nil, err
	}
	if len(a.records) == 0 {
		return a, nil
	}
	c.base, c.first, c.saved = strings.TrimSpace(address), a, true
	if a.next > 0 && a.matched > len(a.records) {
		c.Out.Skip(fmt.Sprintf("%s is a saved answer with %d of %d records", address, len(a.records), a.matched))
	}
	return a, nil
}

// records requests the list from a position on, by POST if the service rejects GET. If the answer breaks off, records
// returns the complete records and an error.
func (c *client) records(ctx context.Context, start int) (*answer, error) {
	if !c.post {
		a, err := c.ask(ctx, harvest.Request{URL: c.query(start)})
		if err == nil && a.list || ctx.Err() != nil || !refused(err) && err != nil {
			return a, err
		}
		c.post = true
		b, postErr := c.records(ctx, start)
		if postErr != nil && b == nil {
			c.post = false
			if err == nil {
				err = fmt.Errorf("%s did not answer with a list of records", c.base)
			}
			return nil, err
		}
		return b, postErr
	}
	a, err := c.ask(ctx, harvest.Request{URL: c.base, Method: http.MethodPost, Type: "application/xml", Body: c.body(start), Tries: 2})
	if err == nil && !a.list {
		return nil, fmt.Errorf("%s did not answer with a list of records", c.base)
	}
	return a, err
}

// refused reports whether an error concerns the request, not the server.
func refused(err error) bool {
	var exception *exception
	return errors.As(err, &exception) || portalapi.Refused(err) || portalapi.Answered(err)
}

func (c *client) query(start int) string {
	query := url.Values{"service": {"CSW"}, "version": {"2.0.2"}, "request": {"GetRecords"}, "resultType": {"results"},
		"elementSetName": {"full"}, "typeNames": {c.types()},
		"outputSchema": {c.Mark.Get("schema")}, "startPosition": {strconv.Itoa(start)}, "maxRecords": {strconv.Itoa(c.Source.Rows)}}
	if since := c.Mark.Get("since"); since != "" {
		query.Set("constraintLanguage", "CQL_TEXT")
		query.Set("constraint_language_version", "1.1.0")
		query.Set("constraint", "modified >= '"+since+"'")
	}
	return portalapi.WithQuery(c.base, query)
}

// types returns the type of record to request, which for some services must be that of the schema.
func (c *client) types() string {
	if c.Mark.Get("schema") == iso19139 {
		return "gmd:MD_Metadata"
	}
	return "csw:Record"
}

// body returns a GetRecords request (OGC 07-006r1, 10.8).
func (c *client) body(start int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<?xml version="1.0" encoding="UTF-8"?>
<csw:GetRecords xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:ogc="http://www.opengis.net/ogc" xmlns:gmd="http://www.isotc211.org/2005/gmd" `+
		`service="CSW" version="2.0.2" resultType="results" startPosition="%d" maxRecords="%d" outputSchema="`, start, c.Source.Rows)
	xml.EscapeText(&b, []byte(c.Mark.Get("schema"))) // cannot fail
	fmt.Fprintf(&b, `"><csw:Query typeNames="%s"><csw:ElementSetName>full</csw:ElementSetName>`, c.types())
	if since := c.Mark.Get("since"); since != "" {
		b.WriteString(
			`<csw:Constraint version="1.1.0"><ogc:Filter><ogc:PropertyIsGreaterThanOrEqualTo>` +
				`<ogc:PropertyName>modified</ogc:PropertyName><ogc:Literal>`)
		xml.EscapeText(&b, []byte(since))
		b.WriteString(`</ogc:Literal></ogc:PropertyIsGreaterThanOrEqualTo></ogc:Filter></csw:Constraint>`)
	}
	b.WriteString(`</csw:Query></csw:GetRecords>`)
	return b.String()
}

// ask requests a document and parses it. If the document is broken, ask returns the part before the fault and an error.
func (c *client) ask(ctx context.Context, r harvest.Request) (*answer, error) {
	r.Accept = accepted
	reply, err := harvest.Ask(ctx, c.Source.HTTP, r)
	var status *harvest.StatusError
	if errors.As(err, &status) { // an exception may have any status
		if a, parseErr := parse(status.Body); a != nil && a.exception != nil && parseErr == nil {
			return nil, fmt.Errorf("%s: %w", c.base, a.exception)
		}
	}
	if err != nil {
		return nil, err
	}
	if page := portalapi.WebPage(reply.Body); page != "" {
		return nil, fmt.Errorf("%s answered with %s instead of a catalog of geographic data", reply.URL, page)
	}
	a, err := parse(reply.Body)
	switch {
	case errors.Is(err, errNoCSW):
		return nil, fmt.Errorf("%s answered with %w", reply.URL, err)
	case err != nil && len(a.records) > 0:
		return a, fmt.Errorf("%s: %w", reply.URL, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", reply.URL, err)
	case a.exception != nil:
		return nil, fmt.Errorf("%s: %w", c.base, a.exception)
	}
	return a, nil
}
