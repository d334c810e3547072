package geo

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"odarchive/crawler/inspect/charset"
)

// codePages are the encodings of dBASE's language drivers, the byte at 29 of a table.
var codePages = map[byte]string{
	0x01: "ibm437", 0x02: "ibm850", 0x03: "windows-1252", 0x04: "macintosh", 0x08: "ibm865", 0x09: "ibm437", 0x0a: "ibm850", 0x0b: "ibm437",
	0x0d: "ibm437", 0x0e: "ibm850", 0x0f: "ibm437", 0x10: "ibm850", 0x11: "ibm437", 0x12: "ibm850", 0x13: "cp932", 0x14: "ibm850",
	0x15: "ibm437", 0x16: "ibm850", 0x17: "ibm865", 0x18: "ibm437", 0x19: "ibm437", 0x1a: "ibm850", 0x1b: "ibm437", 0x1c: "ibm863",
	0x1d: "ibm850", 0x1f: "ibm852", 0x22: "ibm852", 0x23: "ibm852", 0x24: "ibm860", 0x25: "ibm850", 0x26: "ibm866", 0x37: "ibm850",
	0x40: "ibm852", 0x4d: "gbk", 0x4e: "cp949", 0x4f: "big5", 0x50: "cp874", 0x57: "windows-1252", 0x58: "windows-1252",
	0x59: "windows-1252",
	0x64: "ibm852", 0x65: "ibm866", 0x66: "ibm865", 0x6c: "ibm863", 0x78: "big5", 0x79: "cp949", 0x7a: "gbk", 0x7b: "cp932", 0x7c: "cp874",
	0x87: "ibm852", 0x96: "maccyrillic", 0xc8: "windows-1250", 0xc9: "windows-1251", 0xca: "windows-1254", 0xcb: "windows-1253",
	0xcc: "windows-1257",
}

// sampled is how many records are looked at to find the encoding.
const sampled = 4000

// chooseEncoding sets the encoding of texts: UTF-8 if they are, which few texts in other encodings are by chance, or
// else that of the .cpg file, of the header, or the one that the texts look like.
func (d *dbf) chooseEncoding(stated string) {
	var seen bytes.Buffer
	foreign, isUTF8 := false, true
	look := func(raw []byte) {
		for rest := raw; len(rest) > 0; {
			r, n := utf8.DecodeRune(rest)
			foreign = foreign || rest[0] >= 0x80
			if r == utf8.RuneError && n == 1 && utf8.FullRune(rest) { // at the end, a field may cut a character off
				isUTF8 = false
			}
			rest = rest[n:]
		}
		if seen.Len() < 64<<10 {
			seen.Write(raw)
			seen.WriteByte('\n')
		}
	}
	for _, f := range d.fields {
		look([]byte(f.name))
	}
	for i := range min(d.rows, sampled) {
		b, err := d.raw(i)
		if err != nil {
			break // its rows say so when they are read
		}
		for _, f := range d.fields {
			if f.kind == 'C' || f.kind == 'V' {
				look(trimRight(b[f.at : f.at+f.size]))
			}
		}
	}
	switch {
	case foreign && isUTF8:
		d.page = "utf-8"
	case stated != "":
		if charset.Decoder(stated) != nil {
			d.page = stated
		}
	}
	if d.page == "utf-8" && !isUTF8 { // the .cpg file is wrong, as after a conversion of the table alone
		d.page = ""
	}
	if d.page == "" {
		d.page = charset.Detect(seen.Bytes(), "").Name
	}
	if d.decode = charset.Decoder(d.page); d.decode == nil {
		d.page = "windows-1252"
		d.decode = charset.Decoder(d.page)
	}
}

// codePage returns the encoding that the text of a .cpg file names, "" if none.
func codePage(text string) string {
	name := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "ldid/"), "ansi ")
	switch name {
	case "", "system", "oem":
		return ""
	case "65001", "utf8":
		return "utf-8"
	case "iso 88591", "iso-88591":
		return "iso-8859-1"
	case "936":
		return "gbk"
	case "932":
		return "cp932"
	case "949":
		return "cp949"
	case "950":
		return "big5"
	case "437", "850", "852", "855", "860", "862", "863", "865", "866":
		return "ibm" + name
	case "874", "1250", "1251", "1252", "1253", "1254", "1255", "1256", "1257", "1258":
		return "windows-" + name
	}
	if digits, ok := strings.CutPrefix(name, "8859"); ok && len(digits) <= 2 {
		return "iso-8859-" + digits
	}
	return strings.ReplaceAll(name, " ", "-")
}
