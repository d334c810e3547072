package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
)

// format writes a table as a file.
type format struct {
	Name, Extension, MediaType string
	Write                      func(io.Writer, table, dataset) error
}

// formats are the file types of the sample.
func formats() []format {
	return []format{
		{"csv", ".csv", "text/csv", func(w io.Writer, t table, _ dataset) error { return writeCSV(w, t, ',') }},
		{"csv-excel", ".excel.csv", "application/vnd.ms-excel", writeExcelCSV}, // the type is wrong, as it often is
		{"tsv", ".tsv", "text/tab-separated-values", func(w io.Writer, t table, _ dataset) error { return writeCSV(w, t, '\t') }},
		{"csv.gz", ".csv.gz", "application/gzip", writeGzip},
		{"json", ".json", "application/json", writeJSON},
		{"ndjson", ".ndjson", "application/x-ndjson", writeNDJSON},
		{"geojson", ".geojson", "application/geo+json", writeGeoJSON},
		{"xml", ".xml", "application/xml", writeXML},
		{"html", ".html", "text/html", writeHTML},
		{"kml", ".kml", "application/vnd.google-earth.kml+xml", writeKML},
		{"gpx", ".gpx", "application/gpx+xml", writeGPX},
		{"xlsx", ".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", writeXLSX},
		{"ods", ".ods", "application/vnd.oasis.opendocument.spreadsheet", writeODS},
		{"zip", ".zip", "application/zip", writeZip},
		{"parquet", ".parquet", "application/octet-stream", writeParquet},
		{"ttl", ".ttl", "text/turtle", writeTurtle},
		{"nt", ".nt", "application/n-triples", writeNTriples},
		{"jsonld", ".jsonld", "application/ld+json", writeJSONLD},
		{"rdf", ".rdf", "application/rdf+xml", writeRDFXML},
		{"txt", ".txt", "text/plain", writeText},
		{"pdf", ".pdf", "application/pdf", writePDF},
		{"ics", ".ics", "text/calendar", writeICS},
		{"svg", ".svg", "image/svg+xml", writeSVG},
		{"png", ".png", "image/png", writePNG},
	}
}

func formatNames() (names []string) {
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return names
}

func formatOf(name string) format {
	for _, f := range formats() {
		if f.Name == name {
			return f
		}
	}
	return format{}
}

func extensionOf(name string) string { return formatOf(name).Extension }

func heads(t table) (out []string) {
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return out
}

func writeCSV(w io.Writer, t table, delimiter rune) error {
	c := csv.NewWriter(w)
	c.Comma = delimiter
	if err := c.Write(heads(t)); err != nil {
		return err
	}
	return c.WriteAll(t.Rows)
}

// writeExcelCSV writes what a German spreadsheet program saves: semicolons, decimal commas, Windows-1252.
func writeExcelCSV(w io.Writer, t table, _ dataset) error {
	for _, row := range t.Rows {
		for i, c := range t.Columns {
			if c.Kind == "float" {
				row[i] = strings.Replace(row[i], ".", ",", 1)
			}
		}
	}
	return writeCSV(charmap.Windows1252.NewEncoder().Writer(w), t, ';')
}

func writeGzip(w io.Writer, t table, _ dataset) error {
	z := gzip.NewWriter(w)
	if err := writeCSV(z, t, ','); err != nil {
		return err
	}
	return z.Close()
}

func object(t table, row []string) map[string]any {
	o := map[string]any{}
	for i, c := range t.Columns {
		o[c.Name] = typed(c, row[i])
	}
	return o
}

func writeJSON(w io.Writer, t table, _ dataset) error {
	var all []any
	for _, row := range t.Rows {
		all = append(all, object(t, row))
	}
	return json.NewEncoder(w).Encode(all)
}

func writeNDJSON(w io.Writer, t table, _ dataset) error {
	for _, row := range t.Rows {
		if err := json.NewEncoder(w).Encode(object(t, row)); err != nil {
			return err
		}
	}
	return nil
}

