package files

import (
	"fmt"
	"net/http"
	"strings"

	"odarchive/crawler/catalog"
)

// links returns the values of Link for memento i of a resource (RFC 7089 §2.2.4). If first, prev, next or last are the
// same memento, they share one value.
func (m *Memento) links(address string, list []catalog.Version, i int) []string {
	values := []string{
		link(address, "original", ""),
		link(m.Mint.TimeGate(address), "timegate", ""),
		link(m.Mint.TimeMap(address), "timemap", linkFormat),
		link(m.Mint.TimeMapJSON(address), "timemap", jsonFormat),
	}
	last := len(list) - 1
	shown := map[int]bool{}
	for _, k := range []int{0, i - 1, i, i + 1, last} {
		if k < 0 || k > last || shown[k] {
			continue
		}
		shown[k] = true
		var rel []string
		if k == 0 {
			rel = append(rel, "first")
		}
		if k == last {
			rel = append(rel, "last")
		}
		if k == i-1 {
			rel = append(rel, "prev")
		}
		if k == i+1 {
			rel = append(rel, "next")
		}
		values = append(values, m.mementoLink(list[k], strings.Join(append(rel, "memento"), " ")))
	}
	return values
}

func (m *Memento) mementoLink(v catalog.Version, rel string) string {
	return fmt.Sprintf(`<%s>; rel="%s"; datetime="%s"`, reference(m.Mint.Version(v.ID)), rel, v.At.UTC().Format(http.TimeFormat))
}

func link(iri, rel, mediaType string) string {
	s := "<" + reference(iri) + `>; rel="` + rel + `"`
	if mediaType != "" {
		s += `; type="` + mediaType + `"`
	}
	return s
}

// reference percent-encodes what would end a reference or a header (RFC 8288 §3), since addresses come from strangers.
// Every byte outside of ASCII is encoded, which turns an IRI into a URI (RFC 3987 §3.1).
func reference(iri string) string {
	if strings.IndexFunc(iri, unsafe) < 0 {
		return iri
	}
	var b strings.Builder
	for i := range len(iri) {
		if c := iri[i]; unsafe(rune(c)) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unsafe(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("<>\"\\^`{|}", r) }
