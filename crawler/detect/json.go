package detect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// json recognises JSON and what is written in it.
func (f *file) json(b []byte) (Detection, bool) {
	if b[0] == 0x1e { // RFC 7464, RFC 8142
		return Detection{Type: "application/geo+json-seq", Confidence: 0.7, Because: "records separated as in a JSON text sequence"}, true
	}
	if b[0] != '{' && b[0] != '[' {
		return Detection{}, false
	}
	facts, ok := scanJSON(b, f.whole)
	if !ok {
		return Detection{}, false
	}
	found := func(t, why string) (Detection, bool) {
		return Detection{Type: t, Confidence: 0.95, Because: why}, true
	}
	if facts.values > 1 && onePerLine(b) {
		return found("application/x-ndjson", "one JSON value a line")
	}
	k := facts.keys
	geometry := false
	switch facts.typ {
	case "FeatureCollection", "Feature", "GeometryCollection", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString", "MultiPolygon":
		geometry = k["features"] || k["geometry"] || k["coordinates"] || k["geometries"]
	}
	switch {
	case geometry && !k["@context"]:
		return found("application/geo+json", "a JSON object of type "+facts.typ)
	case facts.typ == "Topology" && k["arcs"]:
		return found("application/topo+json", "a JSON object of type Topology with arcs")
	case k["@context"] && strings.Contains(facts.context, "w3.org/ns/csvw"):
		return found("application/csvm+json", "JSON in the context of CSV on the Web")
	case k["@context"] || k["@graph"] || k["@id"] && (k["@type"] || facts.array):
		return found("application/ld+json", "JSON with the keywords of JSON-LD")
	case facts.array && k["@id"]:
		return found("application/ld+json", "JSON with the keywords of JSON-LD")
	case k["cells"] && k["nbformat"]:
		return found("application/x-ipynb+json", "the keys of a Jupyter notebook")
	case k["head"] && k["results"] && facts.bindings:
		return found("application/sparql-results+json", "the keys of SPARQL results")
	case k["asset"] && (k["scenes"] || k["meshes"]):
		return found("model/gltf+json", "the keys of glTF")
	}
	return found("application/json", "it parses as JSON")
}

// jsonFacts is what is known of a JSON text after a look at its beginning.
type jsonFacts struct {
	keys     map[string]bool // of the object, or of the first object of the array
	typ      string          // value of "type"
	context  string          // text of "@context"
	array    bool
	values   int // values at the top level, one a line
	bindings bool
}

// jsonDepth is how deep values may be nested before the look ends.
const jsonDepth = 500

// scanJSON reads tokens up to the end of b; ok is false if they are no JSON. whole says that the text is complete.
func scanJSON(b []byte, whole bool) (jsonFacts, bool) {
	f := jsonFacts{keys: map[string]bool{}}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	type level struct {
		object, value bool // in an object; its next token is a value
		key           string
	}
	var stack []level
	outer := 0 // depth of the first object, whose keys matter
	for tokens := 0; tokens < 200_000 && f.values <= 50 && len(stack) < jsonDepth; tokens++ {
		tok, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF) && len(stack) == 0:
			return f, tokens > 0
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return f, tokens > 2 && !whole || tokens > 20
		case err != nil: // well into a text it is still JSON, with a fault
			return f, tokens > 200 || !whole && dec.InputOffset() > int64(len(b))-64 && tokens > 5
		}
		top := level{}
		if len(stack) > 0 {
			top = stack[len(stack)-1]
		}
		switch t := tok.(type) {
		case json.Delim:
			switch t {
			case '{', '[':
				if len(stack) == 0 && f.values == 0 {
					f.array = t == '['
				}
				stack = append(stack, level{object: t == '{'})
				if t == '{' && outer == 0 {
					outer = len(stack)
				}
				continue
			}
			if len(stack) == outer {
				outer = jsonDepth + 1 // later objects do not matter
			}
			stack = stack[:len(stack)-1]
		case string:
			if top.object && !top.value {
				stack[len(stack)-1].key, stack[len(stack)-1].value = t, true
				if len(stack) == outer {
					f.keys[t] = true
				}
				f.bindings = f.bindings || t == "bindings" || t == "boolean"
				continue
			}
			if len(stack) == outer && top.key == "type" {
				f.typ = t
			}
			if outer > 0 && len(stack) >= outer && outer <= len(stack) && stack[outer-1].key == "@context" {
				f.context += " " + t
			}
		}
		if len(stack) == 0 {
			f.values++
		} else {
			stack[len(stack)-1].value = false
		}
	}
	return f, true
}

// onePerLine tells whether the first line of a text is a whole JSON value.
func onePerLine(b []byte) bool {
	line, _, more := bytes.Cut(b, []byte{'\n'})
	return more && json.Valid(line)
}
