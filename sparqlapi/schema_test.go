package sparqlapi_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi/openapi"
)

// schemas checks values against the part of JSON Schema 2020-12 that openapi.json uses. It reports an unknown keyword,
// so that nothing in the document is ignored. Objects must not have members that the document does not name.
type schemas struct{ doc map[string]any }

func readSchemas(t *testing.T) schemas {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(openapi.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	return schemas{doc}
}

func (s schemas) response(t *testing.T, path string) map[string]any {
	t.Helper()
	v := any(s.doc)
	for _, step := range []string{"paths", path, "get", "responses", "200", "content", "application/json", "schema"} {
		m, ok := v.(map[string]any)
		if !ok || m[step] == nil {
			t.Fatalf("openapi.json has no %s of %s", step, path)
		}
		v = m[step]
	}
	return v.(map[string]any)
}

func (s schemas) check(schema map[string]any, v any, at string) (faults []string) {
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
			faults = append(faults, s.check(target, v, at)...)
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
				if !ok {
					fault("has the undocumented member %q", name)
					continue
				}
				faults = append(faults, s.check(sub, member, at+"."+name)...)
			}
		case "items":
			list, _ := v.([]any)
			for i, member := range list {
				faults = append(faults, s.check(value.(map[string]any), member, fmt.Sprintf("%s[%d]", at, i))...)
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
		case "description":
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
