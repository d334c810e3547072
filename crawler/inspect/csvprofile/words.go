package csvprofile

import "strings"

// nullWord tells whether a cell, in lower case, is a word that stands for no value. A strong one does so in columns
// of any type, the others only where the rest of the column is not text.
func nullWord(low string) (is, strong bool) {
	switch low {
	case "null", "#n/a", "n/a", "#na", "\\n", "nan", "<na>", "#null!", "#value!", "#ref!", "#div/0!":
		return true, true
	case "na", "-", "--", "---", ".", "..", "...", "?", "*", "–", "—", "none", "nil", "nd", "n.d.", "n/d",
		"s/d", "missing", "unknown", ":", "x", "…", "k.a.", "k. a.", "keine angabe", "k.d.", "nv", "n.v.t.", "nc", "#", "c", "s", "no data", "not available", "not applicable":
		return true, false
	}
	return false, false
}

// isNull tells whether a cell is one of the null words.
func isNull(b []byte) bool {
	if len(b) > 14 {
		return false
	}
	var low [14]byte
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	is, _ := nullWord(string(low[:len(b)]))
	return is
}

// strongNull tells whether a cell stands for no value even among texts.
func strongNull(s string) bool {
	_, strong := nullWordIn(s)
	return strong
}

// nullWordIn is nullWord of a cell in any case.
func nullWordIn(s string) (is, strong bool) {
	if len(s) > 14 {
		return false, false
	}
	var low [14]byte
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 {
			return nullWord(strings.ToLower(s))
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	return nullWord(string(low[:len(s)]))
}

// boolean says as which words for true and false a cell can be read, 0 for none.
func boolean(b []byte) forms {
	if len(b) > 6 {
		return 0
	}
	var low [6]byte
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	switch string(low[:len(b)]) {
	case "true", "false":
		return boolTrueFalse
	case "yes":
		return boolYesNo
	case "no":
		return boolYesNo | boolSiNo
	case "y":
		return boolYN
	case "n":
		return boolYN
	case "t", "f":
		return boolTF
	case "ja", "nein":
		return boolJaNein
	case "oui", "non":
		return boolOuiNon
	case "si", "sí":
		return boolSiNo
	case "on", "off":
		return boolOnOff
	}
	return 0
}

// wordStarts are the first three letters of all that begins with letters and may be something else than text: words for
// no value, for true and false, months, INF, and the schemes of IRIs.
const wordStarts = "nul nan non nil not mis unk kei tru fal yes nei oui off inf htt ftp sft fil geo urn mai doi tel dat ark " +
	"jan ene gen feb fev mar mrz maa may mag mei apr avr abr jun jui giu jul lug aug ago sep set oct okt ott out nov dec dez dic"

// wordBits has a bit for each of them.
var wordBits = func() (set [1 << 15 / 64]uint64) {
	for _, w := range strings.Fields(wordStarts) {
		i := int(w[0]&31)<<10 | int(w[1]&31)<<5 | int(w[2]&31)
		set[i/64] |= 1 << (i % 64)
	}
	return set
}()

// plainText tells, from its prefix, that a value is surely text: it begins with three letters with which no word does.
func plainText(key uint64) bool {
	low := key>>40 | 0x202020
	a, b, c := low>>16-'a', low>>8&0xFF-'a', low&0xFF-'a'
	if a > 'z'-'a' || b > 'z'-'a' || c > 'z'-'a' {
		return false
	}
	i := (a+1)<<10 | (b+1)<<5 | c + 1
	return wordBits[i/64]>>(i%64)&1 == 0
}
