package transparency

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// The names of files below the address of a log (C2SP tlog-tiles).
const (
	CheckpointFile = "checkpoint"
	// TimeStampFile is the time stamp of the checkpoint, if there is one. tlog-tiles does not know it.
	TimeStampFile = "checkpoint.tsr"
	tileDir       = "tile/"
	entriesDir    = "entries"
)

// maxTileFile bounds a file of a log, in bytes: a full bundle of entries.
const maxTileFile = tileWidth * (2 + LeafLen)

// tile names a tile: hashes of a level of the tree, or leaves.
type tile struct {
	level int   // -1 for leaves
	n     int64 // of width tileWidth each
	width int   // 1 to tileWidth
}

// path returns the tile's file name below the address of the log.
func (t tile) path() string {
	level := entriesDir
	if t.level >= 0 {
		level = strconv.Itoa(t.level)
	}
	n := fmt.Sprintf("%03d", t.n%1000)
	for rest := t.n / 1000; rest > 0; rest /= 1000 {
		n = fmt.Sprintf("x%03d/%s", rest%1000, n)
	}
	if t.width < tileWidth {
		n += ".p/" + strconv.Itoa(t.width)
	}
	return tileDir + level + "/" + n
}

// parseTile parses a file name. ok is false unless it is exactly as path spells it.
func parseTile(name string) (t tile, ok bool) {
	level, n, found := strings.Cut(strings.TrimPrefix(name, tileDir), "/")
	if !found || len(name) > 100 {
		return t, false
	}
	t = tile{level: -1, width: tileWidth}
	var err error
	if level != entriesDir {
		if t.level, err = strconv.Atoi(level); err != nil || t.level < 0 || t.level >= indexLen {
			return t, false
		}
	}
	if number, width, partial := strings.Cut(n, ".p/"); partial {
		n = number
		if t.width, err = strconv.Atoi(width); err != nil || t.width < 1 || t.width >= tileWidth {
			return t, false
		}
	}
	digits := strings.ReplaceAll(strings.ReplaceAll(n, "/", ""), "x", "")
	if t.n, err = strconv.ParseInt(digits, 10, 64); err != nil || t.n < 0 || t.n >= maxSize/tileWidth {
		return t, false
	}
	return t, t.path() == name
}

// within reports whether a tree has all of a tile.
func (t tile) within(size int64) bool {
	return t.n*tileWidth+int64(t.width) <= size>>(tileHeight*max(t.level, 0))
}

// File returns a file of the log as it is published: "checkpoint", its time stamp, or a tile or a bundle of entries by
// its path. Tiles and bundles never change. They are computed when they are asked for. The error is fs.ErrNotExist for
// other names and for what the tree does not have yet.
func (t Txn) File(name string) ([]byte, error) {
	if name == CheckpointFile {
		c, ok, err := t.Latest()
		if err == nil && !ok {
			err = fmt.Errorf("no checkpoint has been signed: %w", fs.ErrNotExist)
		}
		return c.Note, err
	}
	if name == TimeStampFile {
		c, _, err := t.Latest()
		if err == nil && len(c.TimeStamp) == 0 {
			err = fmt.Errorf("the checkpoint has no time stamp: %w", fs.ErrNotExist)
		}
		return c.TimeStamp, err
	}
	tile, ok := parseTile(name)
	size, err := t.Size()
	if err != nil {
		return nil, err
	}
	if !ok || !tile.within(size) {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if tile.level < 0 {
		return t.entries(tile)
	}
	hashes, err := t.row(tile.level, tile.n*tileWidth, tile.width)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, len(hashes)*tlog.HashSize)
	for _, h := range hashes {
		b = append(b, h[:]...)
	}
	return b, nil
}

// entries returns a bundle: each leaf after its length in two bytes.
func (t Txn) entries(bundle tile) ([]byte, error) {
	leaves, err := t.leavesOf(bundle.n)
	if err != nil {
		return nil, err
	}
	b := make([]byte, 0, bundle.width*(2+LeafLen))
	for _, raw := range leaves[:bundle.width] {
		b = binary.BigEndian.AppendUint16(b, uint16(len(raw)))
		b = append(b, raw...)
	}
	return b, nil
}

// tilesOf returns the tiles of all levels, and the bundles, that a tree of a size has and one of an earlier size does
// not have.
func tilesOf(before, size int64) (list []tile) {
	for level := -1; level < indexLen; level++ {
		old, now := before>>(tileHeight*max(level, 0)), size>>(tileHeight*max(level, 0))
		if now == old {
			continue
		}
		for n := old / tileWidth; n < now/tileWidth; n++ {
			list = append(list, tile{level, n, tileWidth})
		}
		if rest := int(now % tileWidth); rest > 0 {
			list = append(list, tile{level, now / tileWidth, rest})
		}
	}
	return list
}
