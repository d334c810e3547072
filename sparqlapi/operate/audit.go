// Records who changed the archive over HTTP: when, what, from where, and how it ended.
//
// An AuditLog is a folder of files with a line of JSON for each entry (FORMAT.md). A request has an entry before it may
// change anything, which is durable, and a second one with its outcome. Each line has the digest of the line before it,
// so that a line cannot be changed or removed later without changing all that follow. Whoever may write the files can
// still do that, or cut off the end: what is to hold against them must note the latest digest elsewhere (Head).
//
// The number of files is bounded, and the oldest goes first.

package operate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/disk"
)

// AuditLine is a line of the log: the beginning of a request, its end, or a note.
type AuditLine struct {
	N       uint64    `json:"n"`
	At      time.Time `json:"at"`
	Who     string    `json:"who,omitempty"`     // name of the token, or "local"
	From    string    `json:"from,omitempty"`    // address of the client
	Request string    `json:"request,omitempty"` // its id in the access log
	Method  string    `json:"method,omitempty"`
	Path    string    `json:"path,omitempty"`
	Query   string    `json:"query,omitempty"`
	Of      uint64    `json:"of,omitempty"`     // the line that this one is the end of
	Status  int       `json:"status,omitempty"` // of the answer; 0 if there was none
	Body    string    `json:"body,omitempty"`   // its first bytes, if it is an order
	Note    string    `json:"note,omitempty"`
	Prev    string    `json:"prev"` // SHA-256 of the line before, in hexadecimal digits
}

// AuditOptions of Open. Zero values are defaults.
type AuditOptions struct {
	FS       disk.FS
	MaxFile  int64            // bytes after which a new file begins; 16 MiB
	MaxFiles int              // how many files are kept; 16
	Now      func() time.Time // time.Now
}

const (
	suffix  = ".jsonl"
	maxLine = 128 << 10 // bytes; the texts of a line, escaped, are shorter
	maxText = 2000      // bytes of each text in a line
)

// AuditLog is an opened log. Methods may be called concurrently. Close it.
type AuditLog struct {
	dir  string
	opts AuditOptions

	mu     sync.Mutex // guards what follows
	file   disk.File
	number int   // of the file
	size   int64 // of the file
	n      uint64
	head   string // digest of the last line
	failed error  // a sync failed: nobody knows what the disk holds

	syncing sync.Mutex // held while the file is synced; taken before mu
	synced  uint64     // last line that is durable; guarded by syncing
}

