package loosexml

import (
	"encoding/xml"
	"strings"
)

// Element is a piece of XML, held whole.
type Element struct {
	Name     xml.Name
	Attrs    []xml.Attr
	Chars    string // all character data directly inside
	Children []*Element
}

// Text directly inside, trimmed; "" of nil.
func (e *Element) Text() string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(e.Chars)
}

// Attr is the value of the attribute of that local name, "" where there is none.
func (e *Element) Attr(local string) string {
	if e == nil {
		return ""
	}
	for _, a := range e.Attrs {
		if a.Name.Local == local {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// Child is the text of the first child of that local name.
func (e *Element) Child(local string) string { return e.First(local).Text() }

// First of what All finds, nil where it finds nothing.
func (e *Element) First(path string) *Element {
	if all := e.All(path); len(all) > 0 {
		return all[0]
	}
	return nil
}

// All elements that local names, one below the other, lead to: "contact/*/role", where * is any name.
func (e *Element) All(path string) []*Element {
	if e == nil {
		return nil
	}
	name, rest, more := strings.Cut(path, "/")
	var all []*Element
	for _, c := range e.Children {
		switch {
		case name != "*" && c.Name.Local != name:
		case more:
			all = append(all, c.All(rest)...)
		default:
			all = append(all, c)
		}
	}
	return all
}

// Walk visits e and everything below it, parents first; up holds the ancestors, the nearest last.
func (e *Element) Walk(visit func(e *Element, up []*Element)) { e.walk(nil, visit) }

func (e *Element) walk(up []*Element, visit func(*Element, []*Element)) {
	visit(e, up)
	up = append(up, e)
	for _, c := range e.Children {
		c.walk(up, visit)
	}
}

// Find is the first element of that local name at or below e, nil where there is none.
func (e *Element) Find(local string) *Element {
	if e == nil || e.Name.Local == local {
		return e
	}
	for _, c := range e.Children {
		if found := c.Find(local); found != nil {
			return found
		}
	}
	return nil
}
