package sink

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Files is a target: a folder with a Turtle file, compressed with gzip, for each graph. The default graph is in
// metadata.ttl.gz. The path of another graph is XX/SHA256.ttl.gz: the SHA-256 of the graph's name, in a folder named by
// its first two digits. The first line of the file is a comment with the name. The files of changed graphs are written
// anew; position.json is written after all of them are on the disk.
type Files struct{ Dir string }

// Names in the folder.
const (
	metadataFile = "metadata.ttl.gz"
	positionFile = "position.json"
	turtleSuffix = ".ttl.gz"
)

// Sync implements Target.
func (t Files) Sync(ctx context.Context, s Source, wait time.Duration) (round Round, err error) {
	at, known, err := readPosition(filepath.Join(t.Dir, positionFile))
	if err != nil {
		return round, err
	}
	var next Position
	changed := map[term.Key]bool{}
	if known {
		next, err = s.Changes(ctx, at, wait, func(c triplestore.Commit) error {
			for _, q := range c.Removed {
				changed[q.G] = true
			}
			for _, q := range c.Added {
				changed[q.G] = true
			}
			round.Added += int64(len(c.Added))
			round.Removed += int64(len(c.Removed))
			return nil
		})
	}
	if !known || errors.Is(err, ErrGone) {
		round = Round{Begun: true}
		next, err = t.all(ctx, s, &round)
	} else if err == nil {
		for g := range changed {
			if err = t.write(ctx, s, g, &round); err != nil {
				break
			}
		}
	}
	if err != nil {
		return round, err
	}
	round.Position = next
	if known && next == at && !round.Begun {
		return round, nil
	}
	return round, writePosition(filepath.Join(t.Dir, positionFile), next)
}

// all writes every graph, and removes the files of graphs that no longer exist.
func (t Files) all(ctx context.Context, s Source, round *Round) (Position, error) {
	at, err := s.Position(ctx) // the next round applies again what changes while the files are written
	if err != nil {
		return at, err
	}
	if err := os.MkdirAll(t.Dir, 0o755); err != nil {
		return at, err
	}
	written := map[string]bool{}
	one := func(g term.Key) error {
		written[fileOf(g)] = true
		return t.write(ctx, s, g, round)
	}
	if err := s.Graphs(ctx, one); err != nil {
		return at, err
	}
	if err := one(""); err != nil {
		return at, err
	}
	return at, filepath.WalkDir(t.Dir, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(t.Dir, path)
		if err != nil || relErr != nil || d.IsDir() {
			return errors.Join(err, relErr)
		}
		if isOurs(filepath.ToSlash(name)) && !written[filepath.ToSlash(name)] {
			return os.Remove(path)
		}
		return nil
	})
}

// fileOf returns the path of a graph's file in the folder, with slashes.
func fileOf(g term.Key) string {
	if g == "" {
		return metadataFile
	}
	sum := sha256.Sum256([]byte(g.Value()))
	name := hex.EncodeToString(sum[:])
	return name[:2] + "/" + name + turtleSuffix
}

// isOurs reports whether a path is one that fileOf returns for a named graph, or that of its temporary file.
func isOurs(name string) bool {
	dir, file, ok := strings.Cut(name, "/")
	file, whole := strings.CutSuffix(file, turtleSuffix)
	if !whole {
		file, whole = strings.CutSuffix(file, turtleSuffix+temporarySuffix)
	}
	_, err := hex.DecodeString(file)
	return ok && whole && err == nil && len(file) == 2*sha256.Size && strings.HasPrefix(file, dir)
}

// write writes the file of a graph from its current state, or removes it if the graph is empty.
func (t Files) write(ctx context.Context, s Source, g term.Key, round *Round) error {
	path := filepath.Join(t.Dir, filepath.FromSlash(fileOf(g)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	n := int64(0)
	err := replaceFile(path, func(f *os.File) error {
		zip := gzip.NewWriter(f)
		text := bufio.NewWriterSize(zip, 64<<10)
		if g != "" {
			if _, err := fmt.Fprintf(text, "# %s\n", graphName(g)); err != nil {
				return err
			}
		}
		out := rdfio.NewWriter(text, rdfio.Turtle(), vocab.Prefixes())
		err := s.Graph(ctx, g, func(q term.Quad) error {
			n++
			return out.Write(q)
		})
		if err != nil {
			return err
		}
		if err := errors.Join(out.Close(), text.Flush()); err != nil {
			return err
		}
		return zip.Close()
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	round.Files++
	if n == 0 && g != "" {
		return os.Remove(path)
	}
	if round.Begun {
		round.Added += n
	}
	return nil
}

// graphName returns the name of a graph for the comment in its file.
func graphName(g term.Key) string {
	if g.Kind() == term.KindBlank {
		return "_:" + rdfio.BlankLabel(g.Value())
	}
	return iriText(g)
}

const temporarySuffix = ".tmp"

// replaceFile replaces a file atomically: after a crash, the old or the new file is there as a whole.
func replaceFile(path string, write func(*os.File) error) (err error) {
	f, err := os.Create(path + temporarySuffix)
	if err != nil {
		return err
	}
	defer func() {
		f.Close()
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// storedPosition is the content of a file with the position that a copy has reached.
type storedPosition struct {
	Log      string   `json:"log"`
	Position uint64   `json:"position"`
	Graph    term.Key `json:"graph,omitempty"` // of an HDT file
	Size     int64    `json:"size,omitempty"`  // of an HDT file, in bytes
}

// readPosition reads the position from a file. known is false if the file does not exist.
func readPosition(path string) (p Position, known bool, err error) {
	s, known, err := readStored(path)
	return Position{s.Log, s.Position}, known, err
}

func readStored(path string) (s storedPosition, known bool, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return s, false, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return s, false, fmt.Errorf("%s: %w; remove it to have everything written again", path, err)
	}
	return s, true, nil
}

func writePosition(path string, p Position) error {
	return writeStored(path, storedPosition{Log: p.Log, Position: p.N})
}

func writeStored(path string, s storedPosition) error {
	raw, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return replaceFile(path, func(f *os.File) error {
		_, err := f.Write(append(raw, '\n'))
		return err
	})
}
