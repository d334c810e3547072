package store

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// Salvaged is a file that was found in the packs. JSON names are stable.
type Salvaged struct {
	SHA256  string          `json:"sha256"`
	MD5     string          `json:"md5"`
	Size    int64           `json:"size"`
	Label   json.RawMessage `json:"label,omitempty"`   // from the crawl: url, time, type
	Missing int             `json:"missing,omitempty"` // segments that no pack contains
	Saved   string          `json:"saved,omitempty"`   // path it was written to
	Error   string          `json:"error,omitempty"`   // why it was not written
}

// SalvageReport counts what the packs contain. JSON names are stable.
type SalvageReport struct {
	Packs    int           `json:"packs"`
	Segments int64         `json:"segments"`
	Files    int           `json:"files"`
	Whole    int           `json:"whole"` // with all segments
	Saved    int           `json:"saved"`
	Failed   int           `json:"failed"` // could not be written
	Damages  []disk.Damage `json:"damages"`
}

// Err returns an error if files could not be written or the packs are damaged.
func (r SalvageReport) Err() error {
	switch {
	case r.Failed > 0:
		return fmt.Errorf("%d of %d files could not be written", r.Failed, r.Files)
	case len(r.Damages) > 0 || r.Whole < r.Files:
		return errors.New("the packs are damaged")
	}
	return nil
}

// Salvage reads the packs of a data directory without the database and calls each for every file they describe. If into
// is not empty, Salvage also writes the files there, named by their SHA-256. It changes nothing in the data directory.
// Packs that are only in a bucket are read there, unless cfg.Bytes is config.BytesHere.
func Salvage(ctx context.Context, cfg config.Config, into string, log *slog.Logger, each func(Salvaged) error) (r SalvageReport,
	err error) {
	packs, shut, err := salvagePacks(ctx, cfg, log)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, shut()) }()
	if into != "" {
		if err := os.MkdirAll(into, 0o700); err != nil {
			return r, err
		}
	}
	read, err := content.Salvage(ctx, packs, filepath.Join(cfg.Data, "packs"), func(f content.SalvagedFile) error {
		s := Salvaged{SHA256: f.SHA256.String(), MD5: hex.EncodeToString(f.MD5[:]), Size: f.Size, Missing: f.Missing}
		if len(f.Label) > 0 {
			if s.Label = f.Label; !json.Valid(s.Label) {
				s.Label = nil
			}
		}
		if into != "" {
			name := filepath.Join(into, s.SHA256)
			if err := saveSalvaged(name, &f); err != nil {
				if ctx.Err() != nil || disk.IsFull(err) {
					return err
				}
				s.Error = err.Error()
				r.Failed++
			} else {
				s.Saved = name
				r.Saved++
			}
		}
		return each(s)
	})
	r.Packs, r.Segments, r.Files, r.Whole, r.Damages = read.Packs, read.Segments, read.Files, read.Whole, read.Damages
	if r.Damages == nil {
		r.Damages = []disk.Damage{}
	}
	return r, err
}

// salvagePacks returns the file system of the packs of a data directory, and what closes it.
func salvagePacks(ctx context.Context, cfg config.Config, log *slog.Logger) (packs disk.FS, shut func() error, err error) {
	url := cfg.Bytes
	if url == "" {
		url = knownBytes(cfg.Data)
	}
	dir := filepath.Join(cfg.Data, "packs")
	if url == config.BytesHere || url == "" {
		if _, err := os.Stat(filepath.Join(dir, content.BucketJournal)); err == nil {
			log.Warn("packs of this archive are in a bucket: those that are not here are not read; --bytes URL names the bucket")
		}
		return disk.OS{}, func() error { return nil }, nil
	}
	b, err := bucket.Open(ctx, url, bucket.Options{Logger: log})
	if err == nil {
		both, err2 := content.FollowBeside(ctx, dir, b, log)
		if err2 == nil {
			return both, both.Close, nil
		}
		err = err2
	}
	return nil, nil, fmt.Errorf(
		"the bucket that holds packs of this archive cannot be read (--bytes none reads only those that are here): %w", err)
}

// knownBytes returns the URL of the bucket that a directory remembers, "" if it remembers none, or cannot be read.
func knownBytes(data string) string {
	if kv.IsReplica(data) {
		url, _ := replicaBytes(data)
		return url
	}
	d, _ := describe(disk.OS{}, data, time.Now())
	return d.Bytes
}

// saveSalvaged writes a file, which gets its name only once it is complete.
func saveSalvaged(name string, f *content.SalvagedFile) error {
	part, err := os.Create(name + ".part")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(part, 1<<20)
	_, err = f.WriteTo(out)
	if err == nil {
		err = out.Flush()
	}
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}
