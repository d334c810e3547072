package webpage

import (
	"bytes"
	"regexp"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// xmlDeclaration matches an XML declaration.
var xmlDeclaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*\?>`)

// encodingName matches the encoding in an XML declaration.
var encodingName = regexp.MustCompile(`encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']`)

// encodingOf returns the encoding of a page. As in HTML, a byte order mark, the Content-Type and a meta element decide,
// in this order. Without them HTML guesses from the first 1,024 bytes, and takes a page whose first umlaut is further
// down for windows-1252. Here the XML declaration of XHTML counts instead, and then whether the whole page is valid
// UTF-8.
func encodingOf(page []byte, contentType string) encoding.Encoding {
	head := page[:min(len(page), 1024)]
	guess, name, certain := charset.DetermineEncoding(head, contentType)
	if certain || name != "windows-1252" || bytes.Contains(bytes.ToLower(head), []byte("charset")) {
		return guess
	}
	if declaration := xmlDeclaration.Find(head); declaration != nil {
		if m := encodingName.FindSubmatch(declaration); m != nil {
			if declared, name := charset.Lookup(string(m[1])); declared != nil && (name != "utf-8" || utf8.Valid(page)) {
				return declared
			}
		}
	}
	if utf8.Valid(page) {
		return encoding.Nop
	}
	return guess
}
