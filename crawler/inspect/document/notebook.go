package document

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/inspect/tables/entries"
	"odarchive/crawler/inspect/tables/source"
)

// notebook reads the title and the programming language of a Jupyter notebook.
func notebook(_ context.Context, in source.Input, d *Document) error {
	var n struct {
		Major    int `json:"nbformat"`
		Minor    int `json:"nbformat_minor"`
		Metadata struct {
			Title   string `json:"title"`
			Authors []struct {
				Name string `json:"name"`
			} `json:"authors"`
			Kernel struct {
				Name string `json:"display_name"`
			} `json:"kernelspec"`
			Language struct {
				Name    string `json:"name"`
				Version string `json:"version"`
			} `json:"language_info"`
		} `json:"metadata"`
		Cells []struct {
			Type   string          `json:"cell_type"`
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	limit := source.Options{}.WithDefaults().MaxBytes
	if in.Size > limit {
		return fmt.Errorf("a notebook of more than %d MiB is not read", limit>>20)
	}
	if err := json.NewDecoder(io.LimitReader(in.Text(), 2*limit)).Decode(&n); err != nil {
		return err
	}
	d.Standard, d.Conforms = fmt.Sprintf("Jupyter notebook %d.%d", n.Major, n.Minor), "https://nbformat.readthedocs.io/"
	d.Title = n.Metadata.Title
	for _, a := range n.Metadata.Authors[:min(len(n.Metadata.Authors), 1)] {
		d.Creator = a.Name
	}
	d.Software = n.Metadata.Kernel.Name
	if l := n.Metadata.Language; l.Name != "" {
		d.Attributes = append(d.Attributes, Attribute{"programming language", strings.TrimSpace(l.Name + " " + l.Version)})
	}
	for _, c := range n.Cells { // the first heading
		if c.Type != "markdown" || d.Title != "" {
			continue
		}
		var text string
		var lines []string
		if json.Unmarshal(c.Source, &text) != nil && json.Unmarshal(c.Source, &lines) == nil {
			text = strings.Join(lines, "")
		}
		for line := range strings.Lines(text) {
			if heading, ok := strings.CutPrefix(line, "#"); ok {
				d.Title = strings.TrimSpace(strings.TrimLeft(heading, "#"))
				break
			}
		}
	}
	return nil
}

// calendar reads the name of a calendar.
func calendar(_ context.Context, in source.Input, d *Document) error {
	d.Title, d.Description, d.Software = entries.CalendarHead(in)
	return nil
}
