package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/triplestore/disk"
)

// AuditEntry is a request that was allowed to change something.
type AuditEntry struct {
	AuditLine
	Ended bool `json:"ended"` // false: it is in progress, or the server ended during it
}

// AuditReport is the result of Verify.
type AuditReport struct {
	Lines  int      `json:"lines"`
	Head   string   `json:"head"`   // digest of the last line
	Faults []string `json:"faults"` // what is wrong, the first hundred
}

const maxFaults = 100

// eachEntry calls f with the lines of all files in a folder, oldest first. name says where a line is.
func eachEntry(fsys disk.FS, dir string, f func(name, text string) error) error {
	all, err := numbers(fsys, dir)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	for _, number := range all {
		file := fmt.Sprintf("%08d%s", number, suffix)
		text, err := disk.ReadFile(fsys, filepath.Join(dir, file), 1<<30)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the oldest file goes while a server runs
		}
		if err != nil {
			return fmt.Errorf("audit log: %w", err)
		}
		i := 0
		for line := range strings.Lines(string(text)) {
			i++
			if !strings.HasSuffix(line, "\n") {
				break // it is being written, or a crash cut it off
			}
			if err := f(fmt.Sprintf("%s:%d", file, i), line[:len(line)-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// LastAct returns the latest requests in a folder, newest first, at most limit; if before > 0, those whose line has a
// smaller number.
func LastAct(fsys disk.FS, dir string, limit int, before uint64) ([]AuditEntry, error) {
	var list []AuditEntry
	at := map[uint64]int{} // of entries without an end
	err := eachEntry(fsys, dir, func(_, text string) error {
		var line AuditLine
		if json.Unmarshal([]byte(text), &line) != nil {
			return nil // Verify names it
		}
		if i, begun := at[line.Of]; line.Of > 0 {
			if begun && i < len(list) && list[i].N == line.Of {
				list[i].Status, list[i].Body, list[i].Ended = line.Status, line.Body, true
			}
			delete(at, line.Of)
			return nil
		}
		if before > 0 && line.N >= before {
			return nil
		}
		if len(list) >= 2*limit+1000 { // drop what can no longer be among the last
			dropped := len(list) - limit
			list = slices.Delete(list, 0, dropped)
			for n, i := range at {
				if at[n] = i - dropped; i < dropped {
					delete(at, n)
				}
			}
		}
		at[line.N] = len(list)
		list = append(list, AuditEntry{AuditLine: line, Ended: line.Note != ""})
		return nil
	})
	slices.Reverse(list)
	return list[:min(len(list), limit)], err
}

// VerifyAudit checks the chain of digests of all files in a folder.
func VerifyAudit(fsys disk.FS, dir string) (AuditReport, error) {
	r := AuditReport{Faults: []string{}}
	var n uint64
	fault := func(format string, args ...any) {
		if len(r.Faults) < maxFaults {
			r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
		}
	}
	err := eachEntry(fsys, dir, func(name, text string) error {
		var line AuditLine
		switch err := json.Unmarshal([]byte(text), &line); {
		case err != nil:
			fault("%s is not a line of an audit log", name)
			line.N = n + 1
		case r.Lines > 0 && line.Prev != r.Head:
			fault("%s does not follow the line before it: that was changed, or lines are missing", name)
		case r.Lines > 0 && line.N != n+1:
			fault("%s has the number %d, not %d", name, line.N, n+1)
		}
		r.Lines++
		n, r.Head = line.N, digest(text)
		return nil
	})
	return r, err
}
