package detect

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// Limits of what is read of a zip.
const (
	zipEntries  = 5000
	zipTypesMax = 1 << 20 // of [Content_Types].xml, in bytes
)

// zip recognises formats that are zips by their members.
func (f *file) zip() (d Detection) {
	plain := Detection{Type: "application/zip", Confidence: 0.9, Because: "a zip of files without a format of their own"}
	defer func() {
		if recover() != nil {
			d = plain
		}
	}()
	names, read := f.zipMembers()
	has := func(name string) bool { _, ok := names[name]; return ok }
	found := func(t, why string) Detection { return Detection{Type: t, Confidence: 0.98, Because: why} }
	if has("mimetype") {
		t := strings.TrimSpace(string(read("mimetype")))
		if strings.HasPrefix(t, "application/") && len(t) < 100 {
			return found(strings.ToLower(t), "a zip whose member mimetype says "+t)
		}
	}
	if has("[Content_Types].xml") {
		if t := ooxml(read("[Content_Types].xml"), names); t != "" {
			return found(t, "an Office Open XML package whose content types say so")
		}
	}
	lower := map[string]bool{}
	var kml, shp, classes, slides, iwork bool
	for n := range names {
		l := strings.ToLower(n)
		lower[l] = true
		kml = kml || strings.HasSuffix(l, ".kml") && !strings.Contains(strings.TrimSuffix(l, ".kml"), "/")
		shp = shp || strings.HasSuffix(l, ".shp")
		classes = classes || strings.HasSuffix(l, ".class")
		slides = slides || strings.HasSuffix(l, ".iwa") &&
			(strings.HasPrefix(l, "index/slide") || strings.HasPrefix(l, "index/masterslide") ||
				strings.HasPrefix(l, "index/templateslide"))
		iwork = iwork || l == "buildversionhistory.plist" || strings.HasPrefix(l, "index/") && strings.HasSuffix(l, ".iwa")
	}
	switch {
	case has("META-INF/container.xml"):
		return found("application/epub+zip", "a zip with META-INF/container.xml, as EPUB has it")
	case has("META-INF/manifest.xml") && has("content.xml"):
		if t := odf(read("META-INF/manifest.xml")); t != "" {
			return found(t, "an OpenDocument package whose manifest says so")
		}
	case has("AndroidManifest.xml"):
		return found("application/vnd.android.package-archive", "a zip with AndroidManifest.xml")
	case has("META-INF/MANIFEST.MF") && (classes || !kml):
		return found("application/java-archive", "a zip with META-INF/MANIFEST.MF")
	case has("doc.kml") || kml && f.hints.says("application/vnd.google-earth.kmz") || kml && len(names) == 1:
		return found("application/vnd.google-earth.kmz", "a zip with a KML document at its root")
	case has("xl/workbook.xml"):
		return found("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "a zip with xl/workbook.xml")
	case has("xl/workbook.bin"):
		return found("application/vnd.ms-excel.sheet.binary.macroenabled.12", "a zip with xl/workbook.bin")
	case has("word/document.xml"):
		return found("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "a zip with word/document.xml")
	case has("ppt/presentation.xml"):
		return found("application/vnd.openxmlformats-officedocument.presentationml.presentation", "a zip with ppt/presentation.xml")
	case lower["index.apxl"] || slides:
		return found("application/vnd.apple.keynote", "a zip with the slides of a Keynote presentation")
	case iwork && strings.HasPrefix(f.hints.name, "application/vnd.apple."):
		return found(f.hints.name, "an iWork document; its name says "+f.hints.name)
	case has("index.xml") && iwork:
		if bytes.Contains(read("index.xml"), []byte("<ls:document")) {
			return found("application/vnd.apple.numbers", "an iWork document of spreadsheets")
		}
		return found("application/vnd.apple.pages", "an iWork document of pages")
	case shp:
		plain.Because = "a zip with a shapefile"
	case lower["stops.txt"] && lower["trips.txt"] && lower["stop_times.txt"]:
		plain.Because = "a zip with the tables of a GTFS feed"
	}
	if len(names) == 0 && f.hints.name != "" && strings.Contains(f.hints.name, "openxmlformats") {
		return Detection{Type: f.hints.name, Confidence: 0.5, Because: "a damaged zip; its name says " + f.hints.name}
	}
	return plain
}

// zipMembers lists the members by the directory at the end, or else by the local headers in the head. read returns a
// member's bytes.
func (f *file) zipMembers() (names map[string]struct{}, read func(string) []byte) {
	names = map[string]struct{}{}
	z, err := zip.NewReader(f.Body, f.Size)
	if err == nil || z != nil && len(z.File) > 0 {
		files := map[string]*zip.File{}
		for i, m := range z.File {
			if i >= zipEntries {
				break
			}
			n := strings.ReplaceAll(strings.TrimPrefix(m.Name, "/"), `\`, "/")
			names[n] = struct{}{}
			if files[n] == nil {
				files[n] = m
			}
		}
		return names, func(n string) []byte {
			rc, err := files[n].Open()
			if err != nil {
				return nil
			}
			defer rc.Close()
			b, _ := io.ReadAll(io.LimitReader(rc, zipTypesMax))
			return b
		}
	}
	stored := map[string][]byte{}
	for b := f.head; len(names) < 1000; {
		i := bytes.Index(b, []byte("PK\x03\x04"))
		if i < 0 || len(b) < i+30 {
			break
		}
		b = b[i:]
		n, extra := int(binary.LittleEndian.Uint16(b[26:])), int(binary.LittleEndian.Uint16(b[28:]))
		if len(b) < 30+n {
			break
		}
		name := string(b[30 : 30+n])
		names[name] = struct{}{}
		if size := int(binary.LittleEndian.Uint32(b[18:])); binary.LittleEndian.Uint16(b[8:]) == 0 && size < 1<<16 &&
			len(b) >= 30+n+extra+size {
			stored[name] = b[30+n+extra:][:size]
		}
		b = b[30+n:]
	}
	return names, func(n string) []byte { return stored[n] }
}

// ooxml returns the type of the main part from the content types of an Office Open XML package (ECMA-376 part 2,
// 10.1.2).
func ooxml(types []byte, names map[string]struct{}) string {
	s := string(types)
	for _, k := range []struct{ part, mime string }{
		{"application/vnd.ms-excel.sheet.binary.macroEnabled.main", "application/vnd.ms-excel.sheet.binary.macroenabled.12"},
		{"application/vnd.ms-excel.sheet.macroEnabled.main+xml", "application/vnd.ms-excel.sheet.macroenabled.12"},
		{"application/vnd.ms-excel.template.macroEnabled.main+xml", "application/vnd.ms-excel.template.macroenabled.12"},
		{"application/vnd.ms-excel.addin.macroEnabled.main+xml", "application/vnd.ms-excel.addin.macroenabled.12"},
		{"spreadsheetml.template.main+xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.template"},
		{"spreadsheetml.sheet.main+xml", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{"application/vnd.ms-word.document.macroEnabled.main+xml", "application/vnd.ms-word.document.macroenabled.12"},
		{"application/vnd.ms-word.template.macroEnabledTemplate.main+xml", "application/vnd.ms-word.template.macroenabled.12"},
		{"wordprocessingml.template.main+xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.template"},
		{"wordprocessingml.document.main+xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		{"application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml", "application/vnd.ms-powerpoint.presentation.macroenabled.12"},
		{"application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml", "application/vnd.ms-powerpoint.slideshow.macroenabled.12"},
		{"application/vnd.ms-powerpoint.template.macroEnabled.main+xml", "application/vnd.ms-powerpoint.template.macroenabled.12"},
		{"application/vnd.ms-powerpoint.addin.macroEnabled.main+xml", "application/vnd.ms-powerpoint.addin.macroenabled.12"},
		{"presentationml.slideshow.main+xml", "application/vnd.openxmlformats-officedocument.presentationml.slideshow"},
		{"presentationml.template.main+xml", "application/vnd.openxmlformats-officedocument.presentationml.template"},
		{"presentationml.presentation.main+xml", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
		{"application/vnd.ms-visio.drawing.macroEnabled.main+xml", "application/vnd.ms-visio.drawing.macroenabled.main+xml"},
		{"application/vnd.ms-visio.drawing.main+xml", "application/vnd.visio"},
		{"application/vnd.ms-visio.template.", "application/vnd.visio"},
		{"application/vnd.ms-visio.stencil.", "application/vnd.visio"},
		{"application/vnd.ms-package.xps-fixeddocumentsequence+xml", "application/vnd.ms-xpsdocument"},
		{"application/vnd.ms-package.3dmanufacturing-3dmodel+xml", "model/3mf"},
	} {
		if strings.Contains(s, k.part) {
			return k.mime
		}
	}
	if _, ok := names["xl/workbook.bin"]; ok {
		return "application/vnd.ms-excel.sheet.binary.macroenabled.12"
	}
	return ""
}

// odf returns the type of an OpenDocument package from its manifest.
func odf(manifest []byte) string {
	for rest := string(manifest); ; {
		i := strings.Index(rest, `media-type="application/vnd.`)
		if i < 0 {
			return ""
		}
		rest = rest[i+len(`media-type="`):]
		t, _, ok := strings.Cut(rest, `"`)
		if ok && (strings.Contains(t, "opendocument") || strings.Contains(t, "sun.xml")) {
			return t
		}
	}
}
