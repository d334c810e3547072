// Package ledger keeps what each portal says of each of its datasets, and maintains the portal's named graph.
//
// A harvest brings entries: what a portal says of one dataset, or of another subject. Stage keeps them where no query
// sees them. When the portal has been read to its end, Commit compares the staged entries with the current ones and
// writes the difference into the triple store as one commit: a query sees the portal as it was or as it is. New entries
// are inserted and changed ones are replaced statement by statement. An entry that the source calls deleted, or that a
// whole harvest did not meet, is withdrawn: its statements move to the graph of withdrawn datasets, and the default
// graph says since when. If it returns, it is listed again and keeps its history.
//
// Several entries may make the same statement about a third thing, such as a publisher or a shared file. The statement
// is deleted when the last of them drops it; an index from subjects to entries finds the others.
//
// A source may fail to return an entry without saying which one. It could be any dataset that the harvest does not
// bring, so none of those is withdrawn (faults), with two exceptions. A dataset that an earlier harvest brought in
// spite of the same fault is not the missing one. A dataset that five whole harvests in a row did not bring is no
// longer waited for: a portal that always miscounts its datasets would otherwise keep all of them forever.
//
// If a commit would withdraw more than a third of the datasets that the portal lists, and more than one, it keeps what
// the harvest found and leaves the rest as it is: their withdrawal waits until Answer is called, or until a later
// harvest finds them again, or finds enough of them that the loss is no longer sudden (Question).
//
// After the commit, small transactions make the staged entries current. Every part may be repeated, so that an
// interrupted commit is completed by Recover or by the next harvest of the source. Memory holds the keys of changed
// entries but not their statements. FORMAT.md describes the records.
//
// A Ledger does not register URLs to crawl and sends no requests. Harvests of one portal must not run at the same time.
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

// Ledger is the ledger of one data directory.
type Ledger struct {
	triples *triplestore.Store
	db      *kv.DB
	mint    ns.Mint
	delist  Delister
	pack    *zstd.Encoder
	unpack  *zstd.Decoder

	manyQuads int // a first harvest with more statements is loaded in bulk
	maxQuads  int // approximate number of statements that one transaction of the triple store may change

	committing sync.Mutex // held by Commit and by Recover, so that Recover does not take a running commit for an interrupted one
}

// Delister marks resources as no longer listed. It may be called again with the same list. archive.Archive implements
// it.
type Delister interface {
	Delist(ctx context.Context, list []archive.Delisting) error
}

// Has reports whether the ledger keeps what a portal says, in the graph of the portal's name.
func (l *Ledger) Has(txn *kv.Txn, portalIRI string) (bool, error) {
	_, ok, err := txn.Get(kv.SpaceHarvest, key(tablePortal, idOf(portalIRI)))
	return ok, err
}

// New returns the ledger of a data directory.
func New(mint ns.Mint, db *kv.DB, triples *triplestore.Store, delist Delister) (*Ledger, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(256<<10))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return &Ledger{triples: triples, db: db, mint: mint, delist: delist, pack: pack, unpack: unpack, manyQuads: 200_000,
		maxQuads: 2_000_000}, nil
}

// phase is the state of a portal's harvest. The values are part of the format.
type phase string

const (
	staging  phase = ""         // staged entries are invisible
	applying phase = "applying" // the triple store may have the change
	settling phase = "settling" // the triple store has the change; staged entries are being made current
)

// portal is the record of a portal.
type portal struct {
	IRI      string
	Source   string // of the last harvest
	Campaign int64  // number of the last harvest; entries have that of the last harvest that met them
	Quads    int    // staged
	Phase    phase  `json:",omitempty"`
	Whole    bool   `json:",omitempty"`
	Owned    bool   `json:",omitempty"` // one source has kept all of the portal
	Beyond   int    `json:",omitempty"` // datasets that the portal counts beside those that it returned
	Unnamed  int    `json:",omitempty"` // datasets that it returned and does not name in its list
	faults
	Harvest string // ID of the activity that commits, or committed last
	At      time.Time
	question
	Before  string          `json:",omitempty"` // ID of the activity that the triple store has as the last
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
