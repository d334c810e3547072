package vault

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"log/slog"
	"maps"
	"sync"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
)

// packCopier copies packs: new bytes of open ones in pieces, and closed ones as a whole, which then replace their
// pieces.
type packCopier struct {
	b     bucket.Bucket
	store *content.Store
	log   *slog.Logger

	copying sync.Mutex // held by copyNew

	mu      sync.Mutex // guards the fields below
	epoch   uint64
	from    uint64              // all packs with lower numbers are completely there
	done    uint64              // all packs with lower numbers are there as a whole, without pieces
	whole   map[string]bool     // names of closed packs that are there as a whole
	damaged map[string]string   // names of closed packs with copies that were damaged when they were made: their keys
	covered map[uint64]int64    // how many bytes of a pack are there in pieces, from its start on
	pieces  map[uint64][]string // keys of the pieces that go when the pack is there as a whole
	sent    int64               // bytes of packs sent
	objects int64               // objects sent
}

func newPackCopier(b bucket.Bucket, store *content.Store, log *slog.Logger) *packCopier {
	return &packCopier{b: b, store: store, log: log, whole: make(map[string]bool), damaged: make(map[string]string),
		covered: make(map[uint64]int64), pieces: make(map[uint64][]string)}
}

// start keeps closed packs from being dropped that are not in the vault yet.
func (c *packCopier) start() { c.store.SetKeep(func(name string) bool { return !c.has(name) }) }

func (c *packCopier) has(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.whole[name]
}

// list reads which packs are there, for a writer's epoch. Pieces count as far as they have the bytes of this archive:
// the writer before may have copied others that it never committed.
func (c *packCopier) list(ctx context.Context, epoch uint64, mine func(epoch uint64) bool) error {
	there, err := listPacks(ctx, c.b)
	if err != nil {
		return err
	}
	packs, err := c.store.Packs()
	if err != nil {
		return err
	}
	covered := make(map[uint64]int64)
	for _, p := range packs {
		if covered[p.Number()], err = c.compare(p, there.pieces[p.Number()]); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch, c.covered, c.from, c.done = epoch, covered, 0, 0
	clear(c.whole)
	clear(c.pieces)
	clear(c.damaged)
	for _, w := range there.whole {
		if w.damaged { // it may have been repaired since
			c.damaged[w.name] = w.key
		} else {
			c.whole[w.name] = true
		}
	}
	for num, list := range there.pieces {
		for _, p := range list {
			if mine(p.epoch) {
				c.pieces[num] = append(c.pieces[num], p.key)
			}
		}
	}
	return nil
}

// compare returns how many bytes of a pack, from its start on, the pieces have.
func (c *packCopier) compare(p content.Pack, pieces []piece) (covered int64, err error) {
	for again := true; again; {
		again = false
		for _, one := range pieces {
			if one.offset > covered || one.offset+one.length <= covered || one.offset+one.length > p.Size {
				continue
			}
			body := make([]byte, one.length)
			err := c.store.ReadPack(p, body, one.offset)
			if errors.Is(err, content.ErrNotFound) {
				return 0, nil
			}
			if err != nil {
				return 0, err
			}
			if crc32.Checksum(body, castagnoli) == one.crc {
				covered, again = one.offset+one.length, true
			}
		}
	}
	return covered, nil
}

// packsThere are the packs in a vault.
type packsThere struct {
	whole  []wholePack
	pieces map[uint64][]piece // by number of the pack, in the order of offsets
	odd    []string           // keys of objects below open/ that are not what their names say
}

func listPacks(ctx context.Context, b bucket.Bucket) (there packsThere, err error) {
	there.pieces = make(map[uint64][]piece)
	for info, err := range b.List(ctx, packsDir, "") {
		if err != nil {
			return there, err
		}
		if w, ok := parseWhole(info.Key, info.Size); ok {
			there.whole = append(there.whole, w)
		}
	}
	for info, err := range b.List(ctx, openDir, "") {
		if err != nil {
			return there, err
		}
		if p, ok := parsePiece(info.Key, info.Size); ok && p.length <= maxObject {
			there.pieces[p.pack] = append(there.pieces[p.pack], p)
		} else {
			there.odd = append(there.odd, info.Key)
		}
	}
	return there, nil
}

// maxPiece is the maximum size of a piece.
const maxPiece = 8 << 20

// packsFrom returns the packs with a number, which mu guards, and higher ones, and the first number whose pack may not
// be finished.
func (c *packCopier) packsFrom(first *uint64) (list []content.Pack, unfinished uint64, err error) {
	c.mu.Lock()
	from := *first
	c.mu.Unlock()
	unfinished = c.store.Unfinished() // before the list is made
	list, err = c.store.PacksFrom(from)
	return list, unfinished, err
}

// copyNew copies what has been committed of packs since the last call.
func (c *packCopier) copyNew(ctx context.Context) error {
	c.copying.Lock()
	defer c.copying.Unlock()
	list, unfinished, err := c.packsFrom(&c.from)
	if err != nil {
		return err
	}
	all := true
	for _, p := range list {
		if err := c.copyPieces(ctx, p); err != nil {
			return err
		}
		if all = all && p.Closed && p.Number() < unfinished; all {
			c.mu.Lock()
			c.from = p.Number() + 1
			c.mu.Unlock()
		}
	}
	return nil
}

// copyPieces copies what is missing of a pack.
func (c *packCopier) copyPieces(ctx context.Context, p content.Pack) error {
	c.mu.Lock()
	have, done, epoch := c.covered[p.Number()], c.whole[p.Name], c.epoch
	c.mu.Unlock()
	for !done && have < p.Size {
		body := make([]byte, min(p.Size-have, maxPiece))
		err := c.store.ReadPack(p, body, have)
		if errors.Is(err, content.ErrNotFound) { // dropped meanwhile, since it had withdrawn bytes
			return nil
		}
		if err != nil {
			return err
		}
		one := piece{pack: p.Number(), epoch: epoch, offset: have, length: int64(len(body)), crc: crc32.Checksum(body, castagnoli)}
		if err := c.b.Put(ctx, one.name(), one.length, bytes.NewReader(body), bucket.PutOptions{}); err != nil {
			return err
		}
		have += one.length
		c.mu.Lock()
		c.covered[p.Number()] = have
		c.pieces[p.Number()] = append(c.pieces[p.Number()], one.name())
		c.sent += one.length
		c.objects++
		c.mu.Unlock()
	}
	return nil
}

// missing returns how many bytes of packs are not there.
func (c *packCopier) missing() (n int64, err error) {
	list, err := c.store.Packs()
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range list {
		if !c.whole[p.Name] {
			n += max(p.Size-c.covered[p.Number()], 0)
		}
	}
	return n, nil
}

// forget drops what is known of a pack that was deleted.
func (c *packCopier) forget(num uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.covered, num)
	delete(c.pieces, num)
	maps.DeleteFunc(c.whole, func(name string, _ bool) bool { return packNumber(name) == num })
	maps.DeleteFunc(c.damaged, func(name, _ string) bool { return packNumber(name) == num })
}

// figures returns the bytes and objects that were sent.
func (c *packCopier) figures() (bytes, objects int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent, c.objects
}
