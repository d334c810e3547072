package pattern

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// normal sorts the ranges of s, in place, and joins those that touch.
func (s set) normal() set {
	type span struct{ from, to rune }
	list := make([]span, 0, len(s)/2)
	for i := 0; i < len(s); i += 2 {
		list = append(list, span{s[i], s[i+1]})
	}
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := s[:0]
	for _, x := range list {
		if n := len(out); n > 0 && x.from <= out[n-1]+1 {
			out[n-1] = max(out[n-1], x.to)
		} else {
			out = append(out, x.from, x.to)
		}
	}
	return out
}

// negated returns all other characters. s is normal.
func (s set) negated() set {
	out := set{}
	next := rune(0)
	for i := 0; i < len(s); i += 2 {
		if s[i] > next {
			out = append(out, next, s[i]-1)
		}
		next = s[i+1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, next, unicode.MaxRune)
	}
	return out
}

// minus returns the characters of s that are not in t. Both are normal.
func (s set) minus(t set) set {
	return append(s.negated(), t...).normal().negated()
}

// folded adds the characters that differ from those of s in case only.
func (s set) folded() set {
	out := slices.Clone(s)
	for i := 0; i < len(s); i += 2 {
		for c := s[i]; c <= min(s[i+1], maxFold); c++ {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				if n := len(out); out[n-1] == f-1 && n > len(s) {
					out[n-1] = f
				} else {
					out = append(out, f, f)
				}
			}
		}
	}
	return out.normal()
}

// maxFold is the last character that has variants of case.
const maxFold = 0x1E943

// ofTables returns the characters of some tables of package unicode.
func ofTables(tables ...*unicode.RangeTable) set {
	out := set{}
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			out = append(out, lo, hi)
			return
		}
		for c := lo; c <= hi; c += stride {
			out = append(out, c, c)
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return out.normal()
}

// property returns the characters of a category of Unicode, or of a block after "Is". It returns nil for other names.
func property(name string) set {
	if block, ok := strings.CutPrefix(name, "Is"); ok {
		if b, ok := blocks()[block]; ok {
			return set{b[0], b[1]}
		}
		return nil
	}
	switch name {
	case "Cn":
		return unassigned()
	case "C":
		return append(ofTables(unicode.Cc, unicode.Cf, unicode.Co), unassigned()...).normal()
	case "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po",
		"Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "Cc", "Cf", "Co":
		return ofTables(unicode.Categories[name])
	}
	return nil
}

// unassigned returns the characters of category Cn, without surrogates, which no string contains.
func unassigned() set {
	return ofTables(unicode.L, unicode.M, unicode.N, unicode.P, unicode.Z, unicode.S, unicode.Cc, unicode.Cf, unicode.Co,
		unicode.Cs).negated()
}

// multi returns the characters of \s, \i, \c, \d, \w and their opposites (XML Schema Part 2 §G.4.2.5), or nil.
func multi(e rune) set {
	switch e {
	case 's':
		return set{'\t', '\n', '\r', '\r', ' ', ' '}
	case 'i':
		return slices.Clone(nameStart)
	case 'c':
		return append(slices.Clone(nameStart), '-', '.', '0', '9', 0xB7, 0xB7, 0x300, 0x36F, 0x203F, 0x2040).normal()
	case 'd':
		return ofTables(unicode.Nd)
	case 'w':
		return append(ofTables(unicode.P, unicode.Z), property("C")...).normal().negated()
	case 'S', 'I', 'C', 'D', 'W':
		return multi(unicode.ToLower(e)).negated()
	}
	return nil
}

// nameStart is NameStartChar of XML 1.0.
var nameStart = set{':', ':', 'A', 'Z', '_', '_', 'a', 'z', 0xC0, 0xD6, 0xD8, 0xF6, 0xF8, 0x2FF, 0x370, 0x37D, 0x37F, 0x1FFF,
	0x200C, 0x200D, 0x2070, 0x218F, 0x2C00, 0x2FEF, 0x3001, 0xD7FF, 0xF900, 0xFDCF, 0xFDF0, 0xFFFD, 0x10000, 0xEFFFF}

//go:embed blocks.txt
var blockList string

// blocks returns the first and last character of each block of Unicode by its name without spaces.
var blocks = sync.OnceValue(func() map[string][2]rune {
	m := map[string][2]rune{}
	for line := range strings.Lines(blockList) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] == "#" {
			continue
		}
		from, _ := strconv.ParseInt(f[0], 16, 32)
		to, _ := strconv.ParseInt(f[1], 16, 32)
		m[f[2]] = [2]rune{rune(from), rune(to)}
	}
	// Names of XML Schema 1.0 that Unicode has changed since.
	m["Greek"], m["CombiningMarksforSymbols"], m["PrivateUse"] = m["GreekandCoptic"], m["CombiningDiacriticalMarksforSymbols"],
		m["PrivateUseArea"]
	return m
})
