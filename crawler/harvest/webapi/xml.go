package webapi

import (
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// maxElements bounds an XML document.
const maxElements = 1 << 20

// parseXML reads an XML document as if it were JSON: an element is an object of its children and, as "@name", of its
// attributes; children of one name are a list; an element with text only is that text, and beside other members the
// text is "#text". Names are without prefixes. The document is an object with the root element.
func parseXML(address string, body []byte) (loose.Value, error) {
	if page := portalapi.WebPage(body); page != "" {
		return loose.Value{}, &portalapi.PageError{URL: address, Page: page}
	}
	r := loose.NewXMLReader(body)
	start, _, err := r.Next()
	if errors.Is(err, io.EOF) || err == nil && start == nil {
		return loose.Value{}, &wrongAnswer{address + " answered without any element of XML"}
	}
	if err != nil {
		return loose.Value{}, &wrongAnswer{fmt.Sprintf("%s: %v", address, loose.Broken(err))}
	}
	root, err := r.Element(start)
	if err != nil {
		return loose.Value{}, &wrongAnswer{fmt.Sprintf("%s: %v", address, err)}
	}
	left := maxElements
	v := valueOf(root, &left)
	if left < 0 {
		return loose.Value{}, &wrongAnswer{fmt.Sprintf("%s: more than %d elements", address, maxElements)}
	}
	return loose.Object([]string{root.Name.Local}, []loose.Value{v}), nil
}

func valueOf(e *loose.Element, left *int) loose.Value {
	if *left--; *left < 0 {
		return loose.Value{}
	}
	var names []string
	members := map[string][]loose.Value{}
	add := func(name string, v loose.Value) {
		if members[name] == nil {
			names = append(names, name)
		}
		members[name] = append(members[name], v)
	}
	for _, a := range e.Attrs {
		if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
			add("@"+a.Name.Local, loose.String(a.Value))
		}
	}
	for _, c := range e.Children {
		add(c.Name.Local, valueOf(c, left))
	}
	text := loose.String(e.Chars)
	if len(names) == 0 {
		return text
	}
	if !text.Empty() {
		add("#text", text)
	}
	values := make([]loose.Value, len(names))
	for i, name := range names {
		values[i] = members[name][0]
		if len(members[name]) > 1 {
			values[i] = loose.Array(members[name])
		}
	}
	return loose.Object(names, values)
}
