package frontier

import (
	"fmt"
	"testing"

	"odarchive/testdata/cputime"
)

// BenchmarkQueue says what is due, as pages and metrics do, with 50,000 URLs that are all due, on few hosts and on
// many.
func BenchmarkQueue(b *testing.B) {
	const urls = 50_000
	for _, hosts := range []int{50, 5000, 20_000} {
		f := open(b, memory(b), &clock{noon}, Options{})
		var list []string
		for i := range urls {
			if list = append(list, fmt.Sprintf("http://h%d.example/%d.csv", i%hosts, i)); len(list) == 5000 {
				add(b, f, list...)
				list = nil
			}
		}
		b.Run(fmt.Sprint(hosts, " hosts"), func(b *testing.B) {
			used := cputime.Of(func() {
				for b.Loop() {
					if q, err := f.Queue(10); err != nil || q.Due < urls-hosts {
						b.Fatalf("%d due, %v", q.Due, err)
					}
				}
			})
			b.ReportMetric(float64(used.Microseconds())/float64(b.N)/1000, "cpu-ms/op")
		})
	}
}
