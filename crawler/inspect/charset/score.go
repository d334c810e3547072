package charset

import (
	"fmt"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// single is an encoding of one byte per character, with the languages it is for.
type single struct {
	name  string
	chars *charmap.Charmap
	langs []string
	prior float64 // cost in bits before reading the text
}

func singles() []single {
	west := []string{"de", "fr", "es", "pt", "it", "nl", "da", "sv", "no", "fi", "is", "ca"}
	east := []string{"cs", "sk", "pl", "hu", "sl", "hr", "ro"}
	cyrillic := []string{"ru", "bg", "uk", "mk"}
	return []single{
		{"windows-1252", charmap.Windows1252, west, 0},
		{"windows-1251", charmap.Windows1251, cyrillic, 2},
		{"windows-1250", charmap.Windows1250, east, 3},
		{"iso-8859-2", charmap.ISO8859_2, east, 3},
		{"windows-1253", charmap.Windows1253, []string{"el"}, 3},
		{"iso-8859-7", charmap.ISO8859_7, []string{"el"}, 3},
		{"windows-1254", charmap.Windows1254, []string{"tr"}, 4},
		{"windows-1255", charmap.Windows1255, []string{"he"}, 4},
		{"windows-1256", charmap.Windows1256, []string{"ar", "fa"}, 4},
		{"iso-8859-6", charmap.ISO8859_6, []string{"ar"}, 6},
		{"windows-1257", charmap.Windows1257, []string{"lt", "lv", "et"}, 5},
		{"windows-1258", charmap.Windows1258, []string{"vi"}, 8},
		{"cp874", charmap.Windows874, []string{"th"}, 4},
		{"koi8-r", charmap.KOI8R, []string{"ru", "bg"}, 4},
		{"koi8-u", charmap.KOI8U, []string{"uk"}, 8},
		{"iso-8859-5", charmap.ISO8859_5, cyrillic, 5},
		{"ibm866", charmap.CodePage866, []string{"ru", "bg", "uk"}, 5},
		{"ibm855", charmap.CodePage855, cyrillic, 8},
		{"maccyrillic", charmap.MacintoshCyrillic, cyrillic, 8},
		{"ibm850", charmap.CodePage850, west, 7},
		{"ibm852", charmap.CodePage852, east, 9},
		{"ibm437", charmap.CodePage437, west, 9},
		{"ibm862", charmap.CodePage862, []string{"he"}, 10},
		{"macintosh", charmap.Macintosh, west, 8},
		{"iso-8859-15", charmap.ISO8859_15, west, 3},
		{"iso-8859-4", charmap.ISO8859_4, []string{"lt", "lv", "et"}, 9},
		{"iso-8859-13", charmap.ISO8859_13, []string{"lt", "lv", "et"}, 8},
		{"iso-8859-16", charmap.ISO8859_16, []string{"ro"}, 9},
	}
}

// Costs in bits of anything but a pair of letters.
const (
	costInvalid     = 22 // a byte without a meaning
	costControl     = 18 // C1 controls
	costBox         = 13 // box drawing and blocks
	costSymbol      = 11
	costQuote       = 5  // typographic quotes, dashes, degrees, currencies
	costForeign     = 13 // a letter that is not in the language
	costCase        = 5  // a capital after a lower-case letter
	costWithin      = 6  // a symbol between two letters
	costLone        = 7  // in a Latin text, a word of one letter of another script: more likely "è" or "à"
	costForeignByte = 3  // in such a text, a byte of another script
	costSparse      = 7  // once, for an encoding of another region in a text with hardly any bytes from 128 on
	costMixed       = 9  // a Latin letter next to one of another script
)

// modelBytes is how much text is scored with the models.
const modelBytes = 48 << 10

// score is the cost of a text in one encoding.
type score struct {
	name string
	lang string
	bits float64
	high int // bytes from 128 on that were scored
}

// byModels scores all encodings with the letter statistics of their languages.
func byModels(b []byte, hint string) Guess {
	text, rare := interesting(b), sparse(b)
	models := loadModels()
	best := score{bits: 1e18}
	var second score
	all := map[string]score{}
	consider := func(s score) {
		all[s.name] = s
		switch {
		case s.bits < best.bits:
			best, second = s, best
		case second.name == "" || s.bits < second.bits:
			second = s
		}
	}
	for _, e := range singles() {
		consider(scoreSingle(text, e, models, rare))
	}
	for _, e := range multiples() {
		if s, ok := scoreMultiple(text, e, models, rare); ok {
			consider(s)
		}
	}
	for _, d := range []struct{ name, who string }{{declaration(b), "the text"}, {canonical(hint), "its source"}} {
		if s, ok := all[equivalent(d.name)]; ok && s.bits <= best.bits+0.6*float64(s.high)+12 {
			name := s.name
			if name != d.name {
				name = narrowed(d.name, s.name, b)
			}
			return Guess{refine(name, b), 0.95, fmt.Sprintf("%s says so and the letters agree", d.who)}
		}
	}
	gap := (second.bits - best.bits) / float64(max(best.high, 1))
	conf := 0.5 + min(0.45, gap/4)
	if best.high < 20 {
		conf -= 0.15
	}
	return Guess{refine(best.name, b), conf,
		fmt.Sprintf("letters follow one another as in %s text (language model %s)", best.name, best.lang)}
}

// equivalent returns the encoding under which a declared one was scored: its superset.
func equivalent(name string) string {
	switch name {
	case "iso-8859-1":
		return "windows-1252"
	case "iso-8859-9":
		return "windows-1254"
	case "iso-8859-8":
		return "windows-1255"
	case "tis-620":
		return "cp874"
	case "gb2312", "gbk":
		return "gb18030"
	case "cp932":
		return "shift_jis"
	case "cp949":
		return "euc-kr"
	case "big5hkscs":
		return "big5"
	}
	return name
}

// narrowed returns the declared encoding if the text has no bytes that only its superset has, else the superset.
func narrowed(declared, super string, b []byte) string {
	switch declared {
	case "iso-8859-1", "iso-8859-9", "iso-8859-8", "tis-620":
		for _, c := range b {
			if c >= 0x80 && c < 0xA0 {
				return super
			}
		}
		return declared
	}
	return super
}

// interesting returns the lines of a text that contain bytes from 128 on.
func interesting(b []byte) []byte {
	if len(b) <= modelBytes {
		return b
	}
	var out []byte
	for start := 0; start < len(b) && len(out) < modelBytes; {
		end := start
		for end < len(b) && b[end] != '\n' && end-start < 2048 {
			end++
		}
		end = min(end+1, len(b))
		if !ascii(b[start:end]) {
			out = append(out, b[start:end]...)
		}
		start = end
	}
	return out
}

// scoreSingle returns the best score of the encoding over its languages. rare says that text is from a sparse one.
func scoreSingle(text []byte, e single, models map[string]*model, rare bool) score {
	var table [128]rune
	for i := range table {
		table[i] = e.chars.DecodeByte(byte(128 + i))
	}
	best := score{name: e.name, bits: 1e18}
	prior := e.prior
	if rare && e.langs[0] != "de" { // not of Western Europe
		_, high := letters(text)
		prior += abroad(models[e.langs[0]], high)
	}
	for _, lang := range e.langs {
		m := models[lang]
		if m == nil {
			continue
		}
		bits, high := scoreText(text, &table, m, best.bits)
		bits += prior
		if bits < best.bits {
			best.lang, best.bits, best.high = lang, bits, high
		}
	}
	return best
}

// scoreText scores every byte from 128 on with its neighbours. It stops when the cost exceeds limit bits.
func scoreText(text []byte, table *[128]rune, m *model, limit float64) (bits float64, high int) {
	type letter struct {
		index int16 // in m, 0 = not a letter of the language
		class byte  // 0 other, 1 small, 2 capital
		high  bool
	}
	var classes [256]letter
	for i := range classes {
		r := rune(i)
		if i >= 128 {
			r = table[i-128]
		}
		l := letter{high: i >= 128}
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			l.class = 1
			if unicode.IsUpper(r) {
				l.class = 2
			}
			l.index = m.index[unicode.ToLower(r)]
		}
		classes[i] = l
	}
	units := 0
	foreign := m.index['e'] == 0 // words of the language have no Latin letters
	lone := 0
	if foreign && mostlyLatin(text) {
		lone = costLone * scale
	}
	prev := letter{}
	for i, c := range text {
		l := classes[c]
		if l.high {
			high++
			if l.class == 0 {
				cost := symbolCost(table[c-128])
				if i > 0 && i+1 < len(text) && prev.class != 0 && classes[text[i+1]].class != 0 {
					cost += costWithin
				}
				units += cost * scale
			} else if l.index == 0 {
				units += costForeign * scale
			}
		}
		if (l.high && l.index != 0) || (prev.high && prev.index != 0) {
			// Half of each pair's cost, since a letter is in two pairs.
			if l.high && prev.high {
				units += m.pair(prev.index, l.index)
			} else {
				units += m.pair(prev.index, l.index) * 3 / 4
			}
		}
		if foreign && l.high != prev.high && l.class != 0 && prev.class != 0 {
			units += costMixed * scale
		}
		if lone > 0 && l.high && l.class != 0 && prev.class == 0 && (i+1 == len(text) || classes[text[i+1]].class == 0) {
			units += lone
		}
		if l.class == 2 && prev.class == 1 && (l.high || prev.high) {
			units += costCase * scale
		}
		prev = l
		if i&1023 == 0 && float64(units)/scale > limit {
			break
		}
	}
	return float64(units) / scale, high
}

