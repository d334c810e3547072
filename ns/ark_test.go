package ns

import (
	"fmt"
	"testing"
)

func TestARKsNameResourcesAndVersionsAndShowMistakes(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"0123456789abcdef01234567", "000000000000000000000000", "ffffffffffffffffffffffff"} {
		for n := -1; n < 30; n += 10 {
			ark := ARK("12345", id, n)
			if got, number, _, ok := ParseARK("12345", ark); !ok || got != id || number != n {
				t.Errorf("%s is %s, %d, %v; want %s, %d", ark, got, number, ok, id, n)
			}
		}
	}
	ark := ARK("12345", "0123456789abcdef01234567", 3)
	for _, other := range []string{"ark:/" + ark[4:], "ARK:" + ark[4:], ark[:15] + "-" + ark[15:]} {
		if id, n, _, ok := ParseARK("12345", other); !ok || id != "0123456789abcdef01234567" || n != 3 {
			t.Errorf("%s: %s, %d, %v", other, id, n, ok)
		}
	}
	if checkCharacter("13030/xf93gt2") != 'q' { // the example of the NOID documentation
		t.Errorf("check character %c, want q", checkCharacter("13030/xf93gt2"))
	}
	begin := len("ark:12345/")
	for i := begin; i < begin+arkDigits; i++ { // each wrong character, and each two that are swapped, are found
		for _, c := range []byte(betanumeric) {
			wrong := []byte(ark)
			if wrong[i] == c {
				continue
			}
			wrong[i] = c
			if _, _, mistyped, ok := ParseARK("12345", string(wrong)); ok || !mistyped {
				t.Errorf("%s is taken for an ARK", wrong)
			}
		}
		if i > begin && ark[i] != ark[i-1] {
			swapped := []byte(ark)
			swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
			if _, _, _, ok := ParseARK("12345", string(swapped)); ok {
				t.Errorf("%s is taken for an ARK", swapped)
			}
		}
	}
	for _, bad := range []string{"", "ark:", "ark:12345", "ark:12345/", "ark:99999/" + ark[10:], ark + "x", ark[:len(ark)-1] + "03", "doi:" + ark[4:], "ark:12345/" + fmt.Sprintf("%0300d", 0)} {
		if _, _, _, ok := ParseARK("12345", bad); ok {
			t.Errorf("%q is taken for an ARK", bad)
		}
	}
	if ARK("", "0123456789abcdef01234567", 0) != "" || IsNAAN("1234") || IsNAAN("12345/") || !IsNAAN("12345") || !IsNAAN("b5072") {
		t.Error("a NAAN")
	}
}
