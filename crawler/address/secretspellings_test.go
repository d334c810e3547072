package address

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/url"
	"strings"
	"testing"
)

func TestSecretsAreRemovedInEverySpelling(t *testing.T) {
	for _, secret := range []string{"hunter2", `s3cr/et+Ab"c&9`, `a\b\\c`, "100%25x", "p ss w", "<päß>&amp;'", "🔑key", `\`, "%", "&"} {
		quoted, _ := json.Marshal(secret)
		plain := strings.Trim(string(quoted), `"`)
		var u, numbers, lower strings.Builder
		for _, r := range secret {
			if r > 0xffff {
				fmt.Fprintf(&u, `\u%04x\u%04X`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
			} else {
				fmt.Fprintf(&u, `\u%04x`, r)
			}
			fmt.Fprintf(&numbers, "&#%d;", r)
		}
		for _, b := range []byte(secret) {
			fmt.Fprintf(&lower, "%%%02x", b)
		}
		spellings := []string{secret, string(quoted)[1 : len(quoted)-1], strings.ReplaceAll(plain, "/", `\/`), u.String(),
			strings.ReplaceAll(u.String(), `\`, `\\`),
			url.QueryEscape(secret), url.PathEscape(secret), url.QueryEscape(url.QueryEscape(secret)), lower.String(),
			html.EscapeString(secret), html.EscapeString(html.EscapeString(secret)), numbers.String()}
		if strings.HasSuffix(secret, `"`) {
			spellings[2] = secret
		}
		for _, s := range spellings {
			got := RemoveSecrets("before "+s+" and "+s+" after", secret)
			if got != "before [removed] and [removed] after" {
				t.Errorf("%q as %q: %q", secret, s, got)
			}
			long := io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("x", 64<<10-3)), bytes.NewReader([]byte(s))))
			if !(Secrets{secret}).Within(long) {
				t.Errorf("%q as %q is not found across two parts of a stream", secret, s)
			}
		}
	}
	for _, other := range []string{"", "hunter", "hunter%", `hunter\u00`, "hunter&#", "hunter&#50", `hunter\`, "HUNTER2"} {
		if got := RemoveSecrets(other, "hunter2", ""); got != other {
			t.Errorf("%q became %q", other, got)
		}
	}
}
