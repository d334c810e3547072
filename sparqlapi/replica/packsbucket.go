package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// With --bytes, the replica reads closed packs from the bucket in which the writer keeps them, and copies only those
// that are not there yet. Their copies are dropped when they are.

// Packs returns the file system of the packs; nil if all of them are in the folder.
func (f *Follower) Packs() disk.FS {
	if f.mirror.bucket == nil {
		return nil
	}
	return f.mirror.bucket
}

// bytesURL returns the URL of the bucket: that of the settings, or the one that the mark remembers.
func (f *Follower) bytesURL(m mark) string {
	if f.opts.Here {
		return ""
	}
	return cmp.Or(f.opts.Bytes, m.Bytes)
}

// openBucket opens the bucket, if there is one, and has not been opened yet.
func (f *Follower) openBucket(ctx context.Context) error {
	if f.bytes == "" || f.mirror.bucket != nil {
		return nil
	}
	b, err := bucket.Open(ctx, f.bytes, bucket.Options{Logger: f.log})
	if err == nil {
		err = disk.MakeDir(f.mirror.fs, f.mirror.dir, 0o755)
	}
	if err == nil {
		f.mirror.bucket, err = content.Follow(ctx, f.mirror.dir, b, f.opts.Cache, f.log)
	}
	if err != nil {
		return fmt.Errorf("the bucket of the writer's packs: %w", err)
	}
	return nil
}

// refresh returns the names of the files in the bucket.
func (m *mirror) refresh(ctx context.Context) []string {
	if m.bucket == nil {
		return nil
	}
	return m.bucket.Refresh(ctx)
}

func (m *mirror) isStored(f content.PackFile) bool {
	return m.bucket != nil && m.bucket.Stored(f.Name, f.Size)
}

// leave drops the copies of a file that is in the bucket.
func (m *mirror) leave(f content.PackFile) error {
	if f.Hash() != "" {
		open := openNameOf(f.Number())
		if err := m.forget(open); err != nil {
			return err
		}
		if err := m.fs.Remove(filepath.Join(m.dir, open)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return m.bucket.Drop(f.Name)
}
