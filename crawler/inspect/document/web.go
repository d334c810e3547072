package document

import (
	"bytes"
	"context"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"odarchive/crawler/inspect/tables/source"
)

// pageHead is how much of a web page is read.
const pageHead = 512 << 10

// page reads the title, the language and the description of a web page.
func page(ctx context.Context, in source.Input, d *Document) error {
	z := html.NewTokenizer(io.LimitReader(in.Text(), pageHead))
	z.SetMaxBuf(1 << 20)
	inTitle := false
	for n := 0; n < 50_000; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return nil
		case html.TextToken:
			if inTitle && len(d.Title) < maxText {
				d.Title += string(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			switch atom.Lookup(name) {
			case atom.Html:
				if lang := attributes(z, more)["lang"]; lang != "" {
					d.Languages = append(d.Languages, lang)
				}
			case atom.Title:
				inTitle = kind == html.StartTagToken && d.Title == ""
			case atom.Meta:
				a := attributes(z, more)
				d.meta(strings.ToLower(strings.TrimSpace(a["name"])), a["content"])
			case atom.Body:
				return nil
			}
		case html.EndTagToken:
			inTitle = false
		}
	}
	return nil
}

// meta takes a property of a web page.
func (d *Document) meta(name, value string) {
	switch name {
	case "description", "dc.description":
		d.Description = firstOf(d.Description, value)
	case "author", "dc.creator":
		d.Creator = firstOf(d.Creator, value)
	case "generator":
		d.Software = firstOf(d.Software, value)
	case "dc.language":
		d.Languages = append(d.Languages, value)
	}
}

// attributes returns the attributes of a tag.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	all := map[string]string{}
	for more && len(all) < 30 {
		var k, v []byte
		k, v, more = z.TagAttr()
		all[string(bytes.ToLower(k))] = string(v)
	}
	return all
}

// firstOf returns the first text that is not blank.
func firstOf(all ...string) string {
	for _, s := range all {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}