func writeGeoJSON(w io.Writer, t table, d dataset) error {
	var features []any
	for _, row := range t.Rows {
		lat, lon := t.place(row, d)
		features = append(features, map[string]any{"type": "Feature", "properties": object(t, row),
			"geometry": map[string]any{"type": "Point", "coordinates": []json.Number{json.Number(lon), json.Number(lat)}}})
	}
	return json.NewEncoder(w).Encode(map[string]any{"type": "FeatureCollection", "features": features})
}

func writeXML(w io.Writer, t table, _ dataset) error {
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rows>\n")
	for _, row := range t.Rows {
		fmt.Fprint(w, " <row>")
		for i, c := range t.Columns {
			fmt.Fprintf(w, "<%s>%s</%[1]s>", c.Name, html.EscapeString(row[i]))
		}
		fmt.Fprintln(w, "</row>")
	}
	_, err := fmt.Fprintln(w, "</rows>")
	return err
}

func writeHTML(w io.Writer, t table, _ dataset) error {
	fmt.Fprintf(w, "<!doctype html><html lang=de><meta charset=utf-8><title>%s</title><h1>%[1]s</h1><table><tr><th>%s</tr>\n",
		html.EscapeString(t.Title), strings.Join(heads(t), "<th>"))
	for _, row := range t.Rows {
		fmt.Fprintf(w, "<tr><td>%s</tr>\n", strings.Join(row, "<td>"))
	}
	_, err := fmt.Fprintln(w, "</table></html>")
	return err
}

func writeKML(w io.Writer, t table, d dataset) error {
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<kml xmlns=\"http://www.opengis.net/kml/2.2\"><Document><name>%s</name>\n",
		html.EscapeString(t.Title))
	for _, row := range t.Rows {
		lat, lon := t.place(row, d)
		fmt.Fprintf(w, "<Placemark><name>%s</name><Point><coordinates>%s,%s</coordinates></Point></Placemark>\n", html.EscapeString(row[0]),
			lon, lat)
	}
	_, err := fmt.Fprintln(w, "</Document></kml>")
	return err
}

func writeGPX(w io.Writer, t table, d dataset) error {
	fmt.Fprint(w, "<?xml version=\"1.0\"?>\n<gpx version=\"1.1\" creator=\"sample\" xmlns=\"http://www.topografix.com/GPX/1/1\">\n")
	for _, row := range t.Rows {
		lat, lon := t.place(row, d)
		fmt.Fprintf(w, "<wpt lat=\"%s\" lon=\"%s\"><name>%s</name></wpt>\n", lat, lon, html.EscapeString(row[0]))
	}
	_, err := fmt.Fprintln(w, "</gpx>")
	return err
}

func writeXLSX(w io.Writer, t table, d dataset) error {
	f := excelize.NewFile()
	defer f.Close()
	set := func(sheet string, rows [][]string) error {
		for i, row := range rows {
			cells := make([]any, len(row))
			for k, s := range row {
				cells[k] = s
				if n, ok := typed(t.Columns[min(k, len(t.Columns)-1)], s).(int); ok {
					cells[k] = n
				}
			}
			if err := f.SetSheetRow(sheet, fmt.Sprintf("A%d", i+1), &cells); err != nil {
				return err
			}
		}
		return nil
	}
	if err := f.SetSheetName("Sheet1", "Daten"); err != nil {
		return err
	}
	if err := set("Daten", append([][]string{heads(t)}, t.Rows...)); err != nil {
		return err
	}
	if _, err := f.NewSheet("Info"); err != nil {
		return err
	}
	if err := set("Info", [][]string{{"Titel", t.Title}, {"Herausgeber", d.Publisher}}); err != nil {
		return err
	}
	return f.Write(w)
}

