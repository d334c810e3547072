package kv

import "encoding/hex"

// Lineage identifies the history that write set numbers belong to. It changes after a restore and after a loss. An
// incremental backup continues only a backup of the same lineage. It is "" in memory.
func (db *DB) Lineage() string {
	if db.log == nil {
		return ""
	}
	id := db.log.ID()
	return hex.EncodeToString(id[:])
}
