package document

import (
	"archive/zip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// Limits of a package of XML parts.
const (
	maxPart  = 4 << 20 // of a part, unpacked
	maxDepth = 64
)

// part returns the bytes of a member of a zip, nil if there is none. It reads at most maxPart.
func part(z *zip.Reader, name string) []byte {
	for _, f := range z.File {
		if f.Name != name {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil
		}
		defer r.Close()
		b, _ := io.ReadAll(io.LimitReader(r, maxPart)) // what is damaged is read up to there
		return b
	}
	return nil
}

// elements calls f with the path of local names, the attributes and the text of each element of an XML document that
// has no elements in it. A document that is not well-formed is read up to there.
func elements(raw []byte, f func(path string, attr map[string]string, text string)) {
	dec := xml.NewDecoder(strings.NewReader(string(raw)))
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var at []string
	attr := map[string]string{}
	var text strings.Builder
	leaf := false
	for {
		tok, err := dec.RawToken()
		if err != nil {
			return
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(at) == maxDepth {
				return
			}
			at = append(at, t.Name.Local)
			clear(attr)
			for _, a := range t.Attr {
				attr[a.Name.Local] = a.Value
			}
			text.Reset()
			leaf = true
		case xml.CharData:
			if text.Len() < maxDescription {
				text.Write(t)
			}
		case xml.EndElement:
			if len(at) == 0 {
				return
			}
			if leaf {
				f(strings.Join(at, "/"), attr, strings.TrimSpace(text.String()))
			}
			leaf = false
			at = at[:len(at)-1]
		}
	}
}

// dublinCore sets what an element of Dublin Core says that both families of office documents have.
func (d *Document) dublinCore(name, text string) {
	switch name {
	case "title":
		d.Title = text
	case "description":
		d.Description = text
	case "subject":
		d.Description = firstOf(d.Description, text)
	case "creator":
		d.Creator = text
	case "language":
		d.Languages = append(d.Languages, text)
	}
}

// openXML reads the properties of an Office Open XML package (ECMA-376 part 2, clause 11, and part 1, 22.2).
func openXML(_ context.Context, in source.Input, d *Document) error {
	z, err := zip.NewReader(in.Body, in.Size)
	if err != nil {
		return errors.New("the directory of the package is damaged")
	}
	elements(part(z, "docProps/core.xml"), func(p string, _ map[string]string, text string) {
		switch name := path.Base(p); name {
		case "created":
			d.Created = text
		case "modified":
			d.Modified = text
		default:
			d.dublinCore(name, text)
		}
	})
	version := ""
	elements(part(z, "docProps/app.xml"), func(p string, _ map[string]string, text string) {
		switch path.Base(p) {
		case "Application":
			d.Software = text
		case "AppVersion":
			version = text
		case "Pages", "Slides":
			if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 1_000_000 {
				d.Pages = max(d.Pages, n)
			}
		}
	})
	if d.Software != "" && version != "" {
		d.Software += " " + version
	}
	return nil
}

// openDocument reads the properties of an OpenDocument package (OpenDocument 1.3 part 3, 4.3).
func openDocument(_ context.Context, in source.Input, d *Document) error {
	z, err := zip.NewReader(in.Body, in.Size)
	if err != nil {
		return errors.New("the directory of the package is damaged")
	}
	initial := ""
	elements(part(z, "meta.xml"), func(p string, attr map[string]string, text string) {
		switch name := path.Base(p); name {
		case "initial-creator":
			initial = text
		case "creation-date":
			d.Created = text
		case "date":
			d.Modified = text
		case "generator":
			d.Software = text
		case "document-statistic":
			if n, err := strconv.Atoi(attr["page-count"]); err == nil && n > 0 && n < 1_000_000 {
				d.Pages = n
			}
		default:
			d.dublinCore(name, text)
		}
	})
	d.Creator = firstOf(d.Creator, initial)
	d.Encrypted = strings.Contains(string(part(z, "META-INF/manifest.xml")), "encryption-data")
	return nil
}

// epub reads the metadata of an EPUB (EPUB 3.3, 5.5).
func epub(_ context.Context, in source.Input, d *Document) error {
	z, err := zip.NewReader(in.Body, in.Size)
	if err != nil {
		return errors.New("the directory of the package is damaged")
	}
	root := ""
	elements(part(z, "META-INF/container.xml"), func(p string, attr map[string]string, _ string) {
		if path.Base(p) == "rootfile" {
			root = firstOf(root, attr["full-path"])
		}
	})
	elements(part(z, root), func(p string, attr map[string]string, text string) {
		switch p {
		case "package/metadata/title":
			d.Title = firstOf(d.Title, text)
		case "package/metadata/description":
			d.Description = firstOf(d.Description, text)
		case "package/metadata/creator":
			d.Creator = firstOf(d.Creator, text)
		case "package/metadata/language":
			d.Languages = append(d.Languages, text)
		case "package/metadata/date":
			d.Created = firstOf(d.Created, text)
		case "package/metadata/meta":
			if attr["property"] == "dcterms:modified" {
				d.Modified = firstOf(d.Modified, text)
			}
		}
	})
	return nil
}
