package transparency

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/tlog"
)

// Files returns a file of a published log by its name, as Txn.File does, from wherever it is. The error is
// fs.ErrNotExist if there is no such file. What it returns is checked by its users.
type Files func(ctx context.Context, name string) ([]byte, error)

// OfArchive returns the files of the log in a database.
func OfArchive(db *kv.DB) Files {
	return func(ctx context.Context, name string) (b []byte, err error) {
		err = View(db, func(t Txn) error { b, err = t.File(name); return err })
		return b, err
	}
}

// OfDirectory returns the files of a log below a directory, as Export writes them.
func OfDirectory(dir string) Files {
	return func(_ context.Context, name string) ([]byte, error) {
		return disk.ReadFile(disk.OS{}, filepath.Join(dir, filepath.FromSlash(name)), max(maxNote, maxTileFile))
	}
}

// OfWeb returns the files of a log on the web. address is that of the log, which ends in /log, or of the archive.
func OfWeb(client *http.Client, address string) (Files, error) {
	u, err := LogAddress(address)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, name string) ([]byte, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath(name).String(), nil)
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		switch {
		case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
			return nil, fmt.Errorf("%s: %w", r.URL, fs.ErrNotExist)
		case resp.StatusCode != http.StatusOK:
			return nil, fmt.Errorf("%s: %s", r.URL, resp.Status)
		}
		limit := max(maxNote, maxTileFile)
		b, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
		if err == nil && len(b) > limit {
			err = fmt.Errorf("%s: longer than %d bytes", r.URL, limit)
		}
		return b, err
	}, nil
}

// LogAddress returns the address of the log of an archive, by either address.
func LogAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%.200q is not the address of an archive, such as https://archive.example/", address)
	}
	if path.Base(u.Path) != "log" {
		u = u.JoinPath("log")
	}
	u.Path, u.RawQuery, u.Fragment = strings.TrimSuffix(u.Path, "/"), "", ""
	return u, nil
}

// tiles reads tiles for package tlog, which checks them against the root of the tree.
type tiles struct {
	ctx   context.Context // of one call of Consistent
	files Files
}

func (r tiles) Height() int { return tileHeight }

func (r tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func (r tiles) ReadTiles(list []tlog.Tile) (data [][]byte, err error) {
	for _, t := range list {
		want := tile{t.L, t.N, t.W}
		b, err := r.files.tile(r.ctx, want)
		if err != nil {
			return nil, err
		}
		if len(b) < t.W*tlog.HashSize {
			return nil, fmt.Errorf("%s has %d bytes, expected %d", want.path(), len(b), t.W*tlog.HashSize)
		}
		data = append(data, b[:t.W*tlog.HashSize])
	}
	return data, nil
}

// tile returns the file of a tile, or of the full one that may have replaced it.
func (f Files) tile(ctx context.Context, t tile) ([]byte, error) {
	b, err := f(ctx, t.path())
	if errors.Is(err, fs.ErrNotExist) && t.width < tileWidth {
		t.width = tileWidth
		b, err = f(ctx, t.path())
	}
	return b, err
}

// Consistent returns nil if the later tree begins with the leaves of the earlier one. It reads the tiles of the later
// one, of which it believes nothing that does not lead to its root. The error is ErrForked if it does not contain the
// earlier tree; others are what prevented the comparison.
func Consistent(ctx context.Context, earlier, later tlog.Tree, files Files) error {
	switch {
	case later.N < earlier.N:
		return fmt.Errorf("%w: it has %d versions now and had %d before", ErrForked, later.N, earlier.N)
	case later.N == earlier.N && later.Hash != earlier.Hash:
		return fmt.Errorf("%w: it has %d versions as before, and they are not the same", ErrForked, later.N)
	case later.N == earlier.N || earlier.N == 0:
		return nil
	}
	reader := tlog.TileHashReader(later, tiles{ctx, files})
	proof, err := tlog.ProveTree(later.N, earlier.N, reader)
	if err != nil {
		return fmt.Errorf("transparency log: compare %d versions with %d: %w", earlier.N, later.N, err)
	}
	if tlog.CheckTree(proof, later.N, later.Hash, earlier.N, earlier.Hash) != nil {
		return fmt.Errorf("%w: its first %d versions are not those of before", ErrForked, earlier.N)
	}
	return nil
}

// Export writes the log up to its latest checkpoint as files below a directory, as a web server may publish them. Files
// that are there from an earlier call stay. The checkpoint is written last. It returns the checkpoint and the number of
// files written.
func Export(ctx context.Context, db *kv.DB, dir string) (c Checkpoint, written int, err error) {
	err = View(db, func(t Txn) error {
		var ok bool
		if c, ok, err = t.Latest(); err != nil || !ok {
			return errors.Join(err, notSigned(ok))
		}
		before := int64(0)
		if old, err := disk.ReadFile(disk.OS{}, filepath.Join(dir, CheckpointFile), maxNote); err == nil {
			if _, tree, err := ParseNote(old); err == nil {
				if err := t.contains(old, "the checkpoint in "+dir); err != nil {
					return err
				}
				before = tree.N
			}
		}
		for _, tile := range tilesOf(before, c.Size) {
			b, err := t.File(tile.path())
			if err != nil {
				return err
			}
			name := filepath.Join(dir, filepath.FromSlash(tile.path()))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				return err
			}
			if err := disk.WriteFile(disk.OS{}, name, b, 0o644); err != nil {
				return err
			}
			written++
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		stamp := filepath.Join(dir, TimeStampFile)
		if err := os.Remove(stamp); err != nil && !errors.Is(err, fs.ErrNotExist) { // of the checkpoint before
			return err
		}
		if err := disk.WriteFile(disk.OS{}, filepath.Join(dir, CheckpointFile), c.Note, 0o644); err != nil || len(c.TimeStamp) == 0 {
			return err
		}
		return disk.WriteFile(disk.OS{}, stamp, c.TimeStamp, 0o644)
	})
	if err != nil {
		return c, written, fmt.Errorf("export the transparency log: %w", err)
	}
	return c, written, nil
}

func notSigned(signed bool) error {
	if signed {
		return nil
	}
	return fmt.Errorf("no checkpoint has been signed yet; 'odarchive log sign' signs one: %w", ErrNotLogged)
}
