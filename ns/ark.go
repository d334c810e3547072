package ns

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"
)

// ARKs (Archival Resource Keys) of the archive follow from the ids of resources by rule, so that none needs to be
// stored: ark:NAAN/, the id in 20 betanumeric digits, a check character, and for a version ".v" and its number.

// betanumeric are the digits of an ARK: no vowels, which would make words, and no l.
const betanumeric = "0123456789bcdfghjkmnpqrstvwxz"

// arkDigits is how many betanumeric digits 96 bits need.
const arkDigits = 20

// naan is the form of the number of a name assigning authority.
var naan = regexp.MustCompile(`^[0-9bcdfghjkmnpqrstvwxz]{5,9}$`)

// IsNAAN reports whether a text can be the number of a name assigning authority.
func IsNAAN(s string) bool { return naan.MatchString(s) }

// ARK returns the ARK of a resource, or of a version of it unless n is negative. It returns "" if naan is empty or the id
// is malformed.
func ARK(naan, resourceID string, n int) string {
	if naan == "" || !IsResourceID(resourceID) {
		return ""
	}
	id, _ := new(big.Int).SetString(resourceID, 16)
	name := make([]byte, arkDigits)
	digit, base := new(big.Int), big.NewInt(int64(len(betanumeric)))
	for i := range name {
		id.DivMod(id, base, digit)
		name[arkDigits-1-i] = betanumeric[digit.Int64()]
	}
	ark := naan + "/" + string(name)
	ark = "ark:" + ark + string(checkCharacter(ark))
	if n >= 0 {
		ark += ".v" + strconv.Itoa(n)
	}
	return ark
}

// checkCharacter returns the check character of NOID: the sum of the values of the characters times their positions,
// modulo 29. It differs if one character is wrong or two neighbours are swapped.
func checkCharacter(s string) byte {
	sum := 0
	for i := range len(s) {
		sum += (i + 1) * max(strings.IndexByte(betanumeric, s[i]), 0)
	}
	return betanumeric[sum%len(betanumeric)]
}

// ParseARK parses an ARK that ARK returned, with or without the "/" behind "ark:", with hyphens anywhere and letters of
// any case. n is -1 for a resource. mistyped reports that the text looks like one of these ARKs, but its check
// character is wrong.
func ParseARK(naan, ark string) (resourceID string, n int, mistyped, ok bool) {
	ark = strings.ToLower(strings.ReplaceAll(ark, "-", ""))
	rest, found := strings.CutPrefix(ark, "ark:")
	rest = strings.TrimPrefix(rest, "/")
	of, name, isName := strings.Cut(rest, "/")
	if !found || !isName || naan == "" || of != strings.ToLower(naan) {
		return "", -1, false, false
	}
	n = -1
	name, number, isVersion := strings.Cut(name, ".v")
	if isVersion {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 0 || strconv.Itoa(n) != number {
			return "", -1, false, false
		}
	}
	if len(name) != arkDigits+1 {
		return "", -1, false, false
	}
	id, base := new(big.Int), big.NewInt(int64(len(betanumeric)))
	for i := range arkDigits {
		v := strings.IndexByte(betanumeric, name[i])
		if v < 0 {
			return "", -1, true, false
		}
		id.Add(id.Mul(id, base), big.NewInt(int64(v)))
	}
	if checkCharacter(of+"/"+name[:arkDigits]) != name[arkDigits] || id.BitLen() > 96 {
		return "", -1, true, false
	}
	hex := id.Text(16)
	return strings.Repeat("0", 24-len(hex)) + hex, n, false, true
}
