package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
)

// packCopier copies packs: new bytes of open ones in pieces, and closed ones as a whole, which then replace their pieces.
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
	return &packCopier{b: b, store: store, log: log, whole: make(map[string]bool), damaged: make(map[string]string), covered: make(map[uint64]int64), pieces: make(map[uint64][]string)}
}

// start keeps closed packs from being dropped that are not in the vault yet.
func (c *packCopier) start() { c.store.SetKeep(func(name string) bool { return !c.has(name) }) }

func (c *packCopier) has(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.whole[name]
}

// list reads which packs are there, for a writer's epoch. Pieces count as far as they have the bytes of this archive: the
// writer before may have copied others that it never committed.
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

// copyNew copies what has been committed of packs since the last call.
func (c *packCopier) copyNew(ctx context.Context) error {
	c.copying.Lock()
	defer c.copying.Unlock()
	c.mu.Lock()
	from := c.from
	c.mu.Unlock()
	unfinished := c.store.Unfinished() // before the list is made
	list, err := c.store.PacksFrom(from)
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

// closeAll copies closed packs that are not there as a whole, and deletes their pieces. It returns at once if there are none.
func (c *packCopier) closeAll(ctx context.Context) error {
	c.mu.Lock()
	from := c.done
	c.mu.Unlock()
	unfinished := c.store.Unfinished() // before the list is made
	list, err := c.store.PacksFrom(from)
	if err != nil {
		return err
	}
	for _, p := range list {
		if !p.Closed || c.has(p.Name) {
			continue
		}
		if err := c.copyWhole(ctx, p); err != nil && !errors.Is(err, content.ErrNotFound) {
			return err
		}
	}
	if err := c.dropPieces(ctx, list); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range list {
		if !p.Closed || !c.whole[p.Name] || p.Number() >= unfinished {
			break
		}
		c.done = p.Number() + 1
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

// lookAgain makes the next closeAll look at all packs: a damaged one may have been repaired, perhaps under another name.
func (c *packCopier) lookAgain() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = 0
	for name := range c.damaged {
		delete(c.whole, name)
	}
}

// copyWhole copies a closed pack. One that is damaged beyond its parity is copied as it is, under another key.
func (c *packCopier) copyWhole(ctx context.Context, p content.Pack) error {
	body := &packBody{store: c.store, pack: p}
	hash := sha256.New()
	if _, err := io.Copy(hash, body); err != nil {
		return err
	}
	sum := hash.Sum(nil)
	damaged := !nameMatches(p.Name, sum)
	c.mu.Lock()
	key := wholeKey(c.epoch, p.Name, damaged)
	old := c.damaged[p.Name]
	if damaged && old != "" {
		c.whole[p.Name] = true
	}
	c.mu.Unlock()
	if damaged && old != "" {
		return nil
	}
	if damaged {
		c.log.Warn("a damaged pack is copied as it is", "pack", p.Name)
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := c.b.Put(ctx, key, p.Size, body, bucket.PutOptions{SHA256: hex.EncodeToString(sum)}); err != nil {
		return err
	}
	if old != "" { // it has been repaired
		if err := c.b.Delete(ctx, old); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whole[p.Name] = true
	if damaged {
		c.damaged[p.Name] = key
	} else {
		delete(c.damaged, p.Name)
	}
	c.sent += p.Size
	c.objects++
	return nil
}

// dropPieces deletes the pieces of packs that are there as a whole. The pieces of a damaged one stay: they may be older than
// the damage.
func (c *packCopier) dropPieces(ctx context.Context, list []content.Pack) error {
	for _, p := range list {
		c.mu.Lock()
		keys := slices.Clone(c.pieces[p.Number()])
		done := p.Closed && c.whole[p.Name] && c.damaged[p.Name] == ""
		c.mu.Unlock()
		if !done {
			continue
		}
		for _, key := range keys {
			if err := c.b.Delete(ctx, key); err != nil {
				return err
			}
		}
		c.mu.Lock()
		delete(c.pieces, p.Number())
		c.mu.Unlock()
	}
	return nil
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

// nameMatches reports whether the hash in a closed pack's name is that of its bytes.
func nameMatches(name string, sum []byte) bool {
	_, text, _ := strings.Cut(strings.TrimSuffix(name, ".pack"), "-")
	return text != "" && strings.HasPrefix(hex.EncodeToString(sum), text)
}

// packBody reads a pack as the body of a Put. It reads ahead: ReadPack opens the parity of a closed pack each time, which
// costs as much as reading a MiB.
type packBody struct {
	store *content.Store
	pack  content.Pack
	at    int64
	ahead []byte // bytes of the pack from start on
	start int64
}

// bodyAhead is the number of bytes that a packBody reads at once.
const bodyAhead = 4 << 20

// Read implements io.Reader.
func (r *packBody) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if r.at >= r.pack.Size {
		return 0, io.EOF
	}
	if r.at < r.start || r.at >= r.start+int64(len(r.ahead)) {
		if err := r.readAhead(); err != nil {
			return 0, err
		}
	}
	n := copy(b, r.ahead[r.at-r.start:])
	r.at += int64(n)
	return n, nil
}

func (r *packBody) readAhead() error {
	n := min(r.pack.Size-r.at, bodyAhead)
	if int64(cap(r.ahead)) < n {
		r.ahead = make([]byte, n)
	}
	r.ahead = r.ahead[:n]
	r.start = r.at
	if err := r.store.ReadPack(r.pack, r.ahead, r.at); err != nil {
		r.ahead = r.ahead[:0]
		return err
	}
	return nil
}

// Seek implements io.Seeker.
func (r *packBody) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.pack.Size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to %d", offset)
	}
	r.at = offset
	return offset, nil
}
