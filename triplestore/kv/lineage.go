package kv

// Lineage names the history that this database goes on with; "" where none is known.
func (db *DB) Lineage() string { return "" }
