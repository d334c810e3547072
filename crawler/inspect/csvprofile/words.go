package csvprofile

import "strings"

// nullWord reports whether a cell, in lower case, is a word that stands for no value. A strong one does so in columns
// of any type, the others only if the rest of the column is not text.
func nullWord(low string) (is, strong bool) {
	switch low {
	case "null", "#n/a", "n/a", "#na", "\\n", "nan", "<na>", "#null!", "#value!", "#ref!", "#div/0!":
		return true, true
	case "na", "-", "--", "---", ".", "..", "...", "?", "*", "–", "—", "none", "nil", "nd", "n.d.", "n/d",
		"s/d", "missing", "unknown", ":", "x", "…", "k.a.", "k. a.", "keine angabe", "k.d.", "nv", "n.v.t.", "nc", "#", "c", "s", "no data",
		"not available", "not applicable":
		return true, false
	}
	return false, false
}

// isNull reports whether a cell is one of the null words.
func isNull(b []byte) bool {
	is, _ := nullWordIn(b)
	return is
}

// strongNull reports whether a cell stands for no value even among texts.
func strongNull(s string) bool {
	_, strong := nullWordIn(s)
	return strong
}

// nullWordIn is nullWord of a cell in any case.
func nullWordIn[T string | []byte](s T) (is, strong bool) {
	var low [14]byte
	if len(s) > len(low) {
		return false, false
	}
	return nullWord(string(appendLower(low[:0], s)))
}

// appendLower appends a word to dst, its ASCII letters in lower case.
func appendLower[T string | []byte](dst []byte, word T) []byte {
	for i := range len(word) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return dst
}

// boolean returns the pairs of words for true and false that a cell may belong to, 0 if none.
func boolean(b []byte) forms {
	var low [6]byte
	if len(b) > len(low) {
		return 0
	}
	switch string(appendLower(low[:0], b)) {
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

// wordStarts are the first three letters of every value that begins with letters and may not be text: words for no
// value, for true and false, months, INF, and schemes of IRIs.
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

// plainText reports, from a value's prefix, whether it is certainly text: it begins with three letters that begin no
// word of wordStarts.
func plainText(key uint64) bool {
	low := key>>40 | 0x202020
	a, b, c := low>>16-'a', low>>8&0xFF-'a', low&0xFF-'a'
	if a > 'z'-'a' || b > 'z'-'a' || c > 'z'-'a' {
		return false
	}
	i := (a+1)<<10 | (b+1)<<5 | c + 1
	return wordBits[i/64]>>(i%64)&1 == 0
}
