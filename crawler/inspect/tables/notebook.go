package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// notebookFile is a Jupyter notebook (nbformat 4; versions before have their cells in worksheets).
type notebookFile struct {
	Cells      []notebookCell `json:"cells"`
	Worksheets []struct {
		Cells []notebookCell `json:"cells"`
	} `json:"worksheets"`
}

type notebookCell struct {
	Type    string          `json:"cell_type"`
	Count   json.Number     `json:"execution_count"`
	Prompt  json.Number     `json:"prompt_number"`
	Source  json.RawMessage `json:"source"`
	Input   json.RawMessage `json:"input"` // of version 3
	Outputs []struct {
		Type string                     `json:"output_type"`
		Data map[string]json.RawMessage `json:"data"`
		HTML json.RawMessage            `json:"html"` // of version 3
	} `json:"outputs"`
}

// notebook profiles the cells of a notebook as a table, and the tables in their outputs.
func notebook(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	if in.Size > o.MaxBytes {
		return nil, fmt.Errorf("%w: notebooks of more than %d MiB are not read", ErrFormat, o.MaxBytes>>20)
	}
	var n notebookFile
	if err := json.NewDecoder(io.LimitReader(in.Text(), 2*o.MaxBytes)).Decode(&n); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	cells := n.Cells
	for _, w := range n.Worksheets {
		cells = append(cells, w.Cells...)
	}
	at := 0
	p, err := csvprofile.ReadRows(ctx, "cells", []string{"cell", "type", "execution count", "source", "outputs"}, func() ([]string, error) {
		if at >= len(cells) {
			return nil, io.EOF
		}
		c := &cells[at]
		at++
		count := c.Count.String()
		if count == "" {
			count = c.Prompt.String()
		}
		text := joined(c.Source)
		if text == "" {
			text = joined(c.Input)
		}
		outputs := ""
		if c.Type == "code" {
			outputs = strconv.Itoa(len(c.Outputs))
		}
		return []string{strconv.Itoa(at), c.Type, count, text, outputs}, nil
	}, o.Reading(0))
	if err != nil || !source.Worthwhile(p) {
		return nil, err
	}
	found := []*csvprofile.Profile{p}
	for i := range cells {
		for _, out := range cells[i].Outputs {
			text := joined(out.Data["text/html"])
			if text == "" {
				text = joined(out.HTML)
			}
			if !strings.Contains(text, "<table") || len(found) >= o.MaxTables {
				continue
			}
			inner := o
			inner.MaxTables = o.MaxTables - len(found)
			if first := len(found); o.Each != nil {
				inner.Each = func(table int, row [][]byte) error { return o.Each(first+table, row) }
				if o.Begin != nil {
					inner.Begin = func(table int, name string, columns []string, more bool) error {
						return o.Begin(first+table, name, columns, more)
					}
				}
			}
			parts, err := htmlTables(ctx, Input{Charset: "utf-8", Size: int64(len(text)), Body: strings.NewReader(text)}, inner)
			for _, part := range parts {
				if part.Name == "" {
					part.Name = fmt.Sprintf("output of cell %d", i+1)
				}
			}
			if found = append(found, parts...); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// joined returns a text that is a string or a list of lines.
func joined(raw json.RawMessage) string {
	var text string
	var lines []string
	switch {
	case len(raw) == 0:
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &lines) == nil:
		return strings.Join(lines, "")
	}
	return ""
}