// OpenAudit opens the log in a folder, which it makes if it does not exist. A line that a crash cut off is removed.
func OpenAudit(dir string, o AuditOptions) (*AuditLog, error) {
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if o.MaxFile <= 0 {
		o.MaxFile = 16 << 20
	}
	if o.MaxFiles <= 0 {
		o.MaxFiles = 16
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &AuditLog{dir: dir, opts: o}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return l, nil
}

func (l *AuditLog) open() error {
	if err := disk.MakeDir(l.opts.FS, l.dir, 0o700); err != nil {
		return err
	}
	numbers, err := l.numbers()
	if err != nil {
		return err
	}
	if len(numbers) == 0 {
		l.head = strings.Repeat("0", 2*sha256.Size)
		return l.begin(1)
	}
	l.number = numbers[len(numbers)-1]
	if l.file, err = l.opts.FS.OpenFile(l.path(l.number), os.O_RDWR, 0o600); err != nil {
		return err
	}
	torn, err := l.resume(numbers)
	if err != nil {
		return errors.Join(err, l.file.Close())
	}
	if torn > 0 {
		return l.Append(&AuditLine{Note: fmt.Sprintf("%d bytes of an interrupted line were removed", torn)})
	}
	return nil
}

// resume finds the last line, also if a crash has left the last file empty, and cuts off what follows it.
func (l *AuditLog) resume(numbers []int) (torn int64, err error) {
	l.head = strings.Repeat("0", 2*sha256.Size)
	for i, number := range slices.Backward(numbers) {
		text, err := disk.ReadFile(l.opts.FS, l.path(number), l.longest())
		if err != nil {
			return 0, err
		}
		whole := strings.LastIndexByte(string(text), '\n') + 1
		if i == len(numbers)-1 {
			l.size, torn = int64(whole), int64(len(text)-whole)
		}
		lines := strings.Split(strings.TrimSuffix(string(text[:whole]), "\n"), "\n")
		if whole == 0 {
			continue // a crash has left it empty
		}
		l.head = digest(lines[len(lines)-1])
		for _, text := range slices.Backward(lines) {
			var line AuditLine
			if json.Unmarshal([]byte(text), &line) == nil && line.N > 0 {
				l.n += line.N
				break
			}
			l.n++ // a damaged line, whose number cannot be read
		}
		break
	}
	if torn > 0 {
		if err := l.file.Truncate(l.size); err != nil {
			return 0, err
		}
	}
	_, err = l.file.Seek(l.size, 0)
	return torn, err
}

// longest is the longest file, in bytes.
func (l *AuditLog) longest() int64 { return l.opts.MaxFile + maxLine }

func (l *AuditLog) path(number int) string {
	return filepath.Join(l.dir, fmt.Sprintf("%08d%s", number, suffix))
}

// numbers returns the numbers of the files, oldest first.
func (l *AuditLog) numbers() ([]int, error) { return numbers(l.opts.FS, l.dir) }

func numbers(fsys disk.FS, dir string) (all []int, err error) {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if n, err := strconv.Atoi(name); ok && err == nil && n > 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// begin begins a file, and removes the oldest if there are too many.
func (l *AuditLog) begin(number int) error {
	f, err := l.opts.FS.OpenFile(l.path(number), os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := l.opts.FS.SyncDir(l.dir); err != nil {
		return errors.Join(err, f.Close())
	}
	if l.file != nil {
		if err := errors.Join(l.file.Sync(), l.file.Close()); err != nil {
			l.failed = err
			return errors.Join(err, f.Close())
		}
	}
	l.file, l.number, l.size = f, number, 0
	all, err := l.numbers()
	if err != nil {
		return err
	}
	for len(all) > l.opts.MaxFiles {
		if err := l.opts.FS.Remove(l.path(all[0])); err != nil {
			return err
		}
		all = all[1:]
	}
	return nil
}

// Append appends a line, whose N, At and Prev it sets. The line is durable when Sync returns.
func (l *AuditLog) Append(line *AuditLine) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return fmt.Errorf("audit log: %w", l.failed)
	}
	if l.size >= l.opts.MaxFile {
		if err := l.begin(l.number + 1); err != nil {
			return fmt.Errorf("audit log: %w", err)
		}
	}
	line.N, line.At, line.Prev = l.n+1, l.opts.Now().UTC(), l.head
	for _, s := range []*string{&line.Who, &line.From, &line.Request, &line.Method, &line.Path, &line.Query, &line.Body, &line.Note} {
		*s = strings.ToValidUTF8((*s)[:min(len(*s), maxText)], "")
	}
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("audit log: %w", err)
	}
	if _, err := l.file.Write(append(text, '\n')); err != nil {
		if cut := l.file.Truncate(l.size); cut != nil {
			l.failed = errors.Join(err, cut)
		} else if _, seek := l.file.Seek(l.size, 0); seek != nil {
			l.failed = errors.Join(err, seek)
		}
		return fmt.Errorf("audit log: %w", err)
	}
	l.size += int64(len(text)) + 1
	l.n, l.head = line.N, digest(string(text))
	return nil
}

// Sync returns when line n is durable. One sync serves all that wait for it.
func (l *AuditLog) Sync(n uint64) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if l.synced >= n {
		return nil
	}
	l.mu.Lock()
	file, last, failed := l.file, l.n, l.failed
	l.mu.Unlock()
	if failed != nil {
		return fmt.Errorf("audit log: %w", failed)
	}
	err := file.Sync()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && file == l.file { // a file that has ended was synced by begin
		l.failed = err
		return fmt.Errorf("audit log: %w", err)
	}
	l.synced = last
	return nil
}

// Head returns the number and the digest of the last line.
func (l *AuditLog) Head() (n uint64, digest string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n, l.head
}

// Close closes the log.
func (l *AuditLog) Close() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Sync(), l.file.Close())
	l.file, l.failed = nil, errors.New("it is closed")
	return err
}

func digest(line string) string {
	sum := sha256.Sum256([]byte(line))
	return hex.EncodeToString(sum[:])
}
