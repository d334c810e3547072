package rdfio

import (
	"encoding/json"
	"fmt"
)

// jsonTree is a whole document as encoding/json would decode it, with numbers as json.Number, and some counts.
type jsonTree struct {
	root     any
	objects  int   // number of objects
	values   int   // number of values of any kind
	contexts []any // values of the outermost members named @context
	scoped   bool  // some contexts contain others
	terms    int   // number of members of objects inside @context
}

// tree reads the whole document.
func (j *jsonScanner) tree() (jsonTree, error) {
	var t jsonTree
	var err error
	if t.root, err = j.value(&t, 0, false); err != nil {
		return t, err
	}
	_, err = j.expect("nothing after the document", jsonEnd)
	return t, err
}

func (j *jsonScanner) value(t *jsonTree, depth int, inContext bool) (any, error) {
	k, err := j.expect("a JSON value", '{', '[', jsonString, jsonNumber, jsonTrue, jsonFalse, jsonNull)
	if err != nil {
		return nil, err
	}
	if depth > j.lim.Depth {
		return nil, j.in.failWith(0, limitError("a nesting", int64(j.lim.Depth)))
	}
	t.values++
	switch k {
	case jsonString:
		return string(j.buf), nil
	case jsonNumber:
		return json.Number(j.buf), nil
	case jsonTrue:
		return true, nil
	case jsonFalse:
		return false, nil
	case '{':
		t.objects++
		return j.object(t, depth, inContext)
	case '[':
		return j.array(t, depth, inContext)
	}
	return nil, nil
}

func (j *jsonScanner) object(t *jsonTree, depth int, inContext bool) (any, error) {
	m := map[string]any{}
	for {
		k, err := j.expect("a member's name or '}'", jsonString, '}')
		if err != nil {
			return nil, err
		}
		if k == '}' && len(m) == 0 {
			return m, nil
		}
		if k == '}' {
			return nil, j.in.failWith(0, fmt.Errorf("a comma before '}'"))
		}
		name := string(j.buf)
		if _, twice := m[name]; twice {
			return nil, j.in.failWith(0, fmt.Errorf("the member %q is repeated", name))
		}
		if _, err := j.expect("':'", ':'); err != nil {
			return nil, err
		}
		if inContext {
			t.terms++
		}
		isContext := name == "@context"
		v, err := j.value(t, depth+1, inContext || isContext)
		if err != nil {
			return nil, err
		}
		if n, ok := v.(json.Number); ok && name == "@version" { // the only number that json-gold expects as a float64
			v, _ = n.Float64()
		}
		m[name] = v
		if isContext && inContext {
			t.scoped = true
		} else if isContext {
			t.contexts = append(t.contexts, v)
		}
		if k, err = j.expect("',' or '}'", ',', '}'); err != nil || k == '}' {
			return m, err
		}
	}
}

func (j *jsonScanner) array(t *jsonTree, depth int, inContext bool) (any, error) {
	list := []any{}
	if k, err := j.peek(); err == nil && k == ']' {
		return list, j.read(k)
	}
	for {
		v, err := j.value(t, depth+1, inContext)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if k, err := j.expect("',' or ']'", ',', ']'); err != nil || k == ']' {
			return list, err
		}
	}
}
