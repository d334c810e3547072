package store

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// unpackFormer unpacks testdata/format2.tar.gz, a data directory that a program of format 2 wrote: six URLs and six
// versions, two of them of one URL, whose columns were indexed.
func unpackFormer(t *testing.T) string {
	t.Helper()
	return unpack(t, "testdata/format2.tar.gz")
}

// unpack returns a directory with the files of an archive.
func unpack(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for all := tar.NewReader(z); ; {
		h, err := all.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			var raw []byte
			if raw, err = io.ReadAll(all); err == nil {
				writeTo(t, dir, filepath.FromSlash(h.Name), string(raw))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// told is what an archive says of itself, in lines.
type told struct{ resources, versions, inside, matches, quads []string }

func tell(t *testing.T, s *Store) (all told) {
	t.Helper()
	ctx := t.Context()
	a := s.Archive
	err := a.Resources(ctx, "", func(r catalog.Resource) bool {
		all.resources = append(all.resources, fmt.Sprintf("%+v", r))
		for n := range r.Versions {
			id := fmt.Sprintf("%s_%d", r.ID, n)
			v, err := a.Version(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			in, err := a.Inside(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			all.versions = append(all.versions, fmt.Sprintf("%+v", v))
			for _, p := range in.Tables {
				for i := range p.Columns {
					p.Columns[i].Sketch = nil
				}
				text, err := json.Marshal(p)
				if err != nil {
					t.Fatal(err)
				}
				all.inside = append(all.inside, id+" "+string(text))
			}
			matches, err := a.Joins(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range matches {
				all.matches = append(all.matches, fmt.Sprintf("%s %s %v", place(m.Column), place(m.Other), m.Containment))
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Quads(ctx, func(quads []term.Quad) error {
		for _, q := range quads {
			all.quads = append(all.quads, fmt.Sprint(q))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all.matches)
	slices.Sort(all.quads)
	all.quads = slices.Compact(all.quads)
	return all
}

func place(p joins.Place) string {
	return fmt.Sprintf("%s/%s/%d/%d", p.Version, p.Member, p.Table, p.Column)
}

func formerConfig(dir string) config.Config {
	cfg := config.Defaults()
	cfg.Data = dir
	return cfg
}

func TestADirectoryOfFormat2IsUpgraded(t *testing.T) {
	t.Parallel()
	dir := unpackFormer(t)
	open := func(opts Options) *Store {
		t.Helper()
		s, err := Open(t.Context(), formerConfig(dir), slog.New(slog.DiscardHandler), opts)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(Options{Reads: IfUnwritable})
	for n := 1; n > 0; {
		var err error
		if n, err = s.Archive.Join(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	upgraded := tell(t, s)
	kinds := map[byte]int{}
	plain := 0
	err := s.DB.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceArchive, nil, nil, func(k, v []byte) (bool, error) {
			kinds[k[0]]++
			if strings.ContainsRune("rvpx", rune(k[0])) && len(v) > 0 && v[0] == '{' && len(v) > 300 {
				plain++
			}
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if kinds['r'] != 6 || kinds['v'] != 6 || kinds['p'] != 6 || plain > 0 {
		t.Errorf("kinds of records %v, %d as older programs wrote them", maps.Collect(maps.All(kinds)), plain)
	}
	if kinds['q'] != 5 { // of the latest versions
		t.Errorf("%d records of sketches", kinds['q'])
	}
	if len(upgraded.matches) == 0 || len(upgraded.versions) != 6 {
		t.Errorf("%d versions, %d matches", len(upgraded.versions), len(upgraded.matches))
	}
	stored := quadsIn(t, s)
	for _, q := range upgraded.quads {
		if !stored[q] {
			t.Errorf("a record says what no triple does: %s", q)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	again := open(Options{})
	defer again.Close()
	if got := tell(t, again); !slices.Equal(got.resources, upgraded.resources) || !slices.Equal(got.inside, upgraded.inside) || !slices.Equal(got.quads, upgraded.quads) {
		t.Error("opening it again changes it")
	}
	if n := again.Archive.Unjoined(); n != 0 {
		t.Errorf("%d versions wait to be indexed again", n)
	}
	if !strings.Contains(readFrom(t, dir, directoryFile), fmt.Sprintf(`"format":%d`, formatVersion)) {
		t.Error("an older program would open the directory")
	}
}

// quadsIn returns the quads of the triple store.
func quadsIn(t *testing.T, s *Store) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	if err := s.Triples.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error { all[fmt.Sprint(q)] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestAnUpgradeThatIsInterruptedGoesOn ends upgrades after some transactions, and compares the result with that of one
// that was not interrupted.
func TestAnUpgradeThatIsInterruptedGoesOn(t *testing.T) {
	t.Parallel()
	var want told
	for stop := -1; stop < 8; stop++ {
		dir := unpackFormer(t)
		ctx, cancel := context.WithCancel(t.Context())
		if stop >= 0 {
			left := stop
			s, err := Open(stopping{ctx, &left}, formerConfig(dir), slog.New(slog.DiscardHandler), Options{})
			if err == nil {
				err = s.Close()
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		s, err := Open(ctx, formerConfig(dir), slog.New(slog.DiscardHandler), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := tell(t, s)
		if stop < 0 {
			want = got
		}
		if !slices.Equal(got.resources, want.resources) || !slices.Equal(got.versions, want.versions) || !slices.Equal(got.inside, want.inside) || !slices.Equal(got.quads, want.quads) {
			t.Errorf("interrupted after %d steps, the upgrade ends otherwise", stop)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		cancel()
	}
}

// stopping is a context that is cancelled once it was asked left times.
type stopping struct {
	context.Context
	left *int
}

func (s stopping) Err() error {
	if *s.left--; *s.left < 0 {
		return context.Canceled
	}
	return s.Context.Err()
}
