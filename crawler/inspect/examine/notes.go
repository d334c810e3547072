package examine

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// notes are what is being examined, each in a file of its own, so that a start after a crash finds it: whatever the
// cause, a document that was under examination at two deaths of the program is not examined a third time. Nothing is
// synced: a note has to outlive the process, not the power. A nil *notes takes none.
type notes struct {
	dir string

	mu       sync.Mutex     // guards what follows
	suspects map[string]int // deaths by digest, in hexadecimal
	free     []*note
	made     int
}

// note is one file.
type note struct {
	of     *notes
	file   *os.File
	digest string
}

// noted is what a note holds, as JSON that is padded with spaces to noteSize bytes.
type noted struct {
	SHA256 string `json:"sha256"`
	URL    string `json:"url,omitempty"`
}

const (
	noteSize     = 512
	notePrefix   = "note-"
	suspectsName = "suspects.json"
	maxDeaths    = 2
	maxSuspects  = 10_000
)

// openNotes reads the notes that a process left that did not end by itself, and counts a death for each.
func openNotes(dir string) (*notes, error) {
	n := &notes{dir: dir, suspects: map[string]int{}}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("notes of what is examined: %w", err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, suspectsName)); err == nil {
		_ = json.Unmarshal(raw, &n.suspects) // what cannot be read accuses nobody
		if n.suspects == nil {
			n.suspects = map[string]int{}
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("notes of what is examined: %w", err)
	}
	var old []string
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), notePrefix) {
			continue
		}
		name := filepath.Join(dir, e.Name())
		old = append(old, name)
		raw, err := os.ReadFile(name)
		var left noted
		if err == nil && json.Unmarshal(bytes.TrimRight(raw, " \x00"), &left) == nil && len(left.SHA256) == 64 {
			n.suspects[left.SHA256]++
		}
	}
	if len(n.suspects) > maxSuspects {
		maps.DeleteFunc(n.suspects, func(_ string, deaths int) bool { return deaths < maxDeaths })
	}
	if len(old) == 0 {
		return n, nil
	}
	if err := n.save(); err != nil { // before the notes go: else a third death would find nothing
		return nil, err
	}
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return nil, fmt.Errorf("notes of what is examined: %w", err)
	}
	return n, nil
}

// save writes the suspects.
func (n *notes) save() error {
	raw, err := json.Marshal(n.suspects)
	if err != nil {
		return err
	}
	name := filepath.Join(n.dir, suspectsName)
	if err = os.WriteFile(name+".new", raw, 0o600); err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return fmt.Errorf("notes of what is examined: %w", err)
	}
	return nil
}

// close closes the files of notes that are not in use.
func (n *notes) close() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.free {
		_ = one.file.Close() // it is empty
		_ = os.Remove(one.file.Name())
	}
	n.free = nil
}

// refuses returns ErrSetAside for a document that must not be examined again.
func (n *notes) refuses(about About) error {
	if n == nil || about.SHA256 == [32]byte{} {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.suspects[hex.EncodeToString(about.SHA256[:])] >= maxDeaths {
		return ErrSetAside
	}
	return nil
}

// write notes what is examined from now on. It returns nil if that cannot be noted: examining goes on, as a disk
// without room is met, and said, elsewhere.
func (n *notes) write(about About) *note {
	if n == nil || about.SHA256 == [32]byte{} {
		return nil
	}
	one := n.take()
	if one == nil {
		return nil
	}
	one.digest = hex.EncodeToString(about.SHA256[:])
	raw, err := json.Marshal(noted{one.digest, about.URL})
	if err == nil && len(raw) > noteSize {
		raw, err = json.Marshal(noted{SHA256: one.digest})
	}
	if err == nil {
		_, err = one.file.WriteAt(append(raw, bytes.Repeat([]byte(" "), noteSize-len(raw))...), 0)
	}
	if err != nil {
		one.remove()
		return nil
	}
	return one
}

// take returns a file for a note.
func (n *notes) take() *note {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := len(n.free) - 1; last >= 0 {
		one := n.free[last]
		n.free = n.free[:last]
		return one
	}
	f, err := os.OpenFile(filepath.Join(n.dir, notePrefix+strconv.Itoa(n.made)), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil
	}
	n.made++
	return &note{of: n, file: f}
}

// remove empties the note: the document was examined. It does nothing on nil.
func (one *note) remove() {
	if one == nil {
		return
	}
	n := one.of
	if _, err := one.file.WriteAt(bytes.Repeat([]byte(" "), noteSize), 0); err != nil {
		_ = one.file.Truncate(0)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, suspect := n.suspects[one.digest]; suspect { // it was not to blame
		delete(n.suspects, one.digest)
		_ = n.save()
	}
	n.free = append(n.free, one)
}
