package columnar

import (
	"errors"
	"fmt"
)

// avroType is a type of a schema. Named types may contain themselves.
type avroType struct {
	kind    string
	logical string
	scale   int
	size    int // of fixed
	of      *avroType
	fields  []avroField
	options []*avroType
	symbols []string
}

type avroField struct {
	name string
	of   *avroType
}

// avroParser parses a schema.
type avroParser struct {
	named map[string]*avroType
	types int
}

// parse returns the type that a part of a schema describes. space is the namespace around it.
func (p *avroParser) parse(raw any, space string, depth int) (*avroType, error) {
	if p.types++; p.types > 50_000 || depth > 50 {
		return nil, errors.New("it has too many types, or too deep ones")
	}
	switch v := raw.(type) {
	case string:
		switch v {
		case "null", "boolean", "int", "long", "float", "double", "bytes", "string":
			return &avroType{kind: v}, nil
		}
		for _, name := range []string{v, space + "." + v} {
			if t := p.named[name]; t != nil {
				return t, nil
			}
		}
		return nil, fmt.Errorf("the type %q is not described", v)
	case []any:
		t := &avroType{kind: "union"}
		for _, option := range v {
			o, err := p.parse(option, space, depth+1)
			if err != nil {
				return nil, err
			}
			t.options = append(t.options, o)
		}
		return t, nil
	case map[string]any:
		return p.object(v, space, depth)
	}
	return nil, errors.New("a type is missing")
}

// object parses a type that is written as an object.
func (p *avroParser) object(v map[string]any, space string, depth int) (*avroType, error) {
	kind, ok := v["type"].(string)
	if !ok {
		return p.parse(v["type"], space, depth+1)
	}
	switch kind {
	case "record", "error", "enum", "fixed":
		return p.namedType(v, kind, space, depth)
	case "array", "map":
		of, err := p.parse(v[map[string]string{"array": "items", "map": "values"}[kind]], space, depth+1)
		return &avroType{kind: kind, of: of}, err
	}
	t, err := p.parse(kind, space, depth+1)
	if err != nil {
		return nil, err
	}
	if logical, ok := v["logicalType"].(string); ok {
		copied := *t
		copied.logical = logical
		copied.scale = whole(v["scale"])
		t = &copied
	}
	return t, nil
}

// namedType parses a record, an enumeration or a fixed number of bytes.
func (p *avroParser) namedType(v map[string]any, kind, space string, depth int) (*avroType, error) {
	name, _ := v["name"].(string)
	if n, ok := v["namespace"].(string); ok {
		space = n
	}
	t := &avroType{kind: kind, size: whole(v["size"])}
	t.logical, _ = v["logicalType"].(string)
	t.scale = whole(v["scale"])
	p.named[name] = t
	if space != "" {
		p.named[space+"."+name] = t
	}
	if kind == "enum" {
		symbols, _ := v["symbols"].([]any)
		for _, s := range symbols {
			text, _ := s.(string)
			t.symbols = append(t.symbols, text)
		}
	}
	if kind != "record" && kind != "error" {
		return t, nil
	}
	t.kind = "record"
	fields, _ := v["fields"].([]any)
	for _, f := range fields {
		field, _ := f.(map[string]any)
		name, _ := field["name"].(string)
		of, err := p.parse(field["type"], space, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.fields = append(t.fields, avroField{name, of})
	}
	return t, nil
}

// whole returns a small whole number of JSON, 0 for anything else.
func whole(v any) int {
	n, _ := v.(float64)
	if n < 0 || n > 1<<30 {
		return 0
	}
	return int(n)
}
