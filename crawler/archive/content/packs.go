package content

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"odarchive/triplestore/disk"
)

// maxOpen bounds the pack files that are open and idle.
const maxOpen = 128

// errGone says that a pack has been dropped: its segments have moved.
var errGone = errors.New("the pack is gone")

// packs knows the pack files and keeps some of them open for reading.
type packs struct {
	dir  string
	fs   disk.FS
	list bool       // another process may rename packs: look into the folder again
	mu   sync.Mutex // guards the fields below
	name map[uint64]string
	open map[uint64]*handle
	tick uint64
}

// handle is an open pack. A pack that is removed while it is in use stays readable through its handle.
type handle struct {
	f     disk.File
	name  string
	users int
	used  uint64 // tick of the last use
	gone  bool   // close it with its last user
}

func newPacks(fsys disk.FS, dir string, list bool) *packs {
	return &packs{dir: dir, fs: fsys, list: list, name: make(map[uint64]string), open: make(map[uint64]*handle)}
}

// add makes a pack known, or known under a new name.
func (p *packs) add(num uint64, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name[num] = name
}

// rename gives a pack's file another name, while nobody looks for it.
func (p *packs) rename(num uint64, from, to string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fs.Rename(filepath.Join(p.dir, from), filepath.Join(p.dir, to)); err != nil {
		return err
	}
	p.name[num] = to
	return nil
}

// remove forgets a pack.
func (p *packs) remove(num uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.name, num)
	p.shut(num)
}

// nameOf is a pack's file name, or one like it where there is none.
func (p *packs) nameOf(num uint64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name, ok := p.name[num]; ok {
		return name
	}
	return fmt.Sprintf("%012d", num)
}

// numbers of all packs, ascending.
func (p *packs) numbers() []uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.name))
}

// acquire gives a pack to read from, until release.
func (p *packs) acquire(num uint64) (*handle, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tick++
	if h := p.open[num]; h != nil {
		h.users++
		h.used = p.tick
		return h, nil
	}
	name, ok := p.name[num]
	if !ok {
		return nil, errGone
	}
	f, err := p.fs.OpenFile(filepath.Join(p.dir, name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) && p.list && p.renamed(num) {
		name = p.name[num]
		f, err = p.fs.OpenFile(filepath.Join(p.dir, name), os.O_RDONLY, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errGone
	}
	if err != nil {
		return nil, fmt.Errorf("content: open pack: %w", err)
	}
	if len(p.open) >= maxOpen {
		p.closeIdle()
	}
	h := &handle{f: f, name: name, users: 1, used: p.tick}
	p.open[num] = h
	return h, nil
}

// renamed looks for a pack under another name. The caller has mu.
func (p *packs) renamed(num uint64) bool {
	entries, err := p.fs.ReadDir(p.dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if n, _, ok := parsePackName(e.Name()); ok && n == num {
			p.name[num] = e.Name()
			return true
		}
	}
	return false
}

// has reports whether a pack is known under a name.
func (p *packs) has(num uint64, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name[num] == name
}

// reopen makes later readers open a pack's file anew: another one has taken its name.
func (p *packs) reopen(num uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut(num)
}

// shut closes the handle of a pack with its last user. The caller has mu.
func (p *packs) shut(num uint64) {
	if h := p.open[num]; h != nil {
		delete(p.open, num)
		h.gone = true
		if h.users == 0 {
			h.f.Close()
		}
	}
}

func (p *packs) release(h *handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
	if h.gone && h.users == 0 {
		h.f.Close()
	}
}

// closeIdle closes the pack that was not in use for the longest time.
func (p *packs) closeIdle() {
	var oldest *handle
	var num uint64
	for n, h := range p.open {
		if h.users == 0 && (oldest == nil || h.used < oldest.used) {
			oldest, num = h, n
		}
	}
	if oldest != nil {
		delete(p.open, num)
		oldest.f.Close()
	}
}

func (p *packs) close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for num, h := range p.open {
		delete(p.open, num)
		h.gone = true
		if h.users == 0 {
			err = errors.Join(err, h.f.Close())
		}
	}
	clear(p.name)
	return err
}
