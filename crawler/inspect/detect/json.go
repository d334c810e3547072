package detect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// json recognises JSON and formats written in it.
func (f *file) json(b []byte) (Detection, bool) {
	if b[0] == 0x1e {
		record, _, _ := bytes.Cut(b[1:], []byte{0x1e})
		facts, ok := scanJSON(bytes.TrimSpace(record), len(record) < len(b)-1)
		if ok && geometric(facts) {
			return Detection{Type: "application/geo+json-seq", Confidence: 0.95,
				Because: "features, separated as in a JSON text sequence (RFC 8142)"}, true
		}
		return Detection{Type: "application/json-seq", Confidence: 0.9, Because: "records separated as in a JSON text sequence (RFC 7464)"},
			ok
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
	switch {
	case geometric(facts) && !k["@context"]:
		return found("application/geo+json", "a JSON object of type "+facts.typ)
	case facts.features && !k["@context"]:
		return found("application/geo+json", "a JSON object with a list of features")
	case strings.Contains(facts.schema, "sdmx-json-data"):
		return found("application/vnd.sdmx.data+json", "JSON that names the schema of SDMX data")
	case strings.Contains(facts.schema, "sdmx-json-structure"):
		return found("application/vnd.sdmx.structure+json", "JSON that names the schema of SDMX structures")
	case k["dataSets"] && (k["structure"] || k["structures"]):
		return found("application/vnd.sdmx.data+json", "the keys of SDMX data")
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

// geometric reports whether an object is a GeoJSON object (RFC 7946 section 1.4).
func geometric(f jsonFacts) bool {
	switch f.typ {
	case "FeatureCollection", "Feature", "GeometryCollection", "Point", "LineString", "Polygon", "MultiPoint", "MultiLineString",
		"MultiPolygon":
		return f.keys["features"] || f.keys["geometry"] || f.keys["coordinates"] || f.keys["geometries"]
	}
	return false
}

// jsonFacts describes the beginning of a JSON text.
type jsonFacts struct {
	keys     map[string]bool // of the object, or of the first object of the array
	typ      string          // value of "type"
	context  string          // text of "@context"
	array    bool
	values   int // number of values at the top level
	bindings bool
	features bool   // the first object has a list of objects of type Feature
	schema   string // value of "schema" or "$schema", in the first object or an object in it
}

// jsonDepth is the maximum nesting of values that scanJSON reads.
const jsonDepth = 500

// scanJSON reads tokens to the end of b. ok is false if they are not JSON. whole says that the text is complete.
func scanJSON(b []byte, whole bool) (jsonFacts, bool) {
	f := jsonFacts{keys: map[string]bool{}}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	type level struct {
		object, value bool // in an object; its next token is a value
		key           string
	}
	var stack []level
	outer := 0 // depth of the first object, whose keys count
	for tokens := 0; tokens < 200_000 && f.values <= 50 && len(stack) < jsonDepth; tokens++ {
		tok, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF) && len(stack) == 0:
			return f, tokens > 0
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return f, tokens > 2 && !whole || tokens > 20
		case err != nil: // after many tokens it is still JSON, with an error
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
				outer = jsonDepth + 1 // later objects do not count
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
			if len(stack) == outer+2 && top.key == "type" && t == "Feature" && stack[outer-1].key == "features" {
				f.features = true
			}
			if (top.key == "schema" || top.key == "$schema") && f.schema == "" && len(stack) <= outer+1 {
				f.schema = t
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

// onePerLine reports whether the first line of a text is a complete JSON value.
func onePerLine(b []byte) bool {
	line, _, more := bytes.Cut(b, []byte{'\n'})
	return more && json.Valid(line)
}
