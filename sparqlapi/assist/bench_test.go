package assist

import (
	"strings"
	"testing"
)

func BenchmarkCall(b *testing.B) {
	_, h := server(b, "a,b\n1,2\n", nil)
	for b.Loop() {
		if text, _ := callTool(b.Context(), h, "x", "sparql", `{"query":"ASK {}"}`); strings.Contains(text, "error") {
			b.Fatal(text)
		}
	}
}
