package ui

import (
	"strconv"
	"strings"

	"odarchive/crawler/inspect/document"
)

// facts is what a file says of itself.
type facts struct {
	Lines      []factLine
	Variables  []variable
	Attributes []document.Attribute
	More       string // what is not shown; "" if all is
}

// factLine is a named fact. Link is its address, "" if it has none.
type factLine struct{ Name, Value, Link string }

// variable is an array. Axes are its dimensions with their sizes.
type variable struct{ Name, Title, Unit, Datatype, Axes string }

// factsOf returns what a file says of itself, nil if that is nothing.
func factsOf(d *document.Document) *facts {
	if d == nil {
		return nil
	}
	f := &facts{}
	add := func(name, value string) {
		if value != "" {
			f.Lines = append(f.Lines, factLine{Name: name, Value: value})
		}
	}
	add("Title", d.Title)
	add("Description", d.Description)
	if d.Standard != "" {
		f.Lines = append(f.Lines, factLine{"Standard", d.Standard, httpLink(d.Conforms)})
	}
	add("Creator", d.Creator)
	add("Language", strings.Join(d.Languages, ", "))
	add("Created", d.Created)
	add("Modified", d.Modified)
	add("Written by", d.Software)
	if d.Pages > 0 {
		add("Pages", humanCount(d.Pages))
	}
	if d.Tables > 0 {
		add("Tables counted", humanCount(d.Tables))
	}
	if d.Encrypted {
		add("Encrypted", "yes: its content needs a key")
	}
	size := map[string]string{}
	var axes []string
	for _, x := range d.Dimensions {
		size[x.Name] = x.Name + " (" + strconv.FormatInt(x.Size, 10) + ")"
		axes = append(axes, size[x.Name])
	}
	add("Dimensions", strings.Join(axes[:min(len(axes), maxShown)], ", "))
	for _, v := range d.Variables[:min(len(d.Variables), maxShown)] {
		line := variable{Name: v.Name, Title: v.Title, Unit: v.Unit, Datatype: v.Datatype}
		for i, name := range v.Dimensions {
			if i > 0 {
				line.Axes += " × "
			}
			if s := size[name]; s != "" {
				name = s
			}
			line.Axes += name
		}
		f.Variables = append(f.Variables, line)
	}
	f.Attributes = d.Attributes[:min(len(d.Attributes), maxShown)]
	if n := d.Omitted + len(d.Variables) - len(f.Variables) + len(d.Attributes) - len(f.Attributes); n > 0 {
		f.More = plural(n, "more fact") + " about the file " + map[bool]string{true: "is", false: "are"}[n == 1] + " not shown."
	}
	return f
}

// ownTitle returns the title that a file gives itself.
func ownTitle(d *document.Document) string {
	if d == nil {
		return ""
	}
	return d.Title
}

// httpLink returns an address that a page may link to, "" for others.
func httpLink(address string) string {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return address
	}
	return ""
}
