package charset

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// multiple is an encoding of one or more bytes per character.
type multiple struct {
	name  string
	enc   encoding.Encoding
	langs []string
	prior float64
}

func multiples() []multiple {
	return []multiple{
		{"gb18030", simplifiedchinese.GB18030, []string{"zh_cn", "zh_tw"}, 4},
		{"big5", traditionalchinese.Big5, []string{"zh_tw"}, 5},
		{"euc-jp", japanese.EUCJP, []string{"ja"}, 4},
		{"shift_jis", japanese.ShiftJIS, []string{"ja"}, 4},
		{"euc-kr", korean.EUCKR, []string{"ko"}, 4},
		{"johab", johab{}, []string{"ko"}, 9},
		{"euc-tw", eucTW{}, []string{"zh_tw"}, 8},
	}
}

// Costs in bits of characters that are not in the model.
const (
	costRareSign  = 16.5 // a rare character of the script
	costWide      = 9    // full-width letters, punctuation and kana
	costOtherSign = 20
)

// scoreMultiple decodes the text and scores its characters by their frequency. ok is false if too much of it is invalid
// in the encoding.
func scoreMultiple(text []byte, e multiple, models map[string]*model, rare bool) (score, bool) {
	m := models[e.langs[0]]
	if m == nil {
		return score{}, false
	}
	out, err := e.enc.NewDecoder().Bytes(text)
	if err != nil {
		return score{}, false
	}
	s := score{name: e.name, lang: m.lang, bits: e.prior}
	for _, c := range text {
		if c >= 0x80 {
			s.high++
		}
	}
	if rare {
		s.bits += abroad(m, s.high)
	}
	bad, signs := 0, 0
	latin := mostlyLatin(text)
	run, before := 0, rune(0) // signs since the last other character, and that character
	for i := 0; i < len(out); {
		r, w := rune(out[i]), 1
		if r >= utf8.RuneSelf {
			r, w = utf8.DecodeRune(out[i:])
		}
		i += w
		if r < utf8.RuneSelf {
			if latin && run > 0 {
				s.bits += amidLatin(before, run, r)
			}
			run, before = 0, r
			continue
		}
		run++
		signs++
		switch at := m.index[r]; {
		case r == utf8.RuneError:
			bad++
			s.bits += costInvalid
		case at != 0:
			s.bits += float64(m.cost[at-1]) / scale
		case r >= 0x3000 && r < 0x3100 || r >= 0xFF00 && r < 0xFF60:
			s.bits += costWide
		case r >= 0xFF60 && r < 0xFFA0: // half-width katakana: one byte in Shift JIS, rare
			s.bits += 11
		case r >= 0xE000 && r < 0xF900, r >= 0xF0000:
			s.bits += costInvalid
		case unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hangul, r):
			s.bits += costRareSign
		case r == '·' || r == '“' || r == '”' || r == '‘' || r == '’' || r == '…' || r == '—' || r == '―' || r == '→' || r == '■' ||
			r == '●' || r == '※' || r == '★' || r == '◆' || r == '・':
			s.bits += costWide
		default:
			s.bits += costOtherSign
		}
	}
	return s, signs > 0 && bad*20 <= signs+20
}

// amidLatin returns the cost of a run of signs between two characters of a text that is mostly Latin: a sign in a Latin
// word, or alone, is more likely a letter or a quotation mark of another encoding.
func amidLatin(before rune, run int, after rune) (bits float64) {
	for _, c := range [2]rune{before, after} {
		if c|0x20 >= 'a' && c|0x20 <= 'z' {
			bits += costMixed
		}
	}
	if run == 1 {
		bits += costLone
	}
	return bits
}

// refine returns the narrowest encoding of a family that has all the bytes.
func refine(name string, b []byte) string {
	switch name {
	case "gb18030":
		return chinese(b)
	case "euc-kr":
		if !pairs(b, 0xA1, 0xFE, 0xA1, 0xFE) {
			return "cp949"
		}
	case "shift_jis":
		for i := 0; i+1 < len(b); i++ {
			switch c := b[i]; {
			case c == 0x87, c >= 0xED && c <= 0xEE, c >= 0xF0 && c <= 0xFC: // NEC and IBM extensions
				return "cp932"
			case c >= 0x81 && c <= 0x9F, c >= 0xE0 && c <= 0xEF:
				i++
			}
		}
	case "windows-1252", "windows-1254":
		if !controls(b) {
			if name == "windows-1252" {
				return "iso-8859-1"
			}
			return "iso-8859-9"
		}
	case "cp874":
		if !controls(b) {
			return "tis-620"
		}
	}
	return name
}

// controls reports whether b has a byte between 0x80 and 0x9F.
func controls(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 && c < 0xA0 {
			return true
		}
	}
	return false
}

// pairs reports whether all bytes from 128 on come in pairs within the given rows and columns.
func pairs(b []byte, row0, row1, col0, col1 byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] < 0x80 {
			continue
		}
		if b[i] < row0 || b[i] > row1 {
			return false
		}
		if i++; i < len(b) && (b[i] < col0 || b[i] > col1) {
			return false
		}
	}
	return true
}

// chinese decides between GB 2312, GBK and GB 18030.
func chinese(b []byte) string {
	if pairs(b, 0xA1, 0xF7, 0xA1, 0xFE) {
		return "gb2312"
	}
	for i := 0; i+1 < len(b); i++ {
		if b[i] < 0x81 {
			continue
		}
		if b[i+1] >= '0' && b[i+1] <= '9' {
			return "gb18030"
		}
		i++
	}
	return "gbk"
}
