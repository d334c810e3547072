// Package bagit writes and reads bags (The BagIt File Packaging Format, RFC 8493), as folders and as zips.
//
// A bag of this program has the bytes of each version as data/HOST/HASH/N-NAME, where HASH is that of the URL, and
// odarchive/versions.jsonl, a tag file with the description of each version (preserve.Version), one on a line.
package bagit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"path"
	"strings"
	"time"

	"odarchive/crawler/exchange/preserve"
)

// Options say what a bag is like.
type Options struct {
	SHA512 bool // also list the SHA-512 of each file
	// Holey leaves the bytes out: fetch.txt says where to get them, which is at the IRIs of the versions.
	Holey bool

	Date         time.Time // Bagging-Date
	Agent        string    // Bag-Software-Agent
	Identifier   string    // External-Identifier, "" for none
	Description  string    // External-Description, "" for none
	Organization string    // Source-Organization, "" for none
	Temp         string    // folder for temporary files, "" for that of the system
}

// versionsFile describes the versions in a bag of this program.
const versionsFile = "odarchive/versions.jsonl"

// Bag is a bag that is written. It is a preserve.Receiver for one goroutine.
type Bag struct {
	opts    Options
	out     container
	lists   []*list // payload manifests
	tags    []*list // manifests of tag files
	fetch   *temporary
	records *temporary

	object  preserve.Object
	Written Written
}

// Written counts what is in a bag.
type Written struct {
	Versions int   `json:"versions"`
	Bytes    int64 `json:"bytes"` // of the files, whether they are in the bag or to be fetched
}

var _ preserve.Receiver = (*Bag)(nil)

// list is a manifest of one algorithm.
type list struct {
	algorithm string
	sum       func() hash.Hash
	file      *temporary
}

// Create returns a new bag. A name that ends in .zip makes it a zip, which has its name when it is complete, as a
// folder has. The name must not exist.
func Create(name string, o Options) (*Bag, error) {
	out, err := create(name, o.Temp)
	if err != nil {
		return nil, fmt.Errorf("bagit: %w", err)
	}
	return newBag(out, o)
}

func newBag(out container, o Options) (_ *Bag, err error) {
	b := &Bag{opts: o, out: out}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("bagit: %w", err), b.Abandon())
		}
	}()
	for _, f := range []**temporary{&b.fetch, &b.records} {
		if *f, err = newTemporary(o.Temp); err != nil {
			return nil, err
		}
	}
	algorithms := []list{{"sha256", sha256.New, nil}}
	if o.SHA512 {
		algorithms = append(algorithms, list{"sha512", sha512.New, nil})
	}
	for _, a := range algorithms {
		for _, lists := range []*[]*list{&b.lists, &b.tags} {
			one := a
			if one.file, err = newTemporary(o.Temp); err != nil {
				return nil, err
			}
			*lists = append(*lists, &one)
		}
	}
	if err := b.out.folder("data"); err != nil { // also of a bag whose payload is to be fetched
		return nil, err
	}
	return b, b.putText("bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
}

// Begin implements preserve.Receiver.
func (b *Bag) Begin(_ context.Context, o preserve.Object) error {
	b.object = o
	return nil
}

// End implements preserve.Receiver.
func (b *Bag) End(context.Context) error { return nil }

