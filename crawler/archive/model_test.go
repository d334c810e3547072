package archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Several writers commit versions while disk operations and the power fail, again and again on one disk. After each
// opening, the record, the bytes and the triples of every acknowledged version must exist, and all or none of every
// other version.
func TestWhateverFailsTheArchiveHoldsTheVersionsItAcknowledged(t *testing.T) {
	t.Parallel()
	disktest.RunModels(t, 12, 5, func(m *disktest.Model) { (&model{m}).live() })
}

// model is an archive on a failing disk, and what it acknowledged.
type model struct{ *disktest.Model }

const (
	modelWriters = 3
	parts        = 3 // of a version: its record, its bytes, its triples
)

// opened is an archive with its stores.
type opened struct {
	*archive.Archive
	triples *triplestore.Store
	db      *kv.DB
}

func (m *model) open() (o opened, err error) {
	o.db, err = kv.Open("data", kv.Options{CacheInMemory: true, FS: m.Disk.FS(), MinFree: -1, SaveAt: 16 << 10})
	if err != nil {
		return o, err
	}
	if o.triples, err = triplestore.Open(o.db, triplestore.Options{MergeAt: 200}); err != nil {
		return o, errors.Join(err, o.db.Close())
	}
	packs, err := content.Open("data/content", o.db, content.Options{FS: m.Disk.FS(), MinFree: -1, MaxPack: 1})
	if err != nil {
		return o, errors.Join(err, o.triples.Close(), o.db.Close())
	}
	o.Archive = archive.New(ns.Mint{Base: "http://archive.example/"}, o.db, o.triples, packs)
	return o, nil
}

func (o opened) close() error { return errors.Join(o.Bytes().Close(), o.triples.Close(), o.db.Close()) }

func (m *model) live() {
	o, err := m.open()
	if err != nil {
		m.Fail("opening: %v", err)
		return
	}
	for w := range modelWriters {
		if _, err := o.Register(context.Background(), day, archive.Listing{Seeds: []catalog.Seed{{URL: address(w)}}}, nil); err != nil {
			m.Fail("registering: %v", err)
		}
	}
	m.compare(o)
	m.Disk.Arrange("", "*.log", "*.state*", "*pack*")
	var wg sync.WaitGroup
	for w := range modelWriters {
		r := rand.New(rand.NewPCG(m.Rand.Uint64(), uint64(w)))
		wg.Go(func() { m.write(o, w, r) })
	}
	wg.Wait()
	m.Disk.Restart(o.close)
}

var (
	day        = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
	errRefused = errors.New("somebody else's part of the transaction")
)

func address(writer int) string { return fmt.Sprintf("http://data.example/%d.csv", writer) }

// body returns a version that differs from the one before in some lines. Every fifth one is large.
func body(writer, number int) []byte {
	r := rand.New(rand.NewPCG(uint64(writer), 9))
	lines := 100
	if number%5 == 0 {
		lines = 4000
	}
	var b bytes.Buffer
	for i := range lines {
		n := r.Uint32()
		if i%37 == number%37 {
			n += uint32(number)
		}
		fmt.Fprintf(&b, "%d,%d,%08x\n", writer, i, n)
	}
	fmt.Fprintf(&b, "version,%d,\n", number)
	return b.Bytes()
}

func (m *model) write(o opened, writer int, r *rand.Rand) {
	for range 8 {
		w := m.Known.Begin(writer, parts, false)
		err := m.put(o, w, r)
		full := errors.Is(err, kv.ErrDiskFull) && !errors.Is(err, kv.ErrWritesStopped)
		switch {
		case err == nil:
			m.Known.Acknowledge(w)
		case errors.Is(err, errRefused), errors.Is(err, errNotPlaced), full:
			m.Known.Refuse(w)
		}
		if err != nil {
			m.Disk.Say("writer %d, %d: %v", writer, w.Number, err)
		}
		if err != nil && !errors.Is(err, errRefused) && !full {
			return
		}
	}
}

