package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// route is an operation of the OpenAPI document.
type route struct {
	ID, Method, Path, Summary, About string
	Parameters                       []routeParameter
	BodyType                         string // media type of the body, "" for none
	BodyExample                      string
	Token                            bool
	Answers                          []string
	Snippets                         []snippet
}

type routeParameter struct {
	Name, In, About string
	Example         string
	Required        bool
	Choices         []string
}

type routeGroup struct {
	Name   string
	Routes []route
}

// openAPI is the part of an OpenAPI 3.1 document that the page shows.
type openAPI struct {
	Info struct{ Description string }
	Tags []struct{ Name string }
	// The maps lose the document's order, so the page sorts by tag and path.
	Paths map[string]map[string]struct {
		Tags        []string
		OperationID string `json:"operationId"`
		Summary     string
		Description string
		Parameters  []struct {
			Name, In, Description string
			Required              bool
			Example               any
			Schema                struct{ Enum []string }
		}
		RequestBody struct{ Content map[string]json.RawMessage }
		Responses   map[string]struct {
			Description string
			Content     map[string]json.RawMessage
		}
		Security []map[string][]string
	}
}

// readAPI returns what the document says about the API of an archive at base, and its operations by tag.
func readAPI(document []byte, base string) (about string, groups []routeGroup, err error) {
	var doc openAPI
	if err := json.Unmarshal(document, &doc); err != nil {
		return "", nil, fmt.Errorf("ui: OpenAPI document: %w", err)
	}
	byTag := make(map[string][]route)
	for path, methods := range doc.Paths {
		for method, o := range methods {
			rt := route{ID: o.OperationID, Method: strings.ToUpper(method), Path: path, Summary: o.Summary, About: o.Description,
				Token: len(o.Security) > 0 && len(o.Security[0]) > 0}
			for _, p := range o.Parameters {
				rt.Parameters = append(rt.Parameters,
					routeParameter{p.Name, p.In, p.Description, exampleOf(p.Example, p.Schema.Enum), p.Required, p.Schema.Enum})
			}
			rt.BodyType, rt.BodyExample = bodyOf(o.RequestBody.Content)
			for status, answer := range o.Responses {
				if answer.Description == "" { // a refusal or failure, the same everywhere
					continue
				}
				types := make([]string, 0, len(answer.Content))
				for t := range answer.Content {
					types = append(types, t)
				}
				slices.Sort(types)
				rt.Answers = append(rt.Answers, strings.TrimSpace(status+" "+answer.Description+" "+strings.Join(types, ", ")))
			}
			slices.Sort(rt.Answers)
			if rt.Snippets, err = rt.snippets(base); err != nil {
				return "", nil, err
			}
			for _, tag := range o.Tags {
				byTag[tag] = append(byTag[tag], rt)
			}
		}
	}
	for _, tag := range doc.Tags {
		routes := byTag[tag.Name]
		slices.SortFunc(routes, func(a, b route) int { return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method) })
		if len(routes) > 0 {
			groups = append(groups, routeGroup{tag.Name, routes})
		}
	}
	return doc.Info.Description, groups, nil
}

// exampleOf returns a value to show for a parameter, "" if nothing is known.
func exampleOf(example any, choices []string) string {
	switch {
	case example != nil:
		return fmt.Sprint(example)
	case len(choices) > 0:
		return choices[0]
	}
	return ""
}

// bodyOf returns the simplest body to try a route with.
func bodyOf(content map[string]json.RawMessage) (mediaType, example string) {
	for _, t := range []struct{ mediaType, example string }{
		{"application/sparql-query", "SELECT * WHERE { ?s ?p ?o } LIMIT 10"},
		{"application/json", `{"href": "http://data.example/file.csv"}`}, {"text/turtle", ""},
	} {
		if _, ok := content[t.mediaType]; ok {
			return t.mediaType, t.example
		}
	}
	return "", ""
}
