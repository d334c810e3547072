package content

import (
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"

	"odarchive/triplestore/disk"
)

// maxSalvageOpen bounds the open packs.
const maxSalvageOpen = 16

type salvagePack struct {
	name  string
	f     disk.File
	r     io.ReaderAt
	size  int64
	close func()
}

// open opens a pack, through its parity if it has one.
func (s *salvage) open(name string) (*salvagePack, error) {
	f, err := s.fs.OpenFile(filepath.Join(s.dir, name), 0, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p := &salvagePack{name: name, f: f, r: &tolerant{r: f}, size: info.Size()}
	p.close = func() { f.Close() }
	if _, hash, ok := parsePackName(name); ok && hash != "" {
		par, err := openParity(s.fs, filepath.Join(s.dir, parityName(name)))
		if err == nil && hex.EncodeToString(par.pack.whole[:])[:hashDigits] == hash {
			p.r, p.size = newGuarded(f, par, s.enc), par.pack.size
			p.close = func() { f.Close(); par.Close() }
		} else if err == nil {
			par.Close()
		}
	}
	return p, nil
}

func (p *salvagePack) shut() {
	if p.f != nil {
		p.close()
		p.f, p.r = nil, nil
	}
}

// close closes all open packs.
func (s *salvage) close() {
	for _, p := range s.packs {
		p.shut()
	}
}
