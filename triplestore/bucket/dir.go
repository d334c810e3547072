package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"odarchive/triplestore/disk"
)

// dir is a bucket in a directory: one file an object. Puts write to .tmp and rename. Conditional Puts and Deletes hold
// a lock on the file .lock, so several processes of one machine may share the directory.
type dir struct {
	root string
	turn chan struct{} // has room for the one that changes something, with the lock of .lock, which excludes only other processes
	wait time.Duration // for the lock
}

// lockWait bounds the wait for other processes. Each holds the lock for one change of a name; one that is stopped in
// its midst holds it until it goes on or ends.
const lockWait = 10 * time.Second

var _ Bucket = (*dir)(nil)

// hiddenTemp is the folder of files that are being written; keys do not begin with a dot.
const hiddenTemp = ".tmp"

func openDir(_ context.Context, root string) (Bucket, error) {
	if err := disk.MakeDir(disk.OS{}, filepath.Join(root, hiddenTemp), 0o755); err != nil {
		return nil, fmt.Errorf("bucket: open directory: %w", denied(err))
	}
	return &dir{root: root, turn: make(chan struct{}, 1), wait: lockWait}, nil
}

func (d *dir) path(key string) string { return filepath.Join(d.root, filepath.FromSlash(key)) }

// locked runs change while no other Put or Delete changes a name. The error is ErrUnavailable if another process does
// so for longer than d.wait.
func (d *dir) locked(ctx context.Context, change func() error) error {
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f, err := os.OpenFile(filepath.Join(d.root, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	limited, cancel := context.WithTimeoutCause(ctx, d.wait,
		fmt.Errorf("%w: another process has held its lock for %s; if it is stopped, let it go on or end it", ErrUnavailable, d.wait))
	defer cancel()
	if err := lockFile(limited, f); err != nil {
		return err
	}
	return change()
}

// Put implements Bucket.
func (d *dir) Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o PutOptions) error {
	if err := checkPut(key, size, o); err != nil {
		return err
	}
	temp, err := d.write(ctx, size, body)
	if err != nil {
		return fmt.Errorf("bucket: put %s: %w", key, denied(err))
	}
	defer os.Remove(temp)
	err = d.locked(ctx, func() error {
		if o.IfAbsent || o.IfMatch != "" {
			info, err := d.Stat(ctx, key)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			if o.IfAbsent && err == nil {
				return ErrExists
			}
			if o.IfMatch != "" && (err != nil || info.ETag != o.IfMatch) {
				return ErrChanged
			}
		}
		if err := disk.MakeDir(disk.OS{}, filepath.Dir(d.path(key)), 0o755); err != nil {
			return err
		}
		if err := os.Rename(temp, d.path(key)); err != nil {
			return err
		}
		return disk.OS{}.SyncDir(filepath.Dir(d.path(key)))
	})
	if err != nil {
		return fmt.Errorf("bucket: put %s: %w", key, denied(err))
	}
	return nil
}

// write writes the bytes of an object to a durable temporary file.
func (d *dir) write(ctx context.Context, size int64, body io.Reader) (name string, err error) {
	f, err := os.CreateTemp(filepath.Join(d.root, hiddenTemp), "put-*")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, contextReader{ctx, io.LimitReader(body, size)})
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Get implements Bucket.
func (d *dir) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Info, error) {
	if err := CheckKey(key); err != nil {
		return nil, Info{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, Info{}, fmt.Errorf("bucket: get %s: %w", key, err)
	}
	f, err := os.Open(d.path(key))
	if err != nil {
		return nil, Info{}, dirError("get", key, err)
	}
	info, err := d.infoOf(f.Stat())
	if err != nil {
		f.Close()
		return nil, Info{}, dirError("get", key, err)
	}
	info.Key = key
	if length < 0 || length > info.Size {
		length = info.Size
	}
	return struct {
		io.Reader
		io.Closer
	}{contextReader{ctx, io.NewSectionReader(f, max(offset, 0), length)}, f}, info, nil
}

// Stat implements Bucket.
func (d *dir) Stat(ctx context.Context, key string) (Info, error) {
	if err := CheckKey(key); err != nil {
		return Info{}, err
	}
	if err := context.Cause(ctx); err != nil {
		return Info{}, fmt.Errorf("bucket: stat %s: %w", key, err)
	}
	info, err := d.infoOf(os.Stat(d.path(key)))
	if err != nil {
		return Info{}, dirError("stat", key, err)
	}
	info.Key = key
	return info, nil
}

// infoOf makes an ETag of what changes when another file takes a file's place.
func (d *dir) infoOf(st fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	if !st.Mode().IsRegular() {
		return Info{}, fs.ErrNotExist
	}
	return Info{Size: st.Size(), ETag: fmt.Sprintf("%x-%x-%x", identity(st), st.ModTime().UnixNano(), st.Size()), Modified: st.ModTime()},
		nil
}

func dirError(op, key string, err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		err = ErrNotFound
	}
	return fmt.Errorf("bucket: %s %s: %w", op, key, denied(err))
}

// denied makes an error about missing permission an ErrRefused.
func denied(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// List implements Bucket.
func (d *dir) List(ctx context.Context, prefix, after string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		d.walk(ctx, "", prefix, after, yield)
	}
}

// walk yields the objects below a folder, whose key is empty or ends with a slash. It reports whether to go on.
func (d *dir) walk(ctx context.Context, folder, prefix, after string, yield func(Info, error) bool) bool {
	if err := context.Cause(ctx); err != nil {
		return yield(Info{}, fmt.Errorf("bucket: list: %w", err))
	}
	entries, err := os.ReadDir(d.path(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		yield(Info{}, fmt.Errorf("bucket: list: %w", denied(err)))
		return false
	}
	var keys []string
	for _, e := range entries {
		key := folder + e.Name()
		if e.IsDir() {
			key += "/" // so that folders are in the order of the keys in them
		}
		if e.Name()[0] != '.' && (strings.HasPrefix(key, prefix) || e.IsDir() && strings.HasPrefix(prefix, key)) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if strings.HasSuffix(key, "/") {
			if (key > after || strings.HasPrefix(after, key)) && !d.walk(ctx, key, prefix, after, yield) {
				return false
			}
			continue
		}
		if key <= after {
			continue
		}
		info, err := d.Stat(ctx, key)
		if errors.Is(err, ErrNotFound) {
			continue // deleted since
		}
		if !yield(info, err) || err != nil {
			return false
		}
	}
	return true
}

// Delete implements Bucket.
func (d *dir) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("bucket: delete %s: %w", key, err)
	}
	err := d.locked(ctx, func() error {
		err := os.Remove(d.path(key))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		if err != nil {
			return err
		}
		return disk.OS{}.SyncDir(filepath.Dir(d.path(key)))
	})
	if err != nil {
		return fmt.Errorf("bucket: delete %s: %w", key, err)
	}
	return nil
}

// contextReader fails once its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