func writeODS(w io.Writer, t table, _ dataset) error {
	z := zip.NewWriter(w)
	m, err := z.CreateHeader(&zip.FileHeader{Name: "mimetype", Method: zip.Store})
	if err != nil {
		return err
	}
	fmt.Fprint(m, "application/vnd.oasis.opendocument.spreadsheet")
	if m, err = z.Create("content.xml"); err != nil {
		return err
	}
	fmt.Fprint(m,
		`<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" `+
			`xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" `+
			`office:version="1.2"><office:body><office:spreadsheet><table:table table:name="Daten">`)
	for _, row := range append([][]string{heads(t)}, t.Rows...) {
		fmt.Fprint(m, "<table:table-row>")
		for _, cell := range row {
			fmt.Fprintf(m, `<table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell>`, html.EscapeString(cell))
		}
		fmt.Fprint(m, "</table:table-row>")
	}
	fmt.Fprint(m, "</table:table></office:spreadsheet></office:body></office:document-content>")
	return z.Close()
}

func writeZip(w io.Writer, t table, d dataset) error {
	z := zip.NewWriter(w)
	for name, write := range map[string]func(io.Writer) error{
		d.Topic.Name + ".csv": func(w io.Writer) error { return writeCSV(w, t, ',') }} {
		m, err := z.Create(name)
		if err != nil {
			return err
		}
		if err := write(m); err != nil {
			return err
		}
	}
	m, err := z.Create("README.txt")
	if err != nil {
		return err
	}
	fmt.Fprintln(m, t.Title)
	fmt.Fprintln(m, d.About)
	return z.Close()
}

func writeParquet(w io.Writer, t table, _ dataset) error {
	group := parquet.Group{}
	for _, c := range t.Columns {
		group[c.Name] = parquet.String()
	}
	p := parquet.NewGenericWriter[map[string]string](w, parquet.NewSchema("rows", group))
	for _, row := range t.Rows {
		o := map[string]string{}
		for i, c := range t.Columns {
			o[c.Name] = row[i]
		}
		if _, err := p.Write([]map[string]string{o}); err != nil {
			return err
		}
	}
	return p.Close()
}

func writeText(w io.Writer, t table, d dataset) error {
	_, err := fmt.Fprintf(w, "%s\n%s\n\n%s\n\nEs gibt %d Einträge. Felder: %s.\n", t.Title, strings.Repeat("=", len(t.Title)), d.About,
		len(t.Rows), strings.Join(heads(t), ", "))
	return err
}

func writeICS(w io.Writer, t table, _ dataset) error {
	fmt.Fprint(w, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//sample//DE\r\n")
	for i, row := range t.Rows {
		fmt.Fprintf(w, "BEGIN:VEVENT\r\nUID:%d@sample\r\nDTSTART:2026%02d%02dT080000Z\r\nSUMMARY:%s\r\nEND:VEVENT\r\n", i, 1+i%12, 1+i%28,
			row[0])
	}
	_, err := fmt.Fprint(w, "END:VCALENDAR\r\n")
	return err
}

func writeSVG(w io.Writer, t table, _ dataset) error {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d 100"><title>%s</title>`, len(t.Rows),
		html.EscapeString(t.Title))
	for i, row := range t.Rows {
		fmt.Fprintf(w, `<rect x="%d" y="0" width="1" height="%d"/>`, i, len(row[len(row)-1])*10)
	}
	_, err := fmt.Fprint(w, "</svg>\n")
	return err
}

func writePNG(w io.Writer, t table, _ dataset) error {
	img := image.NewGray(image.Rect(0, 0, len(t.Rows), 60))
	for x, row := range t.Rows {
		for y := range 60 {
			img.SetGray(x, y, color.Gray{uint8(40*len(row[len(row)-1]) + y)})
		}
	}
	return png.Encode(w, img)
}

// writePDF writes a page with the title.
func writePDF(w io.Writer, t table, d dataset) error {
	text := fmt.Sprintf("BT /F1 14 Tf 50 780 Td (%s: %d entries) Tj ET", strings.NewReplacer("(", "", ")", "", "\\", "").Replace(d.Name),
		len(t.Rows))
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text), "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	_, err := w.Write(b.Bytes())
	return err
}
