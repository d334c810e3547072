package kv

import "encoding/hex"

// Lineage names the history that the numbers of write sets belong to: another one after a restore, and after something was
// lost. An incremental backup follows on one of its own lineage only. It is "" in memory.
func (db *DB) Lineage() string {
	if db.log == nil {
		return ""
	}
	id := db.log.ID()
	return hex.EncodeToString(id[:])
}
