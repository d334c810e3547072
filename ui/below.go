package ui

import (
	"bytes"
	"html"
)

// placed returns a page with the path of the archive's base in front of each address that is a path. Templates and
// handlers write such addresses as if the base had none; html/template escapes quotation marks in everything else, so
// that only attributes match. root is "" or a path such as "/archive".
func placed(page []byte, root string) []byte {
	if root == "" {
		return page
	}
	escaped := html.EscapeString(root)
	out := make([]byte, 0, len(page)+len(page)/8)
	for {
		at := bytes.Index(page, []byte(`="/`))
		if at < 0 {
			return append(out, page...)
		}
		slash := at + len(`="`)
		out = append(out, page[:slash]...)
		if hasAddress(page[:at]) && !bytes.HasPrefix(page[slash:], []byte("//")) {
			out = append(out, escaped...)
		}
		page = page[slash:]
	}
}

// hasAddress reports whether the name of the attribute at the end of a tag's beginning is one of those that have an
// address.
func hasAddress(tag []byte) bool {
	name := tag[bytes.LastIndexAny(tag, " \n\t")+1:]
	switch string(name) {
	case "href", "action", "formaction", "src", "data-path":
		return true
	}
	return false
}
