// Package ledger keeps what each portal says of each of its datasets, and makes the portal's named graph of it.
//
// A harvest brings entries: what a portal says of one dataset, or of one other subject. They are staged, step by step,
// where no query sees them (Stage). When the portal has come to its end, Commit compares what was staged with what the
// ledger holds and writes the difference into the triple store as one commit: a query sees the portal as it was or as it
// is, never half of each. An entry that is new comes, one that differs is replaced statement by statement, one that is
// gone (the source says so, or a whole harvest did not meet it) is withdrawn: its statements move to the graph of what the
// portal no longer lists, and the default graph says since when. One that comes back is listed again and keeps its history.
//
// Two entries may say the same of a third thing (a publisher, a file that two datasets share). A statement goes when the
// last entry that says it does; an index from subjects to entries finds the others.
//
// A source may fail to give something that nobody can name: it may be any dataset that the harvest does not bring, and none
// of these is withdrawn (faults) but for two kinds. What an earlier harvest brought beside the very same fault is not what is
// at fault. And what five whole harvests in a row did not bring is not waited for any longer: a portal that miscounts its
// datasets for ever would keep all of them for ever.
//
// After the commit the entries are settled: batches of small transactions make the staged ones current. Every part can be
// repeated, so a process that is killed anywhere goes on when the source is harvested again (Recover). Memory holds the
// keys of what changed, never what is said, whatever the size of the portal. The layout is described in FORMAT.md.
//
// A Ledger does not register URLs to crawl and fetches nothing. Harvests of one portal must not run at the same time.
package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/harvest"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"

	"github.com/klauspost/compress/zstd"
)

// Ledger of one data directory.
type Ledger struct {
	triples *triplestore.Store
	db      *kv.DB
	mint    ns.Mint
	delist  Delister
	pack    *zstd.Encoder
	unpack  *zstd.Decoder

	manyQuads int // a first harvest with more is loaded in bulk
	maxQuads  int // that one transaction of the triple store may change, about

	committing sync.Mutex // held by a commit, and by Recover, which must not take one under way for one that was cut off
}

// Delister marks resources as listed no longer; marking them twice changes nothing. archive.Archive is one.
type Delister interface {
	Delist(ctx context.Context, list []archive.Delisting) error
}

// New makes a ledger over the parts of one data directory.
func New(mint ns.Mint, db *kv.DB, triples *triplestore.Store, delist Delister) (*Ledger, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(256<<10))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return &Ledger{triples: triples, db: db, mint: mint, delist: delist, pack: pack, unpack: unpack, manyQuads: 200_000, maxQuads: 2_000_000}, nil
}

// phase of a portal's harvest.
type phase string

const (
	staging  phase = ""         // nothing that was staged is visible
	applying phase = "applying" // the triple store may hold the change already
	settling phase = "settling" // it does; entries are being made current
)

// portal is the record of a portal.
type portal struct {
	IRI      string
	Source   string // of the last harvest
	Campaign int64  // of the last harvest: entries that it met bear its number
	Quads    int    // staged
	Phase    phase  `json:",omitempty"`
	Whole    bool   `json:",omitempty"`
	Owned    bool   `json:",omitempty"` // all of it was kept by one source
	faults
	Harvest string // id of the activity that commits, or committed last
	At      time.Time
	Before  string          `json:",omitempty"` // id of the activity that the triple store names as the last
	Changes harvest.Changes `json:",omitzero"`
}

func (l *Ledger) graph(portal string) term.Key { return term.IRI(l.mint.Graph(portal)) }

func (l *Ledger) withdrawnGraph(portal string) term.Key {
	return term.IRI(l.mint.Graph(portal) + "#withdrawn")
}

func getRecord[T any](txn *kv.Txn, key []byte) (value T, ok bool, err error) {
	ok, err = txn.Read(kv.SpaceHarvest, key, func(raw []byte) error { return json.Unmarshal(raw, &value) })
	if err != nil {
		err = fmt.Errorf("ledger: record %q: %w", key, err)
	}
	return value, ok, err
}

func setRecord(txn *kv.Txn, key []byte, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("ledger: record %q: %w", key, err)
	}
	return txn.Set(kv.SpaceHarvest, key, raw)
}
