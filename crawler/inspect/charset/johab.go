package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/transform"
)

// johab decodes KS X 1001 annex 3: a syllable is one bit and three letters of five bits each. Symbols and Chinese
// characters are those of the plain KS X 1001 code, shifted.
type johab struct{}

func (johab) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: pairDecoder{johabPair}}
}
func (johab) NewEncoder() *encoding.Encoder { return encoding.Nop.NewEncoder() }

// eucTW decodes plane 1 of CNS 11643, which contains the common characters.
type eucTW struct{}

func (eucTW) NewDecoder() *encoding.Decoder {
	return &encoding.Decoder{Transformer: pairDecoder{cnsPair}}
}
func (eucTW) NewEncoder() *encoding.Encoder { return encoding.Nop.NewEncoder() }

// pairDecoder decodes an encoding of ASCII and two-byte characters. If pair returns 0, the first byte is invalid by
// itself.
type pairDecoder struct {
	pair func(a, b byte) rune
}

func (pairDecoder) Reset() {}

func (d pairDecoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		if nDst+utf8.UTFMax > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		c := src[nSrc]
		if c < utf8.RuneSelf {
			dst[nDst] = c
			nDst++
			nSrc++
			continue
		}
		if nSrc+1 >= len(src) {
			if !atEOF {
				return nDst, nSrc, transform.ErrShortSrc
			}
			nDst += utf8.EncodeRune(dst[nDst:], utf8.RuneError)
			nSrc++
			continue
		}
		r := d.pair(c, src[nSrc+1])
		nSrc += 2
		if r == 0 {
			r = utf8.RuneError
			nSrc--
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
	}
	return nDst, nSrc, nil
}

// ksx decodes a character of KS X 1001 by row and column, from 1.
func ksx(row, col int) rune {
	if row < 1 || row > 93 || col < 1 || col > 94 {
		return 0
	}
	return decodePair(korean.EUCKR, byte(row+0xA0), byte(col+0xA0))
}

func decodePair(e encoding.Encoding, a, b byte) rune {
	out, err := e.NewDecoder().Bytes([]byte{a, b})
	if err != nil {
		return 0
	}
	r, w := utf8.DecodeRune(out)
	if r == utf8.RuneError || w != len(out) {
		return 0
	}
	return r
}

func johabPair(a, b byte) rune {
	const none, filler = -1, -2
	c := int(a)<<8 | int(b)
	switch {
	case a >= 0x84 && a <= 0xD3:
		initial, medial, final := c>>10&31, c>>5&31, c&31
		i, m, f := none, none, none
		if initial >= 2 && initial <= 20 {
			i = initial - 2
		} else if initial == 1 {
			i = filler
		}
		switch {
		case medial == 2:
			m = filler
		case medial >= 3 && medial <= 7:
			m = medial - 3
		case medial >= 10 && medial <= 15:
			m = medial - 5
		case medial >= 18 && medial <= 23:
			m = medial - 7
		case medial >= 26 && medial <= 29:
			m = medial - 9
		}
		switch {
		case final == 1:
			f = 0
		case final >= 2 && final <= 17:
			f = final - 1
		case final >= 19 && final <= 29:
			f = final - 2
		}
		switch {
		case i >= 0 && m >= 0 && f >= 0:
			return rune(0xAC00 + (i*21+m)*28 + f)
		case i >= 0 && m == filler && f == 0: // a lone initial consonant
			return rune([]rune("ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ")[i])
		case i == filler && m >= 0 && f == 0:
			return rune(0x314F + m)
		case i == filler && m == filler && f >= 0: // a lone final consonant, or nothing
			return []rune("\u3000ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")[f]
		}
		return 0
	case a >= 0xD9 && a <= 0xDE || a >= 0xE0 && a <= 0xF9:
		// Each first byte has two rows of 94: columns 0x31-0x7E and 0x91-0xFE.
		var col int
		switch {
		case b >= 0x31 && b <= 0x7E:
			col = int(b) - 0x31
		case b >= 0x91 && b <= 0xFE:
			col = int(b) - 0x91 + 78
		default:
			return 0
		}
		row := (int(a)-0xD9)*2 + 1
		if a >= 0xE0 {
			row = (int(a)-0xE0)*2 + 42
		}
		return ksx(row+col/94, col%94+1)
	}
	return 0
}

// cnsRanges maps runs of CNS 11643 plane 1 to runs of Big5. Both are in stroke order, with a few exceptions.
func cnsRanges() [][3]int { // first CNS, first Big5, last CNS
	return [][3]int{
		{0x2121, 0xA140, 0x2256}, {0x2257, 0xA1F7, 0x2257}, {0x2258, 0xA1F6, 0x2258}, {0x2259, 0xA1F8, 0x234E}, {0x2421, 0xA2AF, 0x2570},
		{0x4421, 0xA440, 0x5322}, {0x5323, 0xAD40, 0x5752}, {0x5753, 0xACFE, 0x5753}, {0x5754, 0xAFD0, 0x6B4F}, {0x6B50, 0xBE52, 0x6B50},
		{0x6B51, 0xBBC8, 0x6F5B}, {0x6F5C, 0xBE53, 0x7534}, {0x7535, 0xC2CB, 0x7535}, {0x7536, 0xC1AB, 0x7736}, {0x7737, 0xC2CC, 0x782C},
		{0x782D, 0xC456, 0x782D}, {0x782E, 0xC361, 0x7863}, {0x7864, 0xC3BA, 0x7864}, {0x7865, 0xC3B9, 0x7865}, {0x7866, 0xC3BB, 0x7961},
		{0x7962, 0xC457, 0x7D4B},
	}
}

func cnsPair(a, b byte) rune {
	if a < 0xA1 || b < 0xA1 || a > 0xFD || b > 0xFE {
		return 0
	}
	code := int(a&0x7F)<<8 | int(b&0x7F)
	for _, r := range cnsRanges() {
		if code < r[0] || code > r[2] {
			continue
		}
		n := (code>>8-r[0]>>8)*94 + code&0xFF - r[0]&0xFF
		lead, trail := r[1]>>8, r[1]&0xFF
		at := trail - 0x40
		if trail >= 0xA1 {
			at = trail - 0xA1 + 63
		}
		at += n
		lead += at / 157
		if at %= 157; at < 63 {
			trail = at + 0x40
		} else {
			trail = at - 63 + 0xA1
		}
		return decodePair(traditionalchinese.Big5, byte(lead), byte(trail))
	}
	return 0
}