// Version implements preserve.Receiver.
func (b *Bag) Version(ctx context.Context, v preserve.Version, body io.Reader) error {
	switch {
	case body == nil && v.Withdrawal == nil:
		return preserve.Badf("version %d has no bytes", v.N)
	case body != nil:
		v.Path = payloadPath(v)
		if err := b.putBody(ctx, v, body); err != nil {
			return err
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = b.records.Write(append(text, '\n'))
	return err
}

// payloadPath returns the path of a version's bytes.
func payloadPath(v preserve.Version) string {
	host := "unknown"
	if u, err := url.Parse(v.URL); err == nil && u.Host != "" {
		host = preserve.FileName(strings.ReplaceAll(u.Host, ":", "_"))
	}
	sum := sha256.Sum256([]byte(v.URL))
	return path.Join("data", host, hex.EncodeToString(sum[:8]),
		fmt.Sprintf("%d-%s", v.N, preserve.FileName(cmp.Or(v.FileName, path.Base(v.URL)))))
}

// putBody adds the bytes of a version, or says where they are.
func (b *Bag) putBody(ctx context.Context, v preserve.Version, body io.Reader) error {
	sums := make([]hash.Hash, len(b.lists))
	for i, l := range b.lists {
		sums[i] = l.sum()
	}
	in := &checked{ctx: ctx, r: body, sums: sums}
	end := func() error {
		if got := hex.EncodeToString(sums[0].Sum(nil)); v.SHA256 != "" && got != v.SHA256 || v.Size >= 0 && in.n != v.Size {
			return preserve.Badf("version %d: its bytes are not those of its record: SHA-256 %s, %d bytes", v.N, got, in.n)
		}
		return nil
	}
	if b.opts.Holey {
		_, err := io.Copy(io.Discard, in)
		if err == nil {
			err = end()
		}
		if err != nil {
			return err
		}
		if v.IRI == "" {
			return preserve.Badf("version %d has no address to fetch it from", v.N)
		}
		if _, err := fmt.Fprintf(b.fetch, "%s %d %s\n", v.IRI, in.n, escapePath(v.Path)); err != nil {
			return err
		}
	} else if err := b.out.put(v.Path, v.Time, in, end); err != nil {
		return err
	}
	for i, l := range b.lists {
		if _, err := fmt.Fprintf(l.file, "%x  %s\n", sums[i].Sum(nil), escapePath(v.Path)); err != nil {
			return err
		}
	}
	b.Written.Versions++
	b.Written.Bytes += in.n
	return nil
}

// checked counts and hashes what is read, and ends with its context.
type checked struct {
	ctx  context.Context
	r    io.Reader
	sums []hash.Hash
	n    int64
}

func (c *checked) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	for _, sum := range c.sums {
		sum.Write(p[:n])
	}
	c.n += int64(n)
	return n, err
}

// escapePath encodes what a manifest cannot hold in a path (RFC 8493 §2.1.3).
func escapePath(p string) string {
	return strings.NewReplacer("%", "%25", "\n", "%0A", "\r", "%0D").Replace(p)
}

// putText adds a tag file.
func (b *Bag) putText(name, text string) error { return b.putTag(name, strings.NewReader(text)) }

func (b *Bag) putTag(name string, text io.Reader) error {
	sums := make([]hash.Hash, len(b.tags))
	for i, l := range b.tags {
		sums[i] = l.sum()
	}
	in := &checked{ctx: context.Background(), r: text, sums: sums}
	if err := b.out.put(name, b.opts.Date, in, func() error { return nil }); err != nil {
		return err
	}
	for i, l := range b.tags {
		if _, err := fmt.Fprintf(l.file, "%x  %s\n", sums[i].Sum(nil), escapePath(name)); err != nil {
			return err
		}
	}
	return nil
}

// Close writes what describes the bag, and gives it its name.
func (b *Bag) Close() error {
	err := b.finish()
	if err == nil {
		err = b.out.close()
	} else {
		err = errors.Join(err, b.out.abandon())
	}
	b.remove()
	if err != nil {
		return fmt.Errorf("bagit: %w", err)
	}
	return nil
}

func (b *Bag) finish() error {
	if err := b.putTemporary(versionsFile, b.records); err != nil {
		return err
	}
	if b.opts.Holey {
		if err := b.putTemporary("fetch.txt", b.fetch); err != nil {
			return err
		}
	}
	for _, l := range b.lists {
		if err := b.putTemporary("manifest-"+l.algorithm+".txt", l.file); err != nil {
			return err
		}
	}
	if err := b.putText("bag-info.txt", b.info()); err != nil {
		return err
	}
	for _, l := range b.tags {
		text, err := l.file.reader()
		if err == nil {
			err = b.out.put("tagmanifest-"+l.algorithm+".txt", b.opts.Date, text, func() error { return nil })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Bag) putTemporary(name string, t *temporary) error {
	text, err := t.reader()
	if err != nil {
		return err
	}
	return b.putTag(name, text)
}

// info returns the content of bag-info.txt (§2.2.2).
func (b *Bag) info() string {
	var s strings.Builder
	for _, line := range [][2]string{
		{"Source-Organization", b.opts.Organization},
		{"External-Description", b.opts.Description},
		{"Bagging-Date", b.opts.Date.UTC().Format(time.DateOnly)},
		{"External-Identifier", b.opts.Identifier},
		{"Payload-Oxum", fmt.Sprintf("%d.%d", b.Written.Bytes, b.Written.Versions)},
		{"Bag-Software-Agent", b.opts.Agent},
	} {
		if value := strings.Join(strings.Fields(line[1]), " "); value != "" {
			s.WriteString(line[0] + ": " + value + "\n")
		}
	}
	return s.String()
}

// Abandon removes what was written.
func (b *Bag) Abandon() error {
	b.remove()
	return b.out.abandon()
}

func (b *Bag) remove() {
	files := []*temporary{b.fetch, b.records}
	for _, l := range append(b.lists, b.tags...) {
		files = append(files, l.file)
	}
	for _, f := range files {
		f.remove()
	}
}
