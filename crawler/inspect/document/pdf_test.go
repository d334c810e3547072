package document

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source"
)

// deflated returns a stream with its dictionary.
func deflated(dict, body string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	z.Write([]byte(body))
	z.Close()
	return fmt.Sprintf("<<%s /Filter /FlateDecode /Length %d>>\nstream\r\n%s\nendstream", dict, b.Len(), b.String())
}

// plainPDF has all objects in the file, packedPDF most of them in an object stream.
func plainPDF() []byte {
	return []byte(`%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R/Lang(de-AT)/StructTreeRoot 6 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R 4 0 R] /Count 2>> endobj
3 0 obj <</Type /Page /Parent 2 0 R>> endobj
4 0 obj <</Type /Page /Parent 2 0 R>> endobj
5 0 obj <</Title <FEFF004C00FC0066> /Author (Stadt \(Wien\)) /Producer (P \303\274) /CreationDate (D:20240131120000+01'00')>> endobj
6 0 obj <</Type /StructTreeRoot /K [7 0 R 8 0 R] /RoleMap <</Tabelle /Table>> >> endobj
7 0 obj <</S /Table /P 6 0 R>> endobj
8 0 obj <</S /Tabelle /P 6 0 R>> endobj
9 0 obj <</S /P /P 6 0 R>> endobj
trailer <</Root 1 0 R /Info 5 0 R>>
%%EOF`)
}

func packedPDF() []byte {
	objects := []string{"<</Type/Catalog/Pages 2 0 R/Metadata 9 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count 1>>",
		"<</Type /Page /Parent 2 0 R>>"}
	head, body := "", ""
	for i, o := range objects {
		head += fmt.Sprintf("%d %d ", i+1, len(body))
		body += o + " "
	}
	xmp := `<x:xmpmeta><rdf:RDF><rdf:Description><dc:title><rdf:Alt><rdf:li>Luft</rdf:li></rdf:Alt></dc:title><dc:language><rdf:Bag><rdf:` +
		`li>fr</rdf:li></rdf:Bag></dc:language></rdf:Description></rdf:RDF></x:xmpmeta>`
	return []byte("%PDF-1.5\n8 0 obj " + deflated(fmt.Sprintf("/Type /ObjStm /N 3 /First %d", len(head)), head+body) +
		" endobj\n9 0 obj <</Length " + fmt.Sprint(len(xmp)) + ">>\nstream\n" + xmp +
		"\nendstream endobj\n10 0 obj " + deflated("/Type /XRef /Root 1 0 R /W [1 2 1]", "\x00\x00") + " endobj\n%%EOF")
}

func TestPDFs(t *testing.T) {
	t.Parallel()
	d := read(t, "application/pdf", plainPDF())
	if d.Pages != 2 || d.Tables != 2 || d.Title != "Lüf" || d.Creator != "Stadt (Wien)" || strings.Join(d.Languages, "") != "de-AT" ||
		d.Created != "2024-01-31T12:00:00+01:00" || d.Software != "P Ã¼" {
		t.Errorf("%+v", d)
	}
	d = read(t, "application/pdf", packedPDF())
	if d.Pages != 1 || d.Title != "Luft" || strings.Join(d.Languages, "") != "fr" {
		t.Errorf("%+v", d)
	}
	d = read(t, "application/pdf", bytes.Replace(plainPDF(), []byte("/Info"), []byte("/Encrypt 9 0 R /Info"), 1))
	if !d.Encrypted || d.Title != "" || d.Pages != 2 {
		t.Errorf("%+v", d)
	}
}

func TestDamagedPDFs(t *testing.T) {
	t.Parallel()
	for _, raw := range [][]byte{plainPDF(), packedPDF(), []byte("%PDF-1.4\n1 0 obj " + strings.Repeat("[", 3000)),
		[]byte("1 0 obj " + strings.Repeat("(", 3000)), []byte("1 0 obj 1 0 R endobj trailer <</Root 1 0 R>>")} {
		for i := range 240 {
			b := bytes.Clone(raw)
			if i < 40 {
				b = b[:len(b)*i/40]
			} else {
				b[(i-40)*len(b)/200] ^= 1 << (i % 8)
			}
			Read(t.Context(), source.Input{Type: "application/pdf", Size: int64(len(b)), Body: bytes.NewReader(b)}) // an error is an answer
		}
	}
}

func TestNotebooksAndCalendars(t *testing.T) {
	t.Parallel()
	d := read(t, "application/x-ipynb+json",
		[]byte(
			`{"nbformat":4,"nbformat_minor":5,"metadata":{"kernelspec":{"display_name":"Python `+
				`3"},"language_info":{"name":"python","version":"3.11"}},"cells":[{"cell_type":"markdown","source":["text\n","## Air"]}]}`))
	if d.Title != "Air" || d.Standard != "Jupyter notebook 4.5" || d.Software != "Python 3" || d.Attributes[0].Value != "python 3.11" {
		t.Errorf("%+v", d)
	}
	d = read(t, "text/calendar", []byte("BEGIN:VCALENDAR\nX-WR-CALNAME:Termine\nEND:VCALENDAR"))
	if d.Title != "Termine" {
		t.Errorf("%+v", d)
	}
}

func FuzzDocuments(f *testing.F) {
	f.Add(byte(0), plainPDF())
	f.Add(byte(0), packedPDF())
	f.Add(byte(1), []byte("<html lang=de><title>x"))
	f.Add(byte(2), []byte("DATAFLOW,A,OBS_VALUE\n"))
	f.Add(byte(3), zipOf(f, "docProps/core.xml", "<a><title>x</title></a>"))
	f.Add(byte(4), zipOf(f, "agency.txt", "agency_name\nx", "routes.txt", "", "trips.txt", "", "stop_times.txt", "", "calendar.txt", ""))
	f.Fuzz(func(t *testing.T, kind byte, raw []byte) {
		mediaType := []string{"application/pdf", "text/html", "text/csv", docxType, "application/zip", odtType, "application/epub+zip",
			"application/x-ipynb+json", "text/calendar"}[int(kind)%9]
		d, err := Read(t.Context(), source.Input{Type: mediaType, Size: int64(len(raw)), Body: bytes.NewReader(raw)})
		if err != nil && strings.Contains(err.Error(), "decoder failed") {
			t.Error(err)
		}
		if d != nil && (len(d.Title) > maxText+10 || len(d.Attributes) > maxAttributes) {
			t.Errorf("%+v", d)
		}
	})
}
