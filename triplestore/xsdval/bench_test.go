package xsdval

import "testing"

// BenchmarkParse reads the literals that queries compare most.
func BenchmarkParse(b *testing.B) {
	for _, l := range []struct{ lexical, datatype string }{
		{"2024-05-10T12:34:56Z", "dateTime"}, {"2024-05-10T12:34:56.789+02:00", "dateTime"}, {"2024-05-10", "date"},
		{"P1DT2H3.5S", "duration"}, {"123456", "integer"},
	} {
		b.Run(l.lexical, func(b *testing.B) {
			for b.Loop() {
				if _, ok := Parse(l.lexical, XSD+l.datatype); !ok {
					b.Fatal("not parsed")
				}
			}
		})
	}
}
