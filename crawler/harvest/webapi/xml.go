package webapi

import (
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/loosexml"
	"odarchive/crawler/harvest/portalapi"
)

// maxElements bounds an XML document.
const maxElements = 1 << 20

// parseXML reads an XML document as if it were JSON: an element is an object of its children and, as "@name", of its
// attributes; children of one name are a list; an element with text only is that text, and beside other members the text
// is "#text". Names are without prefixes. The document is an object with the root element.
func parseXML(address string, body []byte) (loosejson.Value, error) {
	if page := portalapi.WebPage(body); page != "" {
		return loosejson.Value{}, &portalapi.PageError{URL: address, Page: page}
	}
	r := loosexml.NewReader(body)
	start, _, err := r.Next()
	if errors.Is(err, io.EOF) || err == nil && start == nil {
		return loosejson.Value{}, &wrongAnswer{address + " answered without any element of XML"}
	}
	if err != nil {
		return loosejson.Value{}, &wrongAnswer{fmt.Sprintf("%s: %v", address, loosexml.Broken(err))}
	}
	root, err := r.Element(start)
	if err != nil {
		return loosejson.Value{}, &wrongAnswer{fmt.Sprintf("%s: %v", address, err)}
	}
	left := maxElements
	v := valueOf(root, &left)
	if left < 0 {
		return loosejson.Value{}, &wrongAnswer{fmt.Sprintf("%s: more than %d elements", address, maxElements)}
	}
	return loosejson.Object([]string{root.Name.Local}, []loosejson.Value{v}), nil
}

func valueOf(e *loosexml.Element, left *int) loosejson.Value {
	if *left--; *left < 0 {
		return loosejson.Value{}
	}
	var names []string
	members := map[string][]loosejson.Value{}
	add := func(name string, v loosejson.Value) {
		if members[name] == nil {
			names = append(names, name)
		}
		members[name] = append(members[name], v)
	}
	for _, a := range e.Attrs {
		if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
			add("@"+a.Name.Local, loosejson.String(a.Value))
		}
	}
	for _, c := range e.Children {
		add(c.Name.Local, valueOf(c, left))
	}
	text := loosejson.String(e.Chars)
	if len(names) == 0 {
		return text
	}
	if !text.Empty() {
		add("#text", text)
	}
	values := make([]loosejson.Value, len(names))
	for i, name := range names {
		values[i] = members[name][0]
		if len(members[name]) > 1 {
			values[i] = loosejson.Array(members[name])
		}
	}
	return loosejson.Object(names, values)
}
