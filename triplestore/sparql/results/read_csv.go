package results

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/term"
)

// csvDecoder reads CSV.
type csvDecoder struct {
	r *csv.Reader
	b *budget
	n int // number of variables
}

func (r *Reader) openCSV(b *budget, _ Limits) error {
	d := &csvDecoder{r: csv.NewReader(b), b: b}
	d.r.FieldsPerRecord = -1
	head, err := d.r.Read()
	if err != nil {
		return err
	}
	if len(head) == 1 && (head[0] == "true" || head[0] == "false") {
		if _, err := d.r.Read(); err == io.EOF {
			r.isBool, r.boolean = true, head[0] == "true"
			return nil
		}
		return errors.New("text after a boolean")
	}
	r.vars, r.dec, d.n = head, d, len(head)
	return nil
}

func (d *csvDecoder) next() ([]term.Key, error) {
	d.b.refill()
	rec, err := d.r.Read()
	if err != nil {
		return nil, err
	}
	if len(rec) != d.n {
		return nil, fmt.Errorf("%d values for %d variables", len(rec), d.n)
	}
	row := make([]term.Key, len(rec))
	for i, v := range rec {
		if label, ok := strings.CutPrefix(v, "_:"); ok && label != "" {
			row[i] = term.Blank(label)
		} else if v != "" {
			row[i] = term.String(v)
		}
	}
	return row, nil
}

// tsvDecoder reads TSV.
type tsvDecoder struct {
	l     *lines
	n     int // number of variables
	depth int // Limits.Depth
}

func (r *Reader) openTSV(b *budget, l Limits) error {
	d := &tsvDecoder{l: newLines(b), depth: l.Depth}
	head, err := d.l.next()
	if err != nil {
		return err
	}
	if head == "true" || head == "false" {
		if _, err := d.l.next(); err != io.EOF {
			return errors.New("text after a boolean")
		}
		r.isBool, r.boolean = true, head == "true"
		return nil
	}
	r.vars, r.dec = []string{}, d
	if head != "" {
		for _, v := range strings.Split(head, "\t") {
			name := strings.TrimLeft(v, "?$")
			if name == "" || len(name) == len(v) {
				return fmt.Errorf("%.40q in the head is not a variable", v)
			}
			r.vars = append(r.vars, name)
		}
	}
	d.n = len(r.vars)
	return nil
}

func (d *tsvDecoder) next() ([]term.Key, error) {
	line, err := d.l.next()
	if err != nil {
		return nil, err
	}
	row := make([]term.Key, d.n)
	if d.n == 0 && line == "" {
		return row, nil
	}
	cells := strings.Split(line, "\t")
	if len(cells) != d.n {
		return nil, fmt.Errorf("%d values for %d variables", len(cells), d.n)
	}
	for i, c := range cells {
		if c == "" {
			continue
		}
		if row[i], err = syntax.ParseTerm(c, syntax.Options{MaxBytes: len(c), MaxDepth: d.depth}); err != nil {
			return nil, err
		}
	}
	return row, nil
}
