package kv

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"
)

// Reading every table at every opening takes seconds in a large archive. So the directory has a list of the tables that
// were compared with their checksums, and an opening skips those that nobody can have written to since: they have the
// same size, inode and times, above all the time of the last change of the inode, which no program can set. What a
// crash does to a disk changes no times, and neither does a disk that forgets. So an entry counts only until the
// machine is started or the file system mounted again, and for a day at most. Losing the list costs nothing but time.

// verifiedName is the name of the list, beside MANIFEST.
const verifiedName = "VERIFIED"

const (
	// verifiedFor is how long an opening relies on an earlier verification.
	verifiedFor = 24 * time.Hour
	// verifiedMargin is how long before its verification a table must have been changed last. File systems count time
	// in steps of up to two seconds; a table written twice within one would look unchanged.
	verifiedMargin = 3 * time.Second
	// maxVerified limits the length of the list, in bytes.
	maxVerified = 64 << 20
)

// tableStamp is what tells that a file was not written to.
type tableStamp struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"mtime"` // Unix time in nanoseconds, like the next
	Changed  int64  `json:"ctime"` // last change of the inode
	Inode    uint64 `json:"inode"`
	Device   uint64 `json:"device"`
	Mount    uint64 `json:"mount"` // no other mount since the machine was started has it
}

// verifiedTable is a table with the time when its verification began.
type verifiedTable struct {
	tableStamp
	At int64 `json:"at"` // Unix time in nanoseconds
}

// verifiedList is the content of the list.
type verifiedList struct {
	Boot   string                   `json:"boot"` // identifies the time since the machine was started
	Tables map[uint64]verifiedTable `json:"tables"`
}

// readVerified returns the list in a directory. It is empty if there is none of this start of the machine.
func readVerified(dir string) verifiedList {
	var l verifiedList
	boot := bootID()
	f, err := os.Open(filepath.Join(dir, verifiedName))
	if err != nil || boot == "" {
		return verifiedList{Boot: boot}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > maxVerified {
		return verifiedList{Boot: boot}
	}
	b := make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		return verifiedList{Boot: boot}
	}
	sum, body, ok := bytes.Cut(b, []byte{'\n'})
	if !ok || string(sum) != verifiedSum(body) || json.Unmarshal(body, &l) != nil || l.Boot != boot {
		return verifiedList{Boot: boot}
	}
	return l
}

func verifiedSum(body []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)) }

// write replaces the list in a directory. It needs no sync: after a crash of the machine the list does not count. An
// error is ignored, since the list only saves time.
func (l verifiedList) write(dir string) {
	if l.Boot == "" {
		return
	}
	body, err := json.Marshal(l)
	if err != nil {
		return
	}
	name := filepath.Join(dir, verifiedName)
	err = os.WriteFile(name+stateTemp, append([]byte(verifiedSum(body)+"\n"), body...), 0o600)
	if err == nil {
		err = os.Rename(name+stateTemp, name)
	}
	if err != nil {
		_ = os.Remove(name + stateTemp)
	}
}

// forgetVerified removes the list in a directory, so that the next opening reads every table.
func forgetVerified(dir string) { _ = os.Remove(filepath.Join(dir, verifiedName)) }

// holds reports whether a table is on the list and has not changed since.
func (l verifiedList) holds(dir string, id uint64, now time.Time) bool {
	v, ok := l.Tables[id]
	if !ok || now.Sub(time.Unix(0, v.At)).Abs() >= verifiedFor {
		return false
	}
	stamp, ok := stampTable(dir, id)
	return ok && stamp == v.tableStamp
}

// with returns the list of the given tables: those of stamped, which were found sound in a verification that began at a
// time, and those that l has.
func (l verifiedList) with(tables []uint64, stamped map[uint64]tableStamp, began time.Time) verifiedList {
	out := verifiedList{Boot: l.Boot, Tables: map[uint64]verifiedTable{}}
	for _, id := range tables {
		stamp, ok := stamped[id]
		switch last := began.Add(-verifiedMargin).UnixNano(); {
		case ok && stamp.Changed < last && stamp.Modified < last:
			out.Tables[id] = verifiedTable{stamp, began.UnixNano()}
		case !ok && l.Tables[id].At != 0:
			out.Tables[id] = l.Tables[id]
		}
	}
	return out
}

func stampTable(dir string, id uint64) (tableStamp, bool) {
	return stampFile(filepath.Join(dir, tableName(id)))
}

// stampTables returns the stamps of tables as they are now.
func stampTables(dir string, tables []uint64) map[uint64]tableStamp {
	out := make(map[uint64]tableStamp, len(tables))
	for _, id := range tables {
		if stamp, ok := stampTable(dir, id); ok {
			out[id] = stamp
		}
	}
	return out
}

// verifyUnlisted verifies the tables that the list in the directory listed does not vouch for, and returns the damaged
// ones. If all are sound and mayWrite is set, all are on the list afterwards. progress is called concurrently.
func verifyUnlisted(ctx context.Context, dir, listed string, tables []uint64, mayWrite bool, progress func(n, total int64)) ([]badTable,
	error) {
	began := time.Now()
	list := readVerified(listed)
	var todo []uint64
	var total int64
	for _, id := range tables {
		if !list.holds(dir, id, began) {
			todo = append(todo, id)
		}
	}
	stamped := stampTables(dir, todo)
	for _, stamp := range stamped {
		total += stamp.Size
	}
	bad, err := verifyTables(ctx, dir, todo, nil, func(n int64) { progress(n, total) })
	switch {
	case err == nil && len(bad) == 0 && len(todo) > 0 && mayWrite:
		list.with(tables, stamped, began).write(listed)
	case err == nil && len(bad) > 0 && mayWrite:
		forgetVerified(listed)
	}
	return bad, err
}
