package wal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/wal"
)

// Random records are appended, synced and trimmed while disk operations fail and the power fails, repeatedly on one
// disk. In all cases an opened log has every record that a Sync made durable and only appended records, in order, and
// is not reported as damaged.
func TestWhateverFailsTheLogHoldsWhatWasSynced(t *testing.T) {
	seeds := disktest.Seeds(t, 300)
	for i, seed := range seeds {
		m := newLogModel(seed)
		for life := 0; life < 6 && m.failure == ""; life++ {
			m.live()
		}
		if m.failure != "" {
			t.Fatalf("ODARCHIVE_SEED=%d (%d of %d): %s\n%s", seed, i+1, len(seeds), m.failure, m.story.String())
		}
	}
	t.Logf("%d seeds from %d on", len(seeds), seeds[0])
}

// logModel is a log on a bad disk and the records appended to it.
type logModel struct {
	rand     *rand.Rand
	disk     *disktest.Crash
	faults   *disktest.Errors
	appended map[uint64][]byte // by number: records that may be in the log
	synced   uint64            // number of the last record that must be in the log
	trimmed  uint64            // records up to this number may be missing
	failure  string
	story    bytes.Buffer
}

func newLogModel(seed uint64) *logModel {
	m := &logModel{rand: rand.New(rand.NewPCG(seed, 3)), disk: disktest.NewCrash(seed), appended: map[uint64][]byte{}}
	m.disk.Ext4 = seed%2 == 0
	m.faults = disktest.NewErrors(m.disk)
	if err := errors.Join(m.disk.MkdirAll("log", 0o755), m.disk.SyncDir("/")); err != nil {
		panic(err)
	}
	return m
}

func (m *logModel) say(format string, args ...any)  { fmt.Fprintf(&m.story, format+"\n", args...) }
func (m *logModel) fail(format string, args ...any) { m.failure = fmt.Sprintf(format, args...) }

// live opens the log, uses it until something fails or it is enough, and ends with a kill, a power cut or Close.
func (m *logModel) live() {
	l, found, err := wal.Open("log", wal.Options{FS: m.faults, Segment: 600})
	if err == nil && found.Empty {
		if m.synced > m.trimmed {
			m.fail("the log is empty, record %d was synced", m.synced)
			return
		}
		err = l.Reset(1, false)
	}
	if err != nil || found.Damage != nil {
		m.fail("opening it: %v, damage %v", err, found.Damage)
		return
	}
	m.say("open: records %d to %d, tip %d", l.First(), l.Next()-1, found.Tip)
	if m.compare(l); m.failure != "" {
		return
	}
	m.arrange()
	m.use(l)
	m.faults.Reset()
	switch m.rand.IntN(3) {
	case 0:
		m.say("power cut")
		m.disk = m.disk.Crash()
		m.faults = disktest.NewErrors(m.disk)
	case 1:
		m.say("kill")
	default:
		m.say("close: %v", l.Close())
	}
}

// arrange decides which operation fails.
func (m *logModel) arrange() {
	m.faults.Reset()
	m.faults.Short = m.rand.IntN(2) == 0
	kinds := []disktest.Kind{disktest.Write, disktest.Sync, disktest.SyncDir, disktest.Open, disktest.Remove, disktest.Truncate,
		disktest.Changes}
	kind := kinds[m.rand.IntN(len(kinds))]
	m.faults.Only(kind, "")
	n, cause := 1+m.rand.IntN(30), []error{syscall.EIO, syscall.ENOSPC}[m.rand.IntN(2)]
	switch m.rand.IntN(3) {
	case 0:
	case 1:
		m.faults.FailAt(n, cause)
		m.say("%v %d fails: %v", kind, n, cause)
	default:
		m.faults.FailFrom(n, cause)
		m.say("from %v %d all fail: %v", kind, n, cause)
	}
}

func (m *logModel) use(l *wal.Log) {
	for range m.rand.IntN(60) {
		switch m.rand.IntN(10) {
		case 0, 1, 2, 3, 4, 5:
			record := bytes.Repeat([]byte{byte('a' + m.rand.IntN(26))}, m.rand.IntN(1+m.rand.IntN(2000)))
			next := l.Next()
			m.appended[next] = record // even if the append fails
			if number, err := l.Append(record); err == nil && number != next {
				m.fail("record %d became %d", next, number)
			} else if err != nil {
				m.say("append %d: %v", next, err)
				if errors.Is(err, wal.ErrFailed) {
					return
				}
			}
		case 6, 7, 8:
			last := l.Next() - 1
			if err := l.Sync(); err != nil {
				m.say("sync %d: %v", last, err)
				return
			}
			m.say("synced %d", last)
			m.synced = max(m.synced, last)
		default:
			if m.synced > m.trimmed {
				m.trimmed += m.rand.Uint64N(m.synced - m.trimmed)
				m.say("trim %d: %v", m.trimmed, l.Trim(m.trimmed))
			}
		}
	}
}

// compare reads the whole log. The records found are what the next life begins with.
func (m *logModel) compare(l *wal.Log) {
	first, last := l.First(), l.Next()-1
	if first > m.trimmed+1 || last < m.synced {
		m.fail("it holds records %d to %d; %d to %d were synced and not trimmed", first, last, m.trimmed+1, m.synced)
		return
	}
	want := first
	err := l.Read(context.Background(), first, func(number uint64, record []byte) error {
		if number != want || !bytes.Equal(record, m.appended[number]) {
			return fmt.Errorf("record %d comes as %.20q, want %d, %.20q", number, record, want, m.appended[number])
		}
		want++
		return nil
	})
	if err != nil || want != last+1 {
		m.fail("reading: %v; up to %d of %d", err, want-1, last)
		return
	}
	for number := range m.appended {
		if number > last {
			delete(m.appended, number)
		}
	}
	if damages, err := l.Verify(context.Background(), nil, nil); err != nil || len(damages) > 0 {
		m.fail("verify: %v, %v", damages, err)
	}
}
