package loose

import (
	"encoding/xml"
	"strings"
)

// Element is an XML element in memory. All methods but Walk accept nil, which has no content.
type Element struct {
	Name     xml.Name
	Attrs    []xml.Attr
	Chars    string // character data directly inside
	Children []*Element
}

// Text returns the character data directly inside, trimmed.
func (e *Element) Text() string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(e.Chars)
}

// Attr returns the trimmed value of the attribute with that local name, "" if there is none.
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

// Child returns the text of the first child with that local name.
func (e *Element) Child(local string) string { return e.First(local).Text() }

// First returns the first element of All, nil if there is none.
func (e *Element) First(path string) *Element {
	if all := e.All(path); len(all) > 0 {
		return all[0]
	}
	return nil
}

// All returns the descendants on a path of local names, like "contact/*/role", where * is any name.
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

// Walk visits e and all its descendants, parents first. up holds the ancestors, the nearest one last.
func (e *Element) Walk(visit func(e *Element, up []*Element)) { e.walk(nil, visit) }

func (e *Element) walk(up []*Element, visit func(*Element, []*Element)) {
	visit(e, up)
	up = append(up, e)
	for _, c := range e.Children {
		c.walk(up, visit)
	}
}

// Find returns the first element with that local name at or below e, nil if there is none.
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
