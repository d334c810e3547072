package kv

import (
	"os"
	"path/filepath"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

// Bounds of the size of a table, in bytes, which is the same on every level. To write one, a compaction allocates five
// times its size and more, and it writes up to ten at a time; Badger keeps eight such buffers for the next.
const (
	minTable  = 2 << 20
	maxTable  = 64 << 20
	maxTables = 4096 // as many are mapped into memory before they become larger: the system allows 65,530 mappings
)

// tableSize returns the size of the tables of a database that takes so many bytes.
func tableSize(all int64) int64 {
	size := int64(minTable)
	for size < maxTable && all/size > maxTables {
		size *= 2
	}
	return size
}

// tableBytes returns the size of the tables in a directory.
func tableBytes(dir string) (n int64) {
	if dir == "" { // in memory
		return 0
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.sst"))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			n += info.Size()
		}
	}
	return n
}

// baseLevel is how large the level is that level 0 is merged into, in bytes; the one below is up to ten times as large.
// With a smaller one, a database of some hundreds of megabytes had a level more, and rewrote each entry more often.
const baseLevel = 256 << 20

// denseLevel is the level of Zstandard for the tables of a database that is opened to be compacted.
const denseLevel = 10

// falsePositives is the share of tables without a key that are searched for it all the same. Each such search reads a
// block anywhere in the database, and to register a URL is to look for several keys that are not there, in every table
// of level 0 and in one of each level below. Five bits an entry fewer would make it ten times as many.
const falsePositives = 0.001

func badgerOptions(dir string, opts Options) badger.Options {
	if opts.InMemory || opts.CacheInMemory {
		dir = ""
	}
	o := badger.DefaultOptions(dir).
		WithInMemory(dir == "").
		WithBypassLockGuard(ownLock).
		WithLogger(badgerLog{opts.Log}).
		WithMetricsEnabled(false).
		WithSyncWrites(false).      // the log makes commits durable
		WithDetectConflicts(false). // writers take turns
		// Blocks of 8 KB instead of 4 would take 5 % less on disk, but a read that misses the cache would take a third
		// longer.
		WithCompression(options.Snappy).
		WithBlockCacheSize(opts.BlockCache).
		WithIndexCacheSize(0).
		WithBloomFalsePositive(falsePositives).
		// Verify each block when it is read from its file, also in compactions. Whole tables are verified before Badger
		// opens.
		WithChecksumVerificationMode(options.OnBlockRead).
		WithVerifyValueChecksum(true).
		WithMemTableSize(opts.MemTable).
		WithNumMemtables(1). // besides the one that is filled and the one that becomes a table
		WithBaseTableSize(tableSize(tableBytes(dir))).
		WithBaseLevelSize(baseLevel).
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(12).
		WithNumCompactors(2).
		WithNumGoroutines(2).
		WithValueThreshold(MaxValue + 1). // only a header ever reaches the value log
		WithValueLogFileSize(4 << 20)
	o.TableSizeMultiplier = 1
	if opts.Bulk {
		o = o.WithNumLevelZeroTables(16).WithNumLevelZeroTablesStall(32).WithBaseLevelSize(4 * baseLevel).WithBaseTableSize(max(2*minTable,
			o.BaseTableSize))
	}
	if opts.Dense {
		o = o.WithCompression(options.ZSTD).WithZSTDCompressionLevel(denseLevel)
	}
	return o
}
