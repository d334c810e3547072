package disktest

import (
	"strings"
	"testing"
)

func TestALedgerTellsAStoreThatIsRightFromOneThatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		opened bool
		counts [4]int // of the writes: acknowledged and replaced; acknowledged; refused; unknown and replacing the second
		want   string // part of the expected report; "" if nothing is wrong
	}{
		"not opened, the unknown one is absent":   {false, [4]int{0, 2, 0, 0}, ""},
		"not opened, the unknown one is there":    {false, [4]int{0, 0, 0, 2}, "not acknowledged and can be seen"},
		"opened, the unknown one is absent":       {true, [4]int{0, 2, 0, 0}, ""},
		"opened, the unknown one is there":        {true, [4]int{0, 0, 0, 2}, ""},
		"opened, it is there and deletes not":     {true, [4]int{0, 2, 0, 2}, "its replacement is stored"},
		"opened, it is absent and deletes":        {true, [4]int{0, 0, 0, 0}, "it was acknowledged"},
		"opened, it is there in part":             {true, [4]int{0, 2, 0, 1}, "stored partly"},
		"the refused one is there":                {true, [4]int{0, 2, 2, 0}, "it failed"},
		"an acknowledged one is there in part":    {true, [4]int{0, 1, 0, 0}, "stored partly"},
		"what was replaced is there all the same": {true, [4]int{2, 2, 0, 0}, "its replacement is stored"},
	} {
		l := &Ledger{}
		var writes []*Put
		for range 4 {
			writes = append(writes, l.Begin(7, 2, false))
		}
		l.Acknowledge(writes[0])
		if l.Replace(writes[1]) != writes[0] {
			t.Fatal("the second does not replace the first")
		}
		l.Acknowledge(writes[1])
		l.Refuse(writes[2])
		if l.Replace(writes[3]) != writes[1] || l.Last(7) != 2 || l.Acknowledged != 2 || l.Unknown != 1 {
			t.Fatalf("replaces %v, last %d, %d acknowledged, %d unknown", writes[3].Replaces, l.Last(7), l.Acknowledged, l.Unknown)
		}
		count := func(w *Put) int { return c.counts[w.Number-1] }
		got := strings.Join(l.Compare(c.opened, count), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if c.opened && c.want == "" { // unknown fates are settled
			want := 2 + c.counts[3]
			if l.Last(7) != want {
				t.Errorf("%s: the last one that is there is %d, want %d", name, l.Last(7), want)
			}
			c.counts[3] = 2 - c.counts[3]
			if len(l.Compare(false, count)) == 0 {
				t.Errorf("%s: the decision is not held to", name)
			}
		}
	}
}

func TestAWriteInPartsMayBeThereInPartUntilItIsAcknowledged(t *testing.T) {
	l := &Ledger{}
	w := l.Begin(1, 3, true)
	count := func(*Put) int { return 2 }
	if wrong := l.Compare(false, count); len(wrong) > 0 {
		t.Error(wrong)
	}
	l.Acknowledge(w)
	if wrong := l.Compare(true, count); len(wrong) != 1 {
		t.Errorf("acknowledged: %q", wrong)
	}
}
