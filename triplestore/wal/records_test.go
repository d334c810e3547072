package wal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// ship copies the durable records of a log behind the end of another one.
func ship(t *testing.T, from, to *Log) (n int) {
	t.Helper()
	at, _ := to.Durable()
	c, err := from.From(at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for {
		r, ok, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if err := to.Chain(r); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if err := to.Sync(); err != nil {
		t.Fatal(err)
	}
	return n
}

func openLog(t *testing.T, dir string, o Options) *Log {
	t.Helper()
	l, found, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if found.Empty && !o.Chained {
		if err := l.Reset(1, false); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func add(t *testing.T, l *Log, body []byte) {
	t.Helper()
	if _, err := l.Append(body); err != nil {
		t.Fatal(err)
	}
}

func segmentsOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	out := map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = b
	}
	return out
}

func TestAChainedLogIsACopyByteForByte(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	a := openLog(t, from, Options{Segment: 500})
	start := Position{Log: a.ID()}
	b := openLog(t, to, Options{Segment: 500, Chained: true})
	if err := b.Follow(start); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		for range random.IntN(5) {
			add(t, a, bytes.Repeat([]byte{byte(round)}, random.IntN(200)))
		}
		if random.IntN(4) == 0 {
			if err := errors.Join(a.Sync(), a.Roll()); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Sync(); err != nil {
			t.Fatal(err)
		}
		ship(t, a, b)
		if random.IntN(3) == 0 { // reopened
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			b = openLog(t, to, Options{Segment: 500, Chained: true})
		}
		atA, _ := a.Durable()
		if atB, _ := b.Durable(); atA != atB {
			t.Fatalf("round %d: the copy is at %v, the log at %v", round, atB, atA)
		}
	}
	want, got := segmentsOf(t, from), segmentsOf(t, to)
	if newest := segmentName(a.Next()); len(want) > len(got) { // an empty last segment is not shipped
		delete(want, newest)
	}
	if len(want) < 5 || len(want) != len(got) {
		t.Fatalf("%d segments, the copy has %d", len(want), len(got))
	}
	for name, b := range want {
		if !bytes.Equal(b, got[name]) {
			t.Errorf("segment %s differs", name)
		}
	}
}

func TestALogFollowsFromTheMiddleOfASegmentAndAcrossABorder(t *testing.T) {
	for _, from := range []uint64{0, 1, 5, 9, 10, 11, 20} {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			a := openLog(t, t.TempDir(), Options{})
			for i := range 20 {
				add(t, a, []byte{byte(i)})
				if i == 9 {
					if err := a.Roll(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := a.Sync(); err != nil {
				t.Fatal(err)
			}
			sum, err := a.SumOf(from)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			b := openLog(t, dir, Options{Chained: true})
			if err := b.Follow(Position{a.ID(), from, sum}); err != nil {
				t.Fatal(err)
			}
			if n := ship(t, a, b); n != 20-int(from) {
				t.Errorf("%d records shipped", n)
			}
			if err := b.Roll(); err != nil { // as Purge does
				t.Fatal(err)
			}
			add(t, a, []byte("more"))
			if err := a.Sync(); err != nil {
				t.Fatal(err)
			}
			ship(t, a, b)
			b.Close()
			b = openLog(t, dir, Options{Chained: true})
			atA, _ := a.Durable()
			if atB, _ := b.Durable(); atA != atB {
				t.Errorf("the copy is at %v, the log at %v", atB, atA)
			}
			if bad, err := b.Verify(context.Background(), nil, nil); err != nil || len(bad) > 0 {
				t.Error(bad, err)
			}
			for number := max(from, 1); number <= 21; number++ {
				wantSum, err := a.SumOf(number)
				if gotSum, err2 := b.SumOf(number); err != nil || err2 != nil || gotSum != wantSum {
					t.Errorf("checksum of %d: %x, %v; want %x, %v", number, gotSum, err2, wantSum, err)
				}
			}
		})
	}
}

func TestRecordsAreReadWhenTheyAreDurable(t *testing.T) {
	l := openLog(t, t.TempDir(), Options{})
	at, more := l.Durable()
	c, err := l.From(at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	add(t, l, []byte("a"))
	if _, ok, err := c.Next(); ok || err != nil {
		t.Fatalf("read before it is durable: %v", err)
	}
	select {
	case <-more:
		t.Fatal("woken before a record is durable")
	default:
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	<-more
	r, ok, err := c.Next()
	if !ok || err != nil || r.Number != 1 || string(r.Body) != "a" {
		t.Fatalf("got %v, %v, %v", r, ok, err)
	}
	_, more = l.Durable()
	l.Close()
	<-more
	_, more = l.Durable()
	<-more
}

func TestACursorReadsOnWhileSegmentsAreTrimmed(t *testing.T) {
	l := openLog(t, t.TempDir(), Options{Segment: 100})
	start, _ := l.Durable()
	for range 20 {
		add(t, l, bytes.Repeat([]byte{1}, 50))
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	c, err := l.From(start)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, ok, err := c.Next(); !ok || err != nil {
		t.Fatal(err)
	}
	if err := l.Trim(10); err != nil {
		t.Fatal(err)
	}
	for {
		_, ok, err := c.Next()
		if errors.Is(err, ErrGap) {
			break
		}
		if err != nil || !ok {
			t.Fatalf("read on to the end, %v", err)
		}
	}
	if _, err := l.From(start); !errors.Is(err, ErrGap) {
		t.Errorf("a position before the log: %v", err)
	}
}

func TestAPositionOfAnotherHistoryIsRefused(t *testing.T) {
	l := openLog(t, t.TempDir(), Options{})
	for i := range 3 {
		add(t, l, []byte{byte(i)})
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	sum, err := l.SumOf(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []Position{
		{Log: l.ID(), Number: 2, Sum: sum + 1},
		{Log: l.ID(), Number: 4, Sum: sum},
		{Log: [16]byte{1}, Number: 2, Sum: sum},
	} {
		if _, err := l.From(at); !errors.Is(err, ErrOther) {
			t.Errorf("%v: %v", at, err)
		}
	}
	c, err := l.From(Position{l.ID(), 2, sum})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := l.Reset(4, false); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Next(); !errors.Is(err, ErrOther) {
		t.Errorf("after a reset: %v", err)
	}
	for _, r := range []Record{{Number: 4, Sum: 1, Body: []byte("x")}, {Number: 5, Body: []byte("x")}} {
		if err := l.Chain(r); !errors.Is(err, ErrOther) {
			t.Errorf("record %d: %v", r.Number, err)
		}
	}
}
