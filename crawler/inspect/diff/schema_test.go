package diff

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPlainNumbersAreWhatTheLongWaySays(t *testing.T) {
	t.Parallel()
	const seed = 7
	random := rand.New(rand.NewPCG(seed, 1))
	numbers := 0
	for range 200_000 {
		var b strings.Builder
		for range 1 + random.IntN(14) {
			b.WriteByte("0123456789012345678901234567890123456789..,-+eExX_nN:T "[random.IntN(55)])
		}
		s := strings.TrimSpace(b.String())
		if s == "" || !strings.ContainsAny(s[:1], "0123456789+-.") {
			continue
		}
		if quick := plainNumber(s); quick != 0 {
			numbers++
			if slow := typeOfOdd(s); quick != slow {
				t.Fatalf("seed %d: %q: %s, the long way %s", seed, s, quick, slow)
			}
		}
	}
	if numbers < 1000 {
		t.Errorf("only %d plain numbers were tried", numbers)
	}
}

func TestValuesHaveTheTypesThatPeopleSee(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"": "empty", " ": "empty", "42": "integer", "-7": "integer", "+7": "integer", "3.5": "decimal", "3,5": "decimal", ".5": "decimal",
		"5.": "decimal", "1e5": "decimal",
		"1.000.000": "string", "9223372036854775808": "decimal", "999999999999999999": "integer", "2026-11-22": "date",
		"2026-11-22T03:04:05Z": "date", "22.11.2026": "date",
		"2026-13-01": "string", "TRUE": "boolean", "false": "boolean", "Tree": "string", "-": "string", "0x1F": "string", "1_000": "string",
		"12:30": "string",
	} {
		if got := typeOf(value).String(); got != want {
			t.Errorf("%q is %s, want %s", value, got, want)
		}
	}
}
