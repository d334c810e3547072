package document

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"odarchive/crawler/inspect/tables/cubes"
	"odarchive/crawler/inspect/tables/source"
)

// head takes what a file says of its cube.
func (d *Document) head(h cubes.Head) {
	d.Title, d.Creator, d.Modified = h.Title, h.Source, h.Updated
	if h.Language != "" {
		d.Languages = append(d.Languages, h.Language)
	}
	for _, a := range h.Axes {
		d.Dimensions = append(d.Dimensions, Dimension(a))
	}
	if h.Unit != "" {
		v := Variable{Name: "value", Unit: h.Unit}
		for _, a := range h.Axes {
			v.Dimensions = append(v.Dimensions, a.Name)
		}
		d.Variables = append(d.Variables, v)
	}
}

// pcAxis reads the keywords of a PC-Axis file.
func pcAxis(_ context.Context, in source.Input, d *Document) error {
	h, err := cubes.PCAxis(in)
	if err == nil {
		d.Standard, d.Conforms = "PC-Axis", "https://www.scb.se/en/services/statistical-programs-for-px-files/px-file-format/"
		d.head(h)
	}
	return err
}

// jsonStat reads the label and the dimensions of JSON-stat. Other JSON says nothing.
func jsonStat(_ context.Context, in source.Input, d *Document) error {
	if !cubes.IsJSONStat(in) {
		return nil
	}
	h, n, err := cubes.JSONStatHead(in)
	if n > 0 {
		d.Standard, d.Conforms = "JSON-stat", "https://json-stat.org/full/"
		d.head(h)
	}
	return err
}

// sdmx is the address of the standard, and its beginning in its parts.
const sdmx = "https://sdmx.org/"

// sdmxJSON reads the header of a message.
func sdmxJSON(_ context.Context, in source.Input, d *Document) error {
	h, err := cubes.SDMXJSON(in)
	if err == nil {
		d.Standard, d.Conforms = "SDMX", sdmx
		d.head(h)
	}
	return err
}

// sdmxML reads the header of a message.
func sdmxML(_ context.Context, in source.Input, d *Document) error {
	h, err := cubes.SDMXML(in)
	if err == nil {
		d.Standard, d.Conforms = "SDMX", sdmx
		d.head(h)
	}
	return err
}

// csv recognises the profiles of CSV that are standards: SDMX-CSV by its first columns (versions 1.0 and 2.0).
func csv(_ context.Context, in source.Input, d *Document) error {
	head := make([]byte, min(in.Size, 4096))
	n, err := in.Body.ReadAt(head, 0)
	line, _, _ := bytes.Cut(bytes.TrimPrefix(head[:n], []byte("\ufeff")), []byte{'\n'})
	fields := strings.FieldsFunc(strings.ToUpper(string(line)), func(r rune) bool { return strings.ContainsRune(",;\t\r\"", r) })
	if len(fields) < 3 {
		if n > 0 || errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	first := strings.TrimRight(fields[0], "[|]")
	sub := strings.HasPrefix(first, "STRUCTURE[") || first == "STRUCTURE"
	if first == "DATAFLOW" || strings.HasPrefix(first, "DATAFLOW:") || sub && strings.Contains(string(line), "STRUCTURE_ID") {
		for _, f := range fields {
			if f == "OBS_VALUE" || f == "TIME_PERIOD" || strings.HasPrefix(f, "OBS_VALUE:") || strings.HasPrefix(f, "TIME_PERIOD:") || sub {
				d.Standard, d.Conforms = "SDMX", sdmx
				return nil
			}
		}
	}
	return nil
}
