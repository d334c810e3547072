package detect

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// signature recognises binary formats, and texts with a fixed beginning.
func (f *file) signature() (Detection, bool) {
	b := f.head
	if d, ok := f.geographic(); ok {
		return d, true
	}
	for _, s := range signatures {
		if len(b) >= s.at && bytes.HasPrefix(b[s.at:], []byte(s.magic)) {
			return Detection{Type: s.mime, Compression: compressionOf(s.mime), Confidence: 0.97,
				Because: "it begins as " + s.what + " does"}, true
		}
	}
	if t, what := binaryForm(b); t != "" {
		return Detection{Type: t, Confidence: 0.97, Because: "it begins as " + what + " does"}, true
	}
	switch {
	case bytes.HasPrefix(b, []byte("PK\x03\x04")) || bytes.HasPrefix(b, []byte("PK\x05\x06")) || bytes.HasPrefix(b, []byte("PK\x07\x08")):
		return f.zip(), true
	case bytes.HasPrefix(b, []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")):
		return f.ole(), true
	case bytes.HasPrefix(b, []byte("SQLite format 3\x00")):
		return sqlite(b), true
	case bytes.HasPrefix(b, []byte("PAR1")):
		return Detection{Type: "application/vnd.apache.parquet", Confidence: 0.97, Because: "it begins with PAR1, as Parquet does"}, true
	case bytes.HasPrefix(b, []byte("RIFX")) && len(b) > 12 && string(b[8:12]) == "WAVE":
		return Detection{Type: "audio/wav", Confidence: 0.97, Because: "it begins as a big-endian WAVE file does"}, true
	case bitmap(b):
		return Detection{Type: "image/bmp", Confidence: 0.9, Because: "the headers of a bitmap"}, true
	case arrowStream(b):
		return Detection{Type: "application/vnd.apache.arrow.stream", Confidence: 0.8,
			Because: "a message with a schema, as an Arrow stream begins"}, true
	case bytes.Contains(b[:min(len(b), 640)], []byte("SPSSPORT")) && len(b) > 456:
		return Detection{Type: "application/x-spss-por", Confidence: 0.95, Because: "the header of an SPSS portable file"}, true
	case len(b) > 1 && b[0] == 0x1e && (b[1] == '{' || b[1] == '['):
		return f.json(b)
	case rdata(b):
		return Detection{Type: "application/x-r-data", Confidence: 0.9, Because: "the header of a value that R saved"}, true
	case stata(b):
		return Detection{Type: "application/x-stata-dta", Confidence: 0.8, Because: "the header of a Stata data set"}, true
	case dbase(b, f.Size):
		return Detection{Type: "application/vnd.dbf", Confidence: 0.9, Because: "the header and field descriptions of a dBASE table"}, true
	case f.spanned():
		return Detection{Type: "application/zip", Confidence: 0.6,
			Because: "it ends with the directory of a zip whose beginning is elsewhere"}, true
	}
	return Detection{}, false
}

// signatures are bytes at fixed places of binary formats.
var signatures = []struct {
	at                int
	magic, mime, what string
}{
	// Compressed repetition may have so few control characters that it looks like text.
	{0, "\x1f\x8b\x08", "application/gzip", "gzip"},
	{0, "\xfd7zXZ\x00", "application/x-xz", "xz"},
	{0, "\x28\xb5\x2f\xfd", "application/zstd", "Zstandard"},
	{0, "\x04\x22\x4d\x18", "application/x-lz4", "LZ4"},
	{4, "1AY&SY", "application/x-bzip2", "bzip2"},
	// What is stored in an archive, and the strings of an image, may look like another file or like text.
	{0, "Rar!\x1a\x07\x00", "application/vnd.rar", "a RAR archive"},
	{0, "Rar!\x1a\x07\x01\x00", "application/vnd.rar", "a RAR 5 archive"},
	{0, "7z\xbc\xaf\x27\x1c", "application/x-7z-compressed", "a 7z archive"},
	{0, "MSCF\x00\x00\x00\x00", "application/vnd.ms-cab-compressed", "a cabinet"},
	{0, "wOFF\x00\x01\x00\x00", "font/woff", "a WOFF font"}, {0, "wOFFOTTO", "font/woff", "a WOFF font"},
	{0, "wOFFtrue", "font/woff", "a WOFF font"},
	{0, "wOF2\x00\x01\x00\x00", "font/woff2", "a WOFF 2 font"}, {0, "wOF2OTTO", "font/woff2", "a WOFF 2 font"},
	{0, "\x76\x2f\x31\x01", "image/x-exr", "OpenEXR"},
	{0, "\xb1\x68\xde\x3a", "image/x-dcx", "DCX"},
	{0, "\x78\x9f\x3e\x22", "application/vnd.ms-tnef", "a mail's attachments in TNEF"},
	{0, "ARROW1\x00\x00", "application/vnd.apache.arrow.file", "an Arrow file"},
	{0, "FEA1", "application/vnd.apache.arrow.file", "a Feather file"},
	{0, "ORC", "application/vnd.apache.orc", "an ORC file"},
	{0, "Obj\x01", "application/vnd.apache.avro+binary", "an Avro container"},
	{0, "$HDT", "application/vnd.hdt", "HDT"},
	{0, "\x89HDF\r\n\x1a\n", "application/x-hdf5", "HDF5"},
	{0, "\x0e\x03\x13\x01", "application/x-hdf", "HDF4"},
	{0, "CDF\x01", "application/x-netcdf", "netCDF"},
	{0, "CDF\x02", "application/x-netcdf", "netCDF"},
	{0, "CDF\x05", "application/x-netcdf", "netCDF"},
	{0, "$FL2", "application/x-spss-sav", "SPSS"},
	{0, "$FL3", "application/x-spss-sav", "SPSS"},
	{0, "<stata_dta>", "application/x-stata-dta", "Stata"},
	{0, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11",
		"application/x-sas-data", "SAS"},
	{0, "HEADER RECORD*******LIB", "application/x-sas-xport", "a SAS transport file"},
	{0, "RDX2\n", "application/x-r-data", "R data"}, {0, "RDX3\n", "application/x-r-data", "R data"},
	{0, "MATLAB 5.0 MAT-file", "application/x-matlab-data", "MATLAB data"},
	{0, "fgb\x03fgb", "application/vnd.flatgeobuf", "FlatGeobuf"},
	{0, "LASF", "application/vnd.las", "LAS"},
	{0, "PMTiles", "application/vnd.pmtiles", "PMTiles"},
	{0, "\x00\x00\x27\x0a\x00\x00\x00\x00\x00\x00\x00\x00", "application/vnd.shp", "an ESRI shapefile"},
	{0, "ASTM-E57", "model/e57", "E57"},
	{0, "SIMPLE  =            ", "application/fits", "FITS"},
	{0, "II+\x00\x08\x00\x00\x00", "image/tiff", "BigTIFF"}, {0, "MM\x00+\x00\x08\x00\x00", "image/tiff", "BigTIFF"},
	{0, "ISO-10303-21;", "model/step", "STEP"},
	{0, "\x93NUMPY", "application/x-npy", "a NumPy array"},
	{0, "filedesc://", "application/x-ia-arc", "an ARC web archive"},
	{0, "WARC/", "application/warc", "a WARC web archive"},
	{0, "{\\rtf", "application/rtf", "RTF"},
	{0, "BEGIN:VCALENDAR", "text/calendar", "iCalendar"},
	{0, "BEGIN:VCARD", "text/vcard", "a vCard"},
	{0, "WEBVTT", "text/vtt", "WebVTT"},
	{0, "\x1f\x9d", "application/x-compress", "compress"},
	{0, "\x1f\xa0", "application/x-compress", "compress"},
	{0, "LZIP", "application/lzip", "lzip"},
	{0, "\x00\x01\x00\x00Standard Jet DB", "application/x-msaccess", "an Access database"},
	{0, "\x00\x01\x00\x00Standard ACE DB", "application/x-msaccess", "an Access database"},
	{0, "\xdb\xa5-\x00", "application/msword", "Word 2"},
	{0, "\xfe\x37\x00\x23", "application/msword", "Word 4 for Macintosh"},
	{0, "\x00\x00\x02\x00\x01\x10", "application/x-quattro-pro", "Quattro Pro 1 for Windows"},
	{0, "\x00\x00\x02\x00\x02\x10", "application/x-quattro-pro", "Quattro Pro 5 for Windows"},
	{0, "\x00\x00\x02\x00\x20\x51", "application/x-quattro-pro", "Quattro Pro for DOS"},
	{0, "\x00\x00\x02\x00\x21\x51", "application/x-quattro-pro", "Quattro Pro for DOS"},
	{0, "?_\x03\x00", "application/winhlp", "Windows help"},
	{0, "IIRO\x08\x00\x00\x00", "image/x-olympus-orf", "a raw photograph of Olympus"},
	{0, "IIRS\x08\x00\x00\x00", "image/x-olympus-orf", "a raw photograph of Olympus"},
	{2048, "PCD_IPI", "image/x-photo-cd", "a Photo CD image"},
	{0, "\x09\x08\x10\x00\x00\x06\x05\x00", "application/vnd.ms-excel", "an Excel stream"},
	{0, "\x09\x00\x04\x00\x02\x00\x10\x00", "application/vnd.ms-excel", "Excel 2"},
	{0, "\x09\x00\x04\x00\x07\x00\x10\x00", "application/vnd.ms-excel", "Excel 2"},
	{0, "\x09\x02\x06\x00\x00\x00\x10\x00", "application/vnd.ms-excel", "Excel 3"},
	{0, "\x09\x04\x06\x00\x00\x00\x10\x00", "application/vnd.ms-excel", "Excel 4"},
	{0, "\xd7\xcd\xc6\x9a\x00\x00", "image/wmf", "a Windows metafile"},
	{0, "\x01\x00\x09\x00\x00\x03", "image/wmf", "a Windows metafile"},
	{40, " EMF\x00\x00\x01\x00", "image/emf", "an enhanced metafile"},
	{0, "\xff\x4f\xff\x51", "image/j2c", "a JPEG 2000 codestream"},
	{0, "\x0a\x0d\x0d\x0a", "application/x-pcapng", "a packet capture"},
	{0, "!BDN", "application/vnd.ms-outlook-pst", "an Outlook store"},
	{0, "bplist0", "application/x-bplist", "a binary property list"},
	{0, "RE\x7e\x5e", "application/vnd.rar", "RAR 1.4"},
	{12, "\x62\x31\x05\x00", "application/x-berkeley-db", "a Berkeley DB tree"},
	{12, "\x61\x15\x06\x00", "application/x-berkeley-db", "a Berkeley DB hash"},
	{0, "AC10", "image/vnd.dwg", "an AutoCAD drawing"},
	{0, "%!PS-AdobeFont", "application/x-font-type1", "a Type 1 font"}, {0, "%!FontType1", "application/x-font-type1", "a Type 1 font"},
	{0, "%!PS", "application/postscript", "PostScript"},
	{0, "\xc5\xd0\xd3\xc6", "application/postscript", "an EPS file with a preview"},
}

// sqlite distinguishes applications of SQLite (SQLite file format, 1.3).
func sqlite(b []byte) Detection {
	if len(b) >= 72 {
		switch string(b[68:72]) {
		case "GPKG", "GP10", "GP11":
			return Detection{Type: "application/geopackage+sqlite3", Confidence: 0.98,
				Because: "an SQLite database whose application is GeoPackage"}
		case "MPBX":
			return Detection{Type: "application/vnd.mapbox.mbtiles", Confidence: 0.95,
				Because: "an SQLite database whose application is MBTiles"}
		}
	}
	if bytes.Contains(b, []byte("gpkg_contents")) {
		return Detection{Type: "application/geopackage+sqlite3", Confidence: 0.9,
			Because: "an SQLite database with the tables of GeoPackage"}
	}
	if bytes.Contains(b, []byte("tile_column")) && bytes.Contains(b, []byte("tile_data")) && bytes.Contains(b, []byte("metadata")) {
		return Detection{Type: "application/vnd.mapbox.mbtiles", Confidence: 0.9, Because: "an SQLite database with the tables of MBTiles"}
	}
	return Detection{Type: "application/vnd.sqlite3", Confidence: 0.97, Because: "it begins as an SQLite database does"}
}

// bitmap reports whether b has the headers of a BMP file.
func bitmap(b []byte) bool {
	if len(b) < 26 || b[0] != 'B' || b[1] != 'M' {
		return false
	}
	switch binary.LittleEndian.Uint32(b[14:]) {
	case 12, 16, 40, 52, 56, 64, 108, 124:
		return true
	}
	return false
}

// stata recognises Stata data sets before version 13 by release, byte order and file type.
func stata(b []byte) bool {
	if len(b) < 110 {
		return false
	}
	switch b[0] {
	case 0x6c, 0x6e, 0x6f, 0x71, 0x72, 0x73:
	default:
		return false
	}
	return (b[1] == 1 || b[1] == 2) && b[2] == 1 && b[3] == 0 && bytes.IndexByte(b[10:91], 0) >= 0
}

// dbase recognises a dBASE table by header length, record length and field descriptions.
func dbase(b []byte, size int64) bool {
	if len(b) < 68 {
		return false
	}
	switch b[0] {
	case 0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x43, 0x63, 0x7b, 0x83, 0x8b, 0x8c, 0xcb, 0xf5, 0xfb:
	default:
		return false
	}
	records := int64(binary.LittleEndian.Uint32(b[4:]))
	header, record := int(binary.LittleEndian.Uint16(b[8:])), int64(binary.LittleEndian.Uint16(b[10:]))
	if b[2] == 0 || b[2] > 12 || b[3] == 0 || b[3] > 31 || header < 65 || header > len(b) || record < 2 || int64(header) > size ||
		records*record > size+record {
		return false
	}
	name, _, _ := bytes.Cut(b[32:43], []byte{0})
	return len(name) > 0 && strings.ContainsRune("CDFLMNIBGPTYV@O+0QW", rune(b[43]))
}

// spanned recognises the last part of a split zip, which has only the end of the directory.
func (f *file) spanned() bool {
	if f.hints.name != "application/zip" && f.hints.declared != "application/zip" || f.Size < 22 {
		return false
	}
	tail := make([]byte, min(f.Size, 4096))
	if n, _ := f.Body.ReadAt(tail, f.Size-int64(len(tail))); n < len(tail) {
		return false
	}
	return bytes.Contains(tail, []byte("PK\x05\x06"))
}
