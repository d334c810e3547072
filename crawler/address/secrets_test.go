package address

import (
	"strings"
	"testing"
)

func TestASecretIsFoundAcrossTheEndsOfParts(t *testing.T) {
	t.Parallel()
	h := Secrets{"a-secret", "x"}
	for at := 64<<10 - 10; at < 64<<10+20; at++ {
		if !h[:1].Within(strings.NewReader(strings.Repeat(".", at) + "a-secret" + strings.Repeat(".", 100))) {
			t.Errorf("not found at %d", at)
		}
	}
	if h.Within(strings.NewReader(strings.Repeat(".", 200_000))) || h.Within(strings.NewReader("")) {
		t.Error("found where it is not")
	}
	if got := h.Replace("https://a/?k=a-secret&l=2"); got != "https://a/?k=[removed]&l=2" {
		t.Error(got)
	}
}