// sparse reports whether text has so few bytes from 128 on that it is likely in English, with names and signs from
// Western Europe.
func sparse(text []byte) bool {
	latin, high := letters(text)
	return latin > 60*high
}

// abroad returns the cost, in a sparse text with that many bytes from 128 on, of an encoding of another region with the
// letters of m. Words in another script would not be that rare.
func abroad(m *model, high int) float64 {
	if m == nil || m.index['e'] != 0 {
		return costSparse + float64(high)
	}
	return costSparse + costForeignByte*float64(high)
}

// mostlyLatin reports whether there are far more ASCII letters than bytes from 128 on.
func mostlyLatin(text []byte) bool {
	latin, high := letters(text)
	return latin > 8*high
}

// letters counts ASCII letters and bytes from 128 on.
func letters(text []byte) (latin, high int) {
	for _, c := range text {
		if c >= 0x80 {
			high++
		} else if c|0x20 >= 'a' && c|0x20 <= 'z' {
			latin++
		}
	}
	return latin, high
}

// symbolCost returns the cost of a character other than a letter.
func symbolCost(r rune) int {
	switch r {
	case unicode.ReplacementChar:
		return costInvalid
	case '«', '»', '„', '“', '”', '‘', '’', '–', '—', '…', '€', '£', '°', '§', '№', '•', '\u00a0', 'º', 'ª', '©', '®', '²', '½', '·', '¿',
		'¡', '™', '´':
		return costQuote
	}
	switch {
	case r >= 0x80 && r < 0xA0:
		return costControl
	case r >= 0x2500 && r < 0x25A0:
		return costBox
	}
	return costSymbol
}