var errNotPlaced = errors.New("nothing was placed")

func (m *model) put(o opened, w *disktest.Put, r *rand.Rand) error {
	ctx := context.Background()
	data := body(w.Writer, w.Number)
	var before [32]byte
	if last := m.Known.Last(w.Writer); last > 0 {
		before = sha256.Sum256(body(w.Writer, last))
	}
	placed, err := o.Bytes().Place(ctx, bytes.NewReader(data), content.PutOptions{Previous: before})
	if err != nil {
		return errors.Join(errNotPlaced, err)
	}
	defer placed.Release()
	at := day.Add(time.Duration(w.Number) * time.Minute)
	refuse := r.IntN(8) == 0
	commit := o.CommitWith
	if r.IntN(4) > 0 {
		commit = o.CommitTogether
	}
	act, err := commit(ctx, archive.Visit{
		Activity: catalog.Activity{URL: address(w.Writer), Start: at, End: at, Outcome: catalog.Archived, Status: 200},
		Kept:     &archive.Kept{Placed: placed, Type: "text/csv", FileName: "a.csv"},
	}, func(archive.Txn, catalog.Activity) error {
		if refuse {
			return errRefused
		}
		return nil
	})
	if err == nil && act.Version == "" {
		m.Fail("writer %d, %d: no version: %+v", w.Writer, w.Number, act)
	}
	return err
}

// compare compares the archive with what it acknowledged.
func (m *model) compare(o opened) {
	ctx := context.Background()
	records := map[[32]byte]catalog.Version{}
	err := o.EachVersion(ctx, func(v catalog.Version) error { records[v.Digests.SHA256] = v; return nil })
	quads := map[term.Quad]bool{}
	inTriples := 0
	err = errors.Join(err, o.triples.Dump(ctx, term.Pattern{}, func(q term.Quad) error {
		quads[q] = true
		if q.P == term.IRI(vocab.DCTIsVersionOf) {
			inTriples++
		}
		return nil
	}))
	if err != nil {
		m.Fail("reading: %v", err)
		return
	}
	var wrong []string
	if inTriples != len(records) {
		wrong = append(wrong, fmt.Sprintf("%d versions in triples, %d records", inTriples, len(records)))
	}
	seen := 0
	wrong = append(wrong, m.Known.Compare(true, func(w *disktest.Put) (n int) {
		data := body(w.Writer, w.Number)
		sha := sha256.Sum256(data)
		v, ok := records[sha]
		if ok {
			n++
			seen++
			if described(quads, describe.Version(o.Mint(), v)) {
				n++
			}
		}
		_, stored, err := o.Bytes().Stat(sha)
		if err != nil {
			m.Fail("stat: %v", err)
		}
		if stored {
			got, err := read(o, sha)
			if err != nil || !bytes.Equal(got, data) {
				m.Fail("writer %d, %d: its bytes are others (%d, want %d): %v", w.Writer, w.Number, len(got), len(data), err)
			}
			n++
		}
		return n
	})...)
	if seen != len(records) {
		wrong = append(wrong, fmt.Sprintf("%d records, %d of what was written", len(records), seen))
	}
	// A power failure may tear bytes that no commit counts. Opening closes such a pack, so that they are waste.
	_, err = o.Bytes().Verify(ctx, content.VerifyOptions{Deep: true, Damaged: func(d content.Damage) {
		if len(d.Files) > 0 || d.Healable || d.Unsealed {
			wrong = append(wrong, "packs: "+d.Error())
		}
	}})
	if err != nil {
		wrong = append(wrong, fmt.Sprintf("packs: %v", err))
	}
	if len(wrong) > 0 {
		m.Fail("%s", strings.Join(wrong, "\n"))
	}
}

func described(all map[term.Quad]bool, of []term.Quad) bool {
	for _, q := range of {
		if !all[q] {
			return false
		}
	}
	return len(of) > 0
}

func read(o opened, sha [32]byte) ([]byte, error) {
	r, err := o.Bytes().Open(sha)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
