package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/document"
)

// documents prints what a file and the files inside it say of themselves: for people, or as one line of JSON each.
func (c *cli) documents(name string, in *inspect.Inside) error {
	if err := c.document(name, in.Document); err != nil {
		return err
	}
	for _, m := range in.Members {
		if err := c.document(name+"/"+m.Path, m.Document); err != nil {
			return err
		}
	}
	return nil
}

// shownFacts is how many variables and attributes of a file are printed for people.
const shownFacts = 50

// document prints what one file says of itself.
func (c *cli) document(name string, d *document.Document) error {
	if d == nil {
		return nil
	}
	if c.json {
		return c.line(json.Marshal(struct {
			File     string             `json:"file"`
			Document *document.Document `json:"document"`
		}{name, d}))
	}
	var b strings.Builder
	b.WriteString(printable(name) + ":\n")
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %s: %s\n", printable(name), printable(value))
		}
	}
	fact("title", d.Title)
	fact("description", d.Description)
	fact("standard", d.Standard)
	fact("creator", d.Creator)
	fact("language", strings.Join(d.Languages, ", "))
	fact("created", d.Created)
	fact("modified", d.Modified)
	fact("written by", d.Software)
	if d.Pages > 0 {
		fact("pages", fmt.Sprint(d.Pages))
	}
	if d.Tables > 0 {
		fact("tables counted", fmt.Sprint(d.Tables))
	}
	if d.Encrypted {
		fact("encrypted", "its content needs a key")
	}
	for _, x := range d.Dimensions[:min(len(d.Dimensions), shownFacts)] {
		fact("dimension "+x.Name, fmt.Sprint(x.Size))
	}
	for _, v := range d.Variables[:min(len(d.Variables), shownFacts)] {
		about := strings.TrimSpace(v.Datatype + " (" + strings.Join(v.Dimensions, ", ") + ")")
		for _, more := range []string{v.Unit, v.Title} {
			if more != "" {
				about += ", " + more
			}
		}
		fact("variable "+v.Name, about)
	}
	for _, a := range d.Attributes[:min(len(d.Attributes), shownFacts)] {
		fact("attribute "+a.Name, a.Value)
	}
	over := max(len(d.Dimensions)-shownFacts, 0) + max(len(d.Variables)-shownFacts, 0) + max(len(d.Attributes)-shownFacts, 0)
	if over > 0 {
		fmt.Fprintf(&b, "  … and %d more; --json lists all\n", over)
	}
	_, err := io.WriteString(c.stdout, b.String())
	return err
}
