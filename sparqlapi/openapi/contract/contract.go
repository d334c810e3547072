// Package contract compares answers with the OpenAPI document, for tests.
package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"mime"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"odarchive/sparqlapi/openapi"
)

// Contract checks answers against the document. Of JSON Schema 2020-12 it understands what the document uses. It
// reports an unknown keyword, so that nothing in the document is ignored. Objects must not have members that the
// document does not name.
type Contract struct {
	doc   map[string]any
	Paths map[string]map[string]Operation
}

// Operation is a method of a path.
type Operation struct {
	ID          string `json:"operationId"`
	Parameters  []Parameter
	RequestBody *struct {
		Content map[string]struct{ Example any }
	}
	Responses map[string]Response
	Security  []map[string][]string
}

// Parameter is a parameter of an operation.
type Parameter struct {
	Name, In string
	Required bool
	Example  any
	Schema   map[string]any
}

// Response is one of an operation, or a reference to a common one.
type Response struct {
	Ref     string `json:"$ref"`
	Content map[string]struct{ Schema map[string]any }
}

// Load reads the document.
func Load() (*Contract, error) {
	c := &Contract{}
	text := openapi.Document()
	err := json.Unmarshal(text, &c.doc)
	if err == nil {
		var doc struct {
			Paths map[string]map[string]Operation
		}
		err = json.Unmarshal(text, &doc)
		c.Paths = doc.Paths
	}
	if err != nil {
		return nil, fmt.Errorf("contract: read the document: %w", err)
	}
	return c, nil
}

// Schema returns the schema of the JSON that GET of a path answers with status 200; nil if there is none.
func (s *Contract) Schema(path string) map[string]any {
	return s.Paths[path]["get"].Responses["200"].Content["application/json"].Schema
}

// Answer returns what is wrong with an answer to an operation: an undocumented status or media type, or a body that
// does not hold to its schema.
func (s *Contract) Answer(o Operation, status int, contentType string, body []byte) []string {
	r, ok := o.Responses[fmt.Sprint(status)]
	if !ok && status >= 400 {
		if r, ok = o.Responses[fmt.Sprint(status/100)+"XX"]; !ok {
			r, ok = o.Responses["default"]
		}
	}
	if !ok {
		return []string{fmt.Sprintf("status %d is not documented", status)}
	}
	if r.Ref != "" {
		common := s.doc["components"].(map[string]any)["responses"].(map[string]any)[strings.TrimPrefix(r.Ref, "#/components/responses/")]
		raw, err := json.Marshal(common)
		if r = (Response{}); err != nil || common == nil || json.Unmarshal(raw, &r) != nil {
			return []string{fmt.Sprintf("status %d refers to a response that is not there", status)}
		}
	}
	if len(body) == 0 || status == 304 {
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	content, ok := r.Content[media]
	if _, any := r.Content["*/*"]; err != nil || !ok && !any &&
		!slices.ContainsFunc(slices.Collect(maps.Keys(r.Content)), func(t string) bool { return strings.HasPrefix(t, media+";") }) {
		return []string{fmt.Sprintf("status %d has the media type %q, which is not documented", status, contentType)}
	}
	if content.Schema == nil || !strings.HasSuffix(media, "json") {
		return nil
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return []string{fmt.Sprintf("status %d: the body is not JSON: %v", status, err)}
	}
	return s.Check(content.Schema, v, "$")
}

// Check returns what is wrong with a value that stands at a place of an answer.
func (s *Contract) Check(schema map[string]any, v any, at string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, at+": "+fmt.Sprintf(format, args...)) }
	for keyword, value := range schema {
		switch keyword {
		case "$ref":
			name := strings.TrimPrefix(value.(string), "#/components/schemas/")
			target, ok := s.doc["components"].(map[string]any)["schemas"].(map[string]any)[name].(map[string]any)
			if !ok {
				fault("no schema %s", name)
				continue
			}
			faults = append(faults, s.Check(target, v, at)...)
		case "type":
			if !hasType(value, v) {
				fault("%v (%T) is not of type %v", v, v, value)
			}
		case "required":
			m, _ := v.(map[string]any)
			for _, name := range value.([]any) {
				if _, ok := m[name.(string)]; !ok {
					fault("lacks %q", name)
				}
			}
		case "properties":
			m, _ := v.(map[string]any)
			for name, member := range m {
				sub, ok := value.(map[string]any)[name].(map[string]any)
				if rest, open := schema["additionalProperties"].(map[string]any); !ok && open {
					sub, ok = rest, true
				}
				if !ok && schema["additionalProperties"] == true {
					continue
				}
				if !ok {
					fault("has the undocumented member %q", name)
					continue
				}
				faults = append(faults, s.Check(sub, member, at+"."+name)...)
			}
		case "items":
			list, _ := v.([]any)
			for i, member := range list {
				faults = append(faults, s.Check(value.(map[string]any), member, fmt.Sprintf("%s[%d]", at, i))...)
			}
		case "pattern":
			if text, ok := v.(string); ok && !regexp.MustCompile(value.(string)).MatchString(text) {
				fault("%q does not match %s", text, value)
			}
		case "minimum":
			if n, ok := v.(float64); ok && n < value.(float64) {
				fault("%v is less than %v", n, value)
			}
		case "format":
			if text, ok := v.(string); ok && !hasFormat(value.(string), text) {
				fault("%q is no %s", text, value)
			}
		case "maximum":
			if n, ok := v.(float64); ok && n > value.(float64) {
				fault("%v is more than %v", n, value)
			}
		case "maxLength":
			if text, ok := v.(string); ok && len([]rune(text)) > int(value.(float64)) {
				fault("is longer than %v characters", value)
			}
		case "enum":
			if !slices.Contains(value.([]any), v) {
				fault("%v is not one of %v", v, value)
			}
		case "const":
			if v != value {
				fault("%v is not %v", v, value)
			}
		case "oneOf":
			least := faults
			for i, one := range value.([]any) {
				if f := s.Check(one.(map[string]any), v, at); i == 0 || len(f) < len(least) {
					least = f
				}
			}
			faults = append(faults, least...)
		case "additionalProperties": // with properties below
			if rest, ok := value.(map[string]any); ok && schema["properties"] == nil {
				m, _ := v.(map[string]any)
				for name, member := range m {
					faults = append(faults, s.Check(rest, member, at+"."+name)...)
				}
			}
		case "description", "default", "example", "examples", "title":
		default:
			fault("keyword %q is not understood by this test", keyword)
		}
	}
	return faults
}

func hasType(want, v any) bool {
	if list, ok := want.([]any); ok {
		for _, one := range list {
			if hasType(one, v) {
				return true
			}
		}
		return false
	}
	switch want {
	case "object":
		_, ok := v.(map[string]any)
		return ok
	case "array":
		_, ok := v.([]any)
		return ok
	case "string":
		_, ok := v.(string)
		return ok
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "number":
		_, ok := v.(float64)
		return ok
	case "integer":
		n, ok := v.(float64)
		return ok && n == math.Trunc(n)
	case "null":
		return v == nil
	}
	return false
}

func hasFormat(format, text string) bool {
	switch format {
	case "uri":
		u, err := url.Parse(text)
		return err == nil && u.IsAbs()
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		return err == nil
	}
	return false
}
