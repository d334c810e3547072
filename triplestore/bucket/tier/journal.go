package tier

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/disk"
)

// JournalName is the name of the journal in the folder.
const JournalName = "BUCKET"

const (
	journalMagic   = "odarchive-bucket"
	journalVersion = 1
	maxJournal     = 256 << 20
)

// entry is what the journal says of an object.
type entry struct {
	size     int64
	etag     string
	sum      string
	replace  bool
	deleting bool
}

// journalState is a journal that was read.
type journalState struct {
	exists  bool
	torn    bool // a line other than the last does not match its checksum
	archive string
	holder  string
	entries map[string]entry
}

// journal is the open journal.
type journal struct {
	f      disk.File
	at     int64
	noSync bool
	failed error
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// line returns a line of the journal: its fields and their checksum.
func line(fields ...string) string {
	text := strings.Join(fields, " ")
	return fmt.Sprintf("%s %08x\n", text, crc32.Checksum([]byte(text), castagnoli))
}

func parseLine(text string) ([]string, bool) {
	at := strings.LastIndexByte(text, ' ')
	if at < 0 || text[at+1:] != fmt.Sprintf("%08x", crc32.Checksum([]byte(text[:at]), castagnoli)) {
		return nil, false
	}
	return strings.Split(text[:at], " "), true
}

func readJournal(fsys disk.FS, path string) (state journalState, err error) {
	state.entries = map[string]entry{}
	raw, err := disk.ReadFile(fsys, path, maxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	state.exists = true
	text, last, _ := cutLast(raw)
	state.torn = len(text) == 0
	for i, one := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		fields, ok := parseLine(one)
		if ok && i == 0 {
			if len(fields) != 4 || fields[0] != journalMagic {
				ok = false
			} else if v, err := strconv.Atoi(fields[1]); err != nil || v > journalVersion {
				return state, fmt.Errorf("%s was written by a newer program", filepath.Base(path))
			} else {
				state.archive, state.holder = fields[2], fields[3]
			}
		} else if ok {
			ok = state.apply(fields)
		}
		state.torn = state.torn || !ok
	}
	_ = last // a line whose writing was interrupted: what it says has not happened
	return state, nil
}

// cutLast splits off what follows the last line feed.
func cutLast(raw []byte) (whole, rest []byte, ok bool) {
	at := bytes.LastIndexByte(raw, '\n')
	return raw[:at+1], raw[at+1:], at >= 0
}

func (s *journalState) apply(fields []string) bool {
	switch {
	case len(fields) == 5 && fields[0] == "+":
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil || size < 0 {
			return false
		}
		s.entries[fields[1]] = entry{size: size, etag: strings.TrimPrefix(fields[3], "e:"), sum: strings.TrimPrefix(fields[4], "s:")}
	case len(fields) == 2 && fields[0] == "-":
		delete(s.entries, fields[1])
	case len(fields) == 2 && (fields[0] == "r" || fields[0] == "x"):
		e := s.entries[fields[1]]
		e.replace, e.deleting = fields[0] == "r", fields[0] == "x"
		s.entries[fields[1]] = e
	default:
		return false
	}
	return true
}

func storedLine(o *object) string {
	return line("+", o.name, strconv.FormatInt(o.size, 10), "e:"+o.etag, "s:"+o.sum)
}

// rewriteJournal replaces the journal by the shortest one that says the same, and opens it.
func (f *FS) rewriteJournal(path string) (*journal, error) {
	var b strings.Builder
	b.WriteString(line(journalMagic, strconv.Itoa(journalVersion), f.o.Archive, f.owner.holder))
	for _, name := range slices.Sorted(maps.Keys(f.objects)) {
		o := f.objects[name]
		if !o.stored {
			continue
		}
		b.WriteString(storedLine(o))
		if o.replace {
			b.WriteString(line("r", name))
		}
		if o.deleting {
			b.WriteString(line("x", name))
		}
	}
	if err := disk.WriteFile(f.local, path, []byte(b.String()), 0o600); err != nil {
		return nil, err
	}
	file, err := f.local.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &journal{f: file, at: int64(b.Len()), noSync: f.o.NoSync}, nil
}

// note appends a durable line to the journal. The caller holds writing.
func (f *FS) note(text string) error {
	j := f.journal
	if j == nil {
		return errors.New("the folder is open for reading only")
	}
	if j.failed != nil {
		return j.failed
	}
	_, err := j.f.WriteAt([]byte(text), j.at)
	if err == nil && !j.noSync {
		if err = j.f.Sync(); err != nil {
			j.failed = fmt.Errorf("journal of the bucket: %w", err) // nobody knows what the disk holds
		}
	}
	if err != nil {
		return fmt.Errorf("journal of the bucket: %w", err)
	}
	j.at += int64(len(text))
	return nil
}

func (j *journal) close() error { return j.f.Close() }
