package bagit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"odarchive/crawler/exchange/preserve"

	"golang.org/x/text/encoding"
)

// Read reads a bag, a folder or a zip, into to. All its digests are checked before anything is received: damaged files
// are refused, and the others received. bad is called for each fault.
//
// In bags of others, each payload file is a file, whose address is by preserve.Address from the External-Identifier, or
// the name of the bag; base may be "". It is of the Bagging-Date, or of the time of bagit.txt. Files of more than max
// bytes count as damaged.
func Read(ctx context.Context, name, base string, max int64, to preserve.Receiver, bad func(error)) error {
	s, err := openSource(ctx, name)
	if err != nil {
		return err
	}
	r := &reading{source: s, max: max, to: to, bad: func(err error) { bad(fmt.Errorf("%s: %w", name, err)) }}
	err = r.read(ctx, strings.TrimSuffix(filepath.Base(filepath.Clean(name)), ".zip"), base)
	if err = errors.Join(err, s.close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// reading is a bag that is read.
type reading struct {
	*source
	max      int64
	to       preserve.Receiver
	bad      func(error)
	version  string            // of BagIt
	encoding encoding.Encoding // of tag files; nil for UTF-8
	payload  map[string]digests
	tags     map[string]digests
	info     map[string]string // labels in lower case; the first of a label
	damaged  map[string]bool
}

func (r *reading) read(ctx context.Context, name, base string) error {
	if err := r.declaration(); err != nil {
		return err
	}
	if err := r.manifests(); err != nil {
		return err
	}
	if err := r.readInfo(); err != nil {
		return err
	}
	if err := r.checkFetch(); err != nil {
		return err
	}
	r.compare()
	if err := r.checkAll(ctx); err != nil {
		return err
	}
	if _, own := r.sizes[versionsFile]; own {
		return r.sendOwn(ctx)
	}
	return r.sendOthers(ctx, name, base)
}

// sendOwn receives the versions of a bag of this program.
func (r *reading) sendOwn(ctx context.Context) error {
	if r.damaged[versionsFile] || r.tags[versionsFile] == nil {
		r.bad(fmt.Errorf("%s, which describes the versions, is damaged or in no manifest: nothing is imported", versionsFile))
		return nil
	}
	f, err := r.open(versionsFile)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	current, skip, number := "", false, 1
	for ; lines.Scan(); number++ {
		var v preserve.Version
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		if err := d.Decode(&v); err != nil || v.URL == "" {
			r.bad(fmt.Errorf("%s: line %d is not the description of a version: %w", versionsFile, number, cmpError(err)))
			continue
		}
		if v.URL != current {
			if err := r.end(ctx, current, skip); err != nil {
				return err
			}
			current = v.URL
			err := r.to.Begin(ctx, preserve.Object{URL: v.URL, Title: v.Title, Format: v.Format, Sources: v.Sources})
			skip = err != nil
			if err := r.refused(v.URL, err); err != nil {
				return err
			}
		}
		if skip {
			continue
		}
		if err := r.refused(v.URL, r.send(ctx, v)); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		r.bad(fmt.Errorf("%s: line %d, and those after it, are not read: %w", versionsFile, number, err))
	}
	return r.end(ctx, current, skip)
}

func cmpError(err error) error {
	if err == nil {
		return errors.New("it has no url")
	}
	return err
}

// send receives one version.
func (r *reading) send(ctx context.Context, v preserve.Version) error {
	if v.Path == "" && v.Withdrawal != nil {
		return r.to.Version(ctx, v, nil)
	}
	want := r.payload[v.Path]
	if r.damaged[v.Path] {
		return nil // it has been reported
	}
	if want == nil {
		return preserve.Badf("version %d: %.200q is in no manifest", v.N, v.Path)
	}
	body, err := r.body(ctx, v.Path, want)
	if err != nil {
		return err
	}
	return errors.Join(r.to.Version(ctx, v, body), body.file.Close())
}

func (r *reading) end(ctx context.Context, url string, skip bool) error {
	if url == "" || skip {
		return nil
	}
	return r.refused(url, r.to.End(ctx))
}

// refused reports an error of one version or file, and returns others.
func (r *reading) refused(url string, err error) error {
	if _, is := errors.AsType[*preserve.Bad](err); is {
		r.bad(fmt.Errorf("%s: %w", url, err))
		return nil
	}
	return err
}

// sendOthers receives the files of a bag of another program.
func (r *reading) sendOthers(ctx context.Context, name, base string) error {
	at, err := time.Parse(time.DateOnly, r.info["bagging-date"])
	if err != nil {
		at = r.modified.UTC().Truncate(time.Second)
	}
	id := r.info["external-identifier"]
	if id == "" {
		id = name
	}
	for _, p := range r.names() {
		if r.payload[p] == nil {
			continue
		}
		inner := strings.TrimPrefix(p, "data/")
		url := preserve.Address(base, id, inner, len(r.payload) == 1)
		if err := r.to.Begin(ctx, preserve.Object{URL: url}); err != nil {
			if err := r.refused(url, err); err != nil {
				return err
			}
			continue
		}
		v := preserve.Version{URL: url, Time: at, FileName: path.Base(inner), Size: r.sizes[p], Path: p}
		if err := r.refused(url, r.send(ctx, v)); err != nil {
			return err
		}
		if err := r.end(ctx, url, false); err != nil {
			return err
		}
	}
	return nil
}
