package content

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"odarchive/triplestore/disk"
)

// maxOpenPacks bounds the pack files that are open but unused.
const maxOpenPacks = 128

// errNoPack reports that a pack was dropped, after its segments were moved, or that its file is missing.
var errNoPack = errors.New("the pack does not exist")

// packs maps pack numbers to files and keeps some of the files open for reading.
type packs struct {
	dir  string
	fs   disk.FS
	list bool       // another process may rename packs, so a missing file is looked for in the folder
	mu   sync.Mutex // guards the fields below
	name map[uint64]string
	open map[uint64]*handle
	tick uint64

	version atomic.Uint64 // of the names, also of parity files
}

// handle is an open pack. A pack that is removed while in use stays readable through its handle.
type handle struct {
	f       disk.File
	name    string
	users   int
	used    uint64 // tick of the last use
	retired bool   // the last user closes it
}

func newPacks(fsys disk.FS, dir string, list bool) *packs {
	return &packs{dir: dir, fs: fsys, list: list, name: make(map[uint64]string), open: make(map[uint64]*handle)}
}

// add registers a pack, or its new name.
func (p *packs) add(num uint64, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setName(num, name)
}

// setName makes later readers open the file with a name. One that was opened under another name is a file that the
// cache of a bucket does not know: kept open, it would fill the disk when the cache has dropped it. The caller holds
// mu.
func (p *packs) setName(num uint64, name string) {
	if p.name[num] != name {
		p.retire(num)
	}
	p.name[num] = name
	p.version.Add(1)
}

// rename renames a pack's file while no reader can open it.
func (p *packs) rename(num uint64, from, to string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.fs.Rename(filepath.Join(p.dir, from), filepath.Join(p.dir, to)); err != nil {
		return err
	}
	p.setName(num, to)
	return nil
}

// remove unregisters a pack.
func (p *packs) remove(num uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.name, num)
	p.version.Add(1)
	p.retire(num)
}

// nameOf returns a pack's file name, or its number if it is not registered.
func (p *packs) nameOf(num uint64) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name, ok := p.name[num]; ok {
		return name
	}
	return fmt.Sprintf("%012d", num)
}

// numbers returns the numbers of all packs, ascending.
func (p *packs) numbers() []uint64 { return p.numbersFrom(0) }

// numbersFrom returns the numbers of packs that are at least from, ascending.
func (p *packs) numbersFrom(from uint64) (list []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for num := range p.name {
		if num >= from {
			list = append(list, num)
		}
	}
	slices.Sort(list)
	return list
}

// acquire returns a pack for reading until release. The error is errNoPack if it does not exist.
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
	if !ok && p.list && p.renamed(num) { // made by another process since
		name, ok = p.name[num], true
	}
	if !ok {
		return nil, errNoPack
	}
	f, err := p.fs.OpenFile(filepath.Join(p.dir, name), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) && p.list && p.renamed(num) {
		name = p.name[num]
		f, err = p.fs.OpenFile(filepath.Join(p.dir, name), os.O_RDONLY, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoPack
	}
	if err != nil {
		return nil, fmt.Errorf("content: open pack: %w", err)
	}
	if len(p.open) >= maxOpenPacks {
		p.closeIdle()
	}
	h := &handle{f: f, name: name, users: 1, used: p.tick}
	p.open[num] = h
	return h, nil
}

// renamed looks for a pack under another name. The caller holds mu.
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

// has reports whether a pack is registered under a name.
func (p *packs) has(num uint64, name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.name[num] == name
}

// reopen makes later readers open a pack's file again, since another file has replaced it.
func (p *packs) reopen(num uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.retire(num)
}

// retire closes the handle of a pack as soon as it has no users. The caller holds mu.
func (p *packs) retire(num uint64) {
	if h := p.open[num]; h != nil {
		delete(p.open, num)
		h.retired = true
		if h.users == 0 {
			h.f.Close()
		}
	}
}

func (p *packs) release(h *handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
	if h.retired && h.users == 0 {
		h.f.Close()
	}
}

// closeIdle closes the pack that has been unused for the longest time.
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
		h.retired = true
		if h.users == 0 {
			err = errors.Join(err, h.f.Close())
		}
	}
	clear(p.name)
	return err
}
