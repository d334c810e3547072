package charset

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// NewReader decodes r from the named encoding to UTF-8 without a byte order mark. Invalid bytes become U+FFFD, except
// that "utf-8" and "ascii" pass bytes through unchanged.
func NewReader(r io.Reader, name string) (io.Reader, error) {
	switch n := canonical(name); n {
	case "utf-8", "ascii", "":
		return skipMark(r), nil
	default:
		enc := lookup(n)
		if enc == nil {
			return nil, fmt.Errorf("charset: no decoder for %q", name)
		}
		return skipMark(transform.NewReader(r, enc.NewDecoder())), nil
	}
}

// skipMark removes a UTF-8 byte order mark.
func skipMark(r io.Reader) io.Reader { return &markSkipper{r: r} }

type markSkipper struct {
	r    io.Reader
	done bool
}

func (m *markSkipper) Read(p []byte) (int, error) {
	if m.done {
		return m.r.Read(p)
	}
	m.done = true
	br := bufio.NewReaderSize(m.r, 16)
	if head, _ := br.Peek(3); string(head) == "\xef\xbb\xbf" {
		br.Discard(3)
	}
	m.r = io.MultiReader(io.LimitReader(br, int64(br.Buffered())), m.r)
	return m.r.Read(p)
}

// canonical returns this package's spelling of an encoding's name. Unknown names are returned in lower case.
func canonical(name string) string {
	n := strings.ToLower(strings.Trim(strings.TrimSpace(name), `"'`))
	if c, ok := aliases[strings.NewReplacer("_", "-", " ", "-").Replace(n)]; ok {
		return c
	}
	return n
}

// aliases are other names of encodings, in lower case and with hyphens.
var aliases = map[string]string{
	"utf8": "utf-8", "utf-8-sig": "utf-8", "unicode-1-1-utf-8": "utf-8", "us-ascii": "ascii", "ansi-x3.4-1968": "ascii",
	"utf16": "utf-16", "utf-16-le": "utf-16le", "utf-16-be": "utf-16be", "ucs-2": "utf-16",
	"utf32": "utf-32", "utf-32-le": "utf-32le", "utf-32-be": "utf-32be",
	"latin1": "iso-8859-1", "latin-1": "iso-8859-1", "iso8859-1": "iso-8859-1", "l1": "iso-8859-1", "iso88591": "iso-8859-1",
	"iso8859-15": "iso-8859-15", "latin-9": "iso-8859-15", "latin2": "iso-8859-2", "latin-2": "iso-8859-2", "iso8859-2": "iso-8859-2",
	"cp1250": "windows-1250", "cp1251": "windows-1251", "cp1252": "windows-1252", "cp1253": "windows-1253", "cp1254": "windows-1254",
	"cp1255": "windows-1255", "cp1256": "windows-1256", "cp1257": "windows-1257", "cp1258": "windows-1258", "ansi": "windows-1252",
	"x-sjis": "shift_jis", "sjis": "shift_jis", "shift-jis": "shift_jis", "ms932": "cp932", "windows-31j": "cp932", "ms-kanji": "shift_jis",
	"eucjp": "euc-jp", "x-euc-jp": "euc-jp", "euckr": "euc-kr", "ks-c-5601-1987": "euc-kr", "ks-c-5601": "euc-kr",
	"windows-949": "cp949", "uhc": "cp949", "ms949": "cp949", "gb-2312-80": "gb2312", "euc-cn": "gb2312", "x-gbk": "gbk", "cp936": "gbk",
	"big5-hkscs": "big5hkscs", "x-x-big5": "big5", "cp950": "big5", "euctw": "euc-tw",
	"koi8r": "koi8-r", "koi8u": "koi8-u", "x-mac-cyrillic": "maccyrillic", "mac-cyrillic": "maccyrillic", "mac": "macintosh",
	"macroman":  "macintosh",
	"mac-roman": "macintosh", "cp866": "ibm866", "866": "ibm866", "cp855": "ibm855", "cp850": "ibm850", "cp852": "ibm852",
	"cp437": "ibm437",
	"cp862": "ibm862", "tis620": "tis-620", "iso-8859-11": "tis-620", "windows-874": "cp874", "iso-8859-8-i": "iso-8859-8",
}

// decoders are the decoders that this package chooses itself, by canonical name. Others come from the indexes of
// x/text.
var decoders = map[string]encoding.Encoding{
	"utf-16":      unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"utf-16le":    unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"utf-16be":    unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"utf-32":      utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
	"utf-32le":    utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
	"utf-32be":    utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
	"iso-8859-1":  charmap.ISO8859_1,
	"iso-8859-9":  charmap.ISO8859_9,
	"maccyrillic": charmap.MacintoshCyrillic,
	"macintosh":   charmap.Macintosh,
	"ibm437":      charmap.CodePage437,
	"ibm850":      charmap.CodePage850,
	"ibm852":      charmap.CodePage852,
	"ibm855":      charmap.CodePage855,
	"ibm862":      charmap.CodePage862,
	"ibm866":      charmap.CodePage866,
	"tis-620":     charmap.Windows874,
	"cp874":       charmap.Windows874,
	"shift_jis":   japanese.ShiftJIS,
	"cp932":       japanese.ShiftJIS,
	"euc-kr":      korean.EUCKR,
	"cp949":       korean.EUCKR,
	"gb2312":      simplifiedchinese.GBK,
	"gbk":         simplifiedchinese.GBK,
	"hz":          simplifiedchinese.HZGB2312,
	"hz-gb-2312":  simplifiedchinese.HZGB2312,
	"johab":       johab{},
	"euc-tw":      eucTW{},
	"big5":        traditionalchinese.Big5,
	"big5hkscs":   traditionalchinese.Big5,
}

// Decoder returns a function that decodes one text after another to UTF-8, for formats with many short ones, nil if
// there is no decoder of that name. The function must not be called concurrently.
func Decoder(name string) func([]byte) string {
	n := canonical(name)
	if n == "utf-8" || n == "ascii" || n == "" {
		return func(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }
	}
	enc := lookup(n)
	if enc == nil {
		return nil
	}
	dec := enc.NewDecoder()
	return func(b []byte) string {
		out, err := dec.Bytes(b)
		if err != nil {
			return strings.ToValidUTF8(string(b), "\ufffd")
		}
		return string(out)
	}
}

// lookup returns the decoder for a canonical name, nil if there is none.
func lookup(n string) encoding.Encoding {
	if e, ok := decoders[n]; ok {
		return e
	}
	if e, err := htmlindex.Get(n); err == nil {
		return e
	}
	if e, err := ianaindex.IANA.Encoding(n); err == nil && e != nil {
		return e
	}
	return nil
}
