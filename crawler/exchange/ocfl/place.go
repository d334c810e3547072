package ocfl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Objects are put into their places together, so that what they consist of is made durable by one call.
const (
	pendingObjects = 256
	pendingBytes   = 256 << 20
)

// oldPrefix begins the name of an object that was taken from its place, before its successor is there.
const oldPrefix = "old-"

// End implements preserve.Receiver. The object is in its place at the latest when Close returns.
func (r *Root) End(context.Context) error {
	o := r.current
	r.current = nil
	if o == nil || o.bad {
		if o != nil {
			return os.RemoveAll(o.dir)
		}
		return nil
	}
	if len(o.inv.Versions) == o.had {
		return nil
	}
	if len(o.inv.Fixity) == 0 {
		o.inv.Fixity = nil
	}
	if len(o.inv.Versions) > maxInventories {
		if err := o.writeInventory(filepath.Join(o.dir, o.inv.Head)); err != nil {
			return fmt.Errorf("ocfl: %w", err)
		}
	}
	if err := o.writeInventory(o.dir); err != nil {
		return fmt.Errorf("ocfl: %w", err)
	}
	r.pending = append(r.pending, o)
	r.bytes += o.bytes
	if len(r.pending) >= pendingObjects || r.bytes >= pendingBytes {
		return r.flush()
	}
	return nil
}

// flushIf puts the pending objects into their places if one of them is that of a URL.
func (r *Root) flushIf(url string) error {
	for _, o := range r.pending {
		if o.about.URL == url {
			return r.flush()
		}
	}
	return nil
}

// flush puts the pending objects into their places, each at once.
func (r *Root) flush() error {
	if len(r.pending) == 0 {
		return nil
	}
	if err := syncAll(r.dir); err != nil {
		return fmt.Errorf("ocfl: %w", err)
	}
	for _, o := range r.pending {
		if err := r.place(o); err != nil {
			return fmt.Errorf("ocfl: %s: %w", o.about.URL, err)
		}
		r.Written.Objects++
		r.Written.Versions += len(o.inv.Versions) - o.had
		r.Written.Bytes += o.bytes
		if o.about.Anew && o.existing {
			r.Written.Rewritten++
		}
	}
	r.pending, r.bytes = nil, 0
	return nil
}

// place puts an object into its place.
func (r *Root) place(o *object) error {
	if !o.existing {
		return r.moveTo(o.dir, o.about.URL)
	}
	place := filepath.Join(r.dir, pathOf(o.about.URL))
	if err := exchange(o.dir, place); err == nil {
		return os.RemoveAll(o.dir) // the former one is there now
	} else if !errors.Is(err, errNoExchange) {
		return err
	}
	old := filepath.Join(r.staging, oldPrefix+hashOf(o.about.URL))
	if err := os.Rename(place, old); err != nil {
		return err
	}
	if err := os.Rename(o.dir, place); err != nil {
		return errors.Join(err, os.Rename(old, place))
	}
	return os.RemoveAll(old)
}

// moveTo moves a folder to the place of a new object. Folders above it that are missing come with it, since a root has
// no empty folders (OCFL 1.1 §4.2).
func (r *Root) moveTo(from, id string) error {
	place := filepath.Join(r.dir, pathOf(id))
	top := place // the folder that is moved
	for above := filepath.Dir(top); ; above = filepath.Dir(top) {
		if _, err := os.Lstat(above); err == nil {
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		top = above
	}
	if top == place {
		return os.Rename(from, place)
	}
	inner, err := filepath.Rel(top, place)
	if err != nil {
		return err
	}
	carrier := filepath.Join(r.staging, "carrier-"+hashOf(id))
	within := filepath.Join(carrier, inner)
	if err := os.MkdirAll(filepath.Dir(within), 0o777); err != nil {
		return err
	}
	if err := os.Rename(from, within); err != nil {
		return err
	}
	return os.Rename(carrier, top)
}
