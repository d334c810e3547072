package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"odarchive/triplestore/term"
)

// jsonDecoder reads the document by tokens and decodes one row at a time.
type jsonDecoder struct {
	d    *json.Decoder
	b    *budget
	l    Limits
	vars map[string]int        // positions in a row
	rest []map[string]jsonTerm // rows before the head
	open bool                  // in the array of bindings
}

// jsonTerm is a term as JSON.
type jsonTerm struct {
	Type     string          `json:"type"`
	Value    json.RawMessage `json:"value"`
	Lang     string          `json:"xml:lang"`
	Dir      string          `json:"its:dir"`
	Datatype string          `json:"datatype"`
}

func (r *Reader) openJSON(b *budget, l Limits) error {
	d := &jsonDecoder{d: json.NewDecoder(b), b: b, l: l}
	r.dec = d
	if err := d.delim('{'); err != nil {
		return err
	}
	haveHead, haveBody := false, false
	for d.d.More() {
		key, err := d.d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "head":
			var head struct {
				Vars []string `json:"vars"`
			}
			if err := d.d.Decode(&head); err != nil {
				return err
			}
			r.vars, haveHead = head.Vars, true
			d.number(r.vars)
		case "boolean":
			if err := d.d.Decode(&r.boolean); err != nil {
				return err
			}
			r.isBool, haveBody = true, true
		case "results":
			if haveBody {
				return errors.New(`two members "results"`)
			}
			haveBody = true
			if err := d.toBindings(); err != nil {
				return err
			}
			if haveHead {
				return nil // next reads the rows
			}
			if err := d.collect(); err != nil {
				return err
			}
		default:
			if err := d.skip(); err != nil {
				return err
			}
		}
	}
	if err := d.delim('}'); err != nil {
		return err
	}
	if !haveBody {
		return errors.New(`neither "results" nor "boolean"`)
	}
	return d.atEnd()
}

// number sets the positions of variables.
func (d *jsonDecoder) number(vars []string) {
	d.vars = make(map[string]int, len(vars))
	for i, v := range vars {
		d.vars[v] = i
	}
}

// delim reads a bracket or brace.
func (d *jsonDecoder) delim(want json.Delim) error {
	t, err := d.d.Token()
	if err != nil {
		return err
	}
	if t != want {
		return fmt.Errorf("found %v, expected %v", t, want)
	}
	return nil
}

// skip skips a value.
func (d *jsonDecoder) skip() error {
	var v json.RawMessage
	return d.d.Decode(&v)
}

// atEnd returns an error if the document is not complete.
func (d *jsonDecoder) atEnd() error {
	if _, err := d.d.Token(); err != io.EOF {
		return errors.New("text after the end of the document")
	}
	return nil
}

// toBindings reads up to the first row, over {"bindings": [.
func (d *jsonDecoder) toBindings() error {
	if err := d.delim('{'); err != nil {
		return err
	}
	for d.d.More() {
		key, err := d.d.Token()
		if err != nil {
			return err
		}
		if key == "bindings" {
			d.open = true
			return d.delim('[')
		}
		if err := d.skip(); err != nil { // old endpoints write "ordered" and "distinct"
			return err
		}
	}
	return errors.New(`"results" without "bindings"`)
}

// leaveBindings reads the end of the array and of the object around it.
func (d *jsonDecoder) leaveBindings() error {
	d.open = false
	if err := d.delim(']'); err != nil {
		return err
	}
	return d.leaveObject()
}

// leaveObject skips the rest of an object.
func (d *jsonDecoder) leaveObject() error {
	for d.d.More() {
		if _, err := d.d.Token(); err != nil {
			return err
		}
		if err := d.skip(); err != nil {
			return err
		}
	}
	return d.delim('}')
}

// collect keeps the rows of a document whose head comes last. Together they must fit the budget of one row.
func (d *jsonDecoder) collect() error {
	for d.d.More() {
		var row map[string]jsonTerm
		if err := d.d.Decode(&row); err != nil {
			return err
		}
		d.rest = append(d.rest, row)
	}
	return d.leaveBindings()
}

func (d *jsonDecoder) next() ([]term.Key, error) {
	if !d.open {
		if len(d.rest) == 0 {
			return nil, io.EOF
		}
		row := d.rest[0]
		d.rest = d.rest[1:]
		return d.row(row)
	}
	d.b.refill()
	if d.d.More() {
		var row map[string]jsonTerm
		if err := d.d.Decode(&row); err != nil {
			return nil, unexpected(err)
		}
		return d.row(row)
	}
	if err := d.close(); err != nil {
		return nil, unexpected(err)
	}
	return nil, io.EOF
}

// close reads the rest of the document after the rows.
func (d *jsonDecoder) close() error {
	if err := d.leaveBindings(); err != nil {
		return err
	}
	if err := d.leaveObject(); err != nil {
		return err
	}
	return d.atEnd()
}

// row returns the row with the given terms.
func (d *jsonDecoder) row(m map[string]jsonTerm) ([]term.Key, error) {
	row := make([]term.Key, len(d.vars))
	for name, t := range m {
		i, ok := d.vars[name]
		if !ok {
			return nil, fmt.Errorf("a value for %q, which is not in the head", name)
		}
		k, err := t.key(d.l.Depth)
		if err != nil {
			return nil, fmt.Errorf("?%s: %w", name, err)
		}
		row[i] = k
	}
	return row, nil
}

// key returns the term. Triple terms may nest depth deep.
func (t jsonTerm) key(depth int) (term.Key, error) {
	if t.Type == "triple" {
		if depth == 0 {
			return "", fmt.Errorf("nested triple terms: %w", ErrLimit)
		}
		var v struct{ Subject, Predicate, Object jsonTerm }
		if err := json.Unmarshal(t.Value, &v); err != nil {
			return "", err
		}
		var k [3]term.Key
		for i, part := range [3]jsonTerm{v.Subject, v.Predicate, v.Object} {
			var err error
			if k[i], err = part.key(depth - 1); err != nil {
				return "", err
			}
		}
		return term.Triple(k[0], k[1], k[2]), nil
	}
	var v string
	if bytes.Equal(t.Value, []byte("null")) || json.Unmarshal(t.Value, &v) != nil {
		return "", fmt.Errorf("the value of a %q is not a string", t.Type)
	}
	switch t.Type {
	case "uri":
		return term.IRI(v), nil
	case "bnode":
		return term.Blank(v), nil
	case "literal", "typed-literal":
		return literal(v, t.Lang, t.Dir, t.Datatype)
	}
	return "", fmt.Errorf("unknown type %q", t.Type)
}

// literal returns a literal. A language makes its datatype redundant.
func literal(lex, lang, dir, datatype string) (term.Key, error) {
	if lang == "" {
		return term.Typed(lex, datatype), nil
	}
	if dir != "" {
		if dir != "ltr" && dir != "rtl" {
			return "", fmt.Errorf("unknown base direction %q", dir)
		}
		lang += "--" + dir
	}
	return term.Lang(lex, lang), nil
}
