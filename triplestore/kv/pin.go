package kv

// Pin returns the database as it is now: a DB whose readers see one state, that of the call, until it is closed. Writes
// to it fail with ErrReadOnly. It shares everything else with db, which must be closed after it; what is read of files,
// such as sizes and damages, is that of db. While it is open, the space of entries deleted since is not reclaimed.
//
// A replica serves pinned states: whatever is kept in memory above one of them agrees with it.
func (db *DB) Pin() (*DB, error) {
	s := db.Snapshot()
	if s.cache == nil {
		return nil, ErrClosed
	}
	opts := db.opts
	opts.ReadOnly, opts.Acknowledge = true, nil
	p := &DB{dir: db.dir, opts: opts, log: db.log, states: db.states, fixity: db.fixity, of: db, pinned: s, stop: func() {}}
	p.visible.Store(s.number)
	p.cache.Store(s.cache)
	return p, nil
}

// Number returns the number of the newest write set that readers see.
func (db *DB) Number() uint64 { return db.visible.Load() }

// again returns another snapshot of the same state. ok is false if s is closed.
func (s *Snapshot) again(db *DB) (_ *Snapshot, ok bool) {
	if db.closed.Load() || s.acquire() != nil {
		return nil, false
	}
	n := &Snapshot{db: db, cache: s.cache, number: s.number, keeper: s, txn: s.cache.badger.NewTransactionAt(s.number, false)}
	n.refs.Store(1)
	return n, true
}
