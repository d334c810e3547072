package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
)

// closeAll copies closed packs that are not there as a whole, and deletes their pieces. It returns at once if there are
// none.
func (c *packCopier) closeAll(ctx context.Context) error {
	list, unfinished, err := c.packsFrom(&c.done)
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

// lookAgain makes the next closeAll look at all packs: a damaged one may have been repaired, perhaps under another
// name.
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

// dropPieces deletes the pieces of packs that are there as a whole. The pieces of a damaged one stay: they may be older
// than the damage.
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

// nameMatches reports whether the hash in a closed pack's name is that of its bytes.
func nameMatches(name string, sum []byte) bool {
	_, text, _ := strings.Cut(strings.TrimSuffix(name, ".pack"), "-")
	return text != "" && strings.HasPrefix(hex.EncodeToString(sum), text)
}

// packBody reads a pack as the body of a Put. It reads ahead: ReadPack opens the parity of a closed pack each time,
// which costs as much as reading a MiB.
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
