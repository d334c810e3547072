package bagit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"odarchive/crawler/preserve"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Read reads a bag, a folder or a zip, into to. All its digests are checked before anything is received: damaged files are
// refused, and the others received. bad is called for each fault.
//
// In bags of others, each payload file is a file, whose address is by preserve.Address from the External-Identifier, or the
// name of the bag; base may be "". It is of the Bagging-Date, or of the time of bagit.txt. Files of more than max bytes
// count as damaged.
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

// digests are those that manifests state of a file, by algorithm.
type digests map[string]string

// algorithms are those of manifests that this program knows.
func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha224":
		return sha256.New224()
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	}
	return nil
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

var bagVersion = regexp.MustCompile(`^BagIt-Version: ([0-9]+\.[0-9]+)$`)

// declaration reads bagit.txt (RFC 8493 §2.1.1).
func (r *reading) declaration() error {
	if _, there := r.sizes[declaration]; !there {
		return errNoBag
	}
	text, err := r.text(declaration)
	if err != nil {
		return err
	}
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	if len(lines) != 2 {
		return fmt.Errorf("%s has %d lines, expected 2", declaration, len(lines))
	}
	m := bagVersion.FindStringSubmatch(strings.TrimSpace(lines[0]))
	if m == nil {
		return fmt.Errorf("%s does not state the version", declaration)
	}
	r.version = m[1]
	label, name, _ := strings.Cut(lines[1], ":")
	name = strings.TrimSpace(name)
	switch {
	case label != "Tag-File-Character-Encoding":
		return fmt.Errorf("%s does not state the encoding of tag files", declaration)
	case strings.EqualFold(name, "UTF-8"):
	case strings.EqualFold(name, "ISO-8859-1"):
		r.encoding = charmap.ISO8859_1
	case strings.EqualFold(name, "UTF-16"):
		r.encoding = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	default:
		return fmt.Errorf("the encoding of its tag files is %.50q; this program reads UTF-8, UTF-16 and ISO-8859-1", name)
	}
	return nil
}

var manifestName = regexp.MustCompile(`^(tag)?manifest-([a-z0-9]+)\.txt$`)

// manifests reads the manifests (§2.1.3, §2.2.1).
func (r *reading) manifests() error {
	r.payload, r.tags = map[string]digests{}, map[string]digests{}
	known, others := 0, []string{}
	for _, name := range r.names() {
		m := manifestName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if newHash(m[2]) == nil {
			others = append(others, m[2])
			continue
		}
		all := r.tags
		if m[1] == "" {
			known++
			all = r.payload
		}
		if err := r.manifest(name, m[2], all); err != nil {
			return err
		}
	}
	switch {
	case known == 0 && len(others) > 0:
		return fmt.Errorf("its manifests have digests that this program cannot compute: %s", strings.Join(others, ", "))
	case known == 0:
		return errors.New("it has no manifest")
	}
	for p, d := range r.payload {
		if r.version >= "1.0" && len(d) != known {
			r.bad(fmt.Errorf("%.200q is not in every manifest", p))
			r.damage(p)
		}
	}
	return nil
}

func (r *reading) names() []string {
	names := make([]string, 0, len(r.sizes))
	for name := range r.sizes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *reading) damage(p string) {
	if r.damaged == nil {
		r.damaged = map[string]bool{}
	}
	r.damaged[p] = true
}

func (r *reading) manifest(name, algorithm string, all map[string]digests) error {
	text, err := r.decoded(name)
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		number++
		sum, p, ok := strings.Cut(strings.Replace(line, "\t", " ", 1), " ")
		p = unescapePath(strings.TrimPrefix(strings.TrimLeft(p, " \t"), "*"))
		p = strings.TrimPrefix(p, "./")
		if !ok || len(sum) != newHash(algorithm).Size()*2 || !isPath(p) || isPayload(p) == strings.HasPrefix(name, "tag") {
			return fmt.Errorf("%s: line %d is not a digest and a path in the bag", name, number)
		}
		if all[p] == nil {
			if len(all) == maxFiles {
				return fmt.Errorf("%s has more than %d files", name, maxFiles)
			}
			all[p] = digests{}
		}
		if before, twice := all[p][algorithm]; twice && before != strings.ToLower(sum) {
			return fmt.Errorf("%s: line %d: %.200q is there twice, with different digests", name, number, p)
		}
		all[p][algorithm] = strings.ToLower(sum)
	}
	return nil
}

// decoded returns a tag file in UTF-8.
func (r *reading) decoded(name string) (string, error) {
	text, err := r.text(name)
	if err == nil && r.encoding != nil {
		text, err = r.encoding.NewDecoder().String(text)
	}
	if err == nil && !utf8.ValidString(text) {
		err = fmt.Errorf("%s does not have the encoding that %s states", name, declaration)
	}
	return text, err
}

// checkFetch checks that fetch.txt names files of the payload (§2.2.3). Nothing is fetched.
func (r *reading) checkFetch() error {
	if _, there := r.sizes["fetch.txt"]; !there {
		return nil
	}
	text, err := r.decoded("fetch.txt")
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		number++
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return fmt.Errorf("fetch.txt: line %d is not an address, a length and a path", number)
		}
		p := line[strings.Index(line, fields[1])+len(fields[1]):]
		p = strings.TrimPrefix(unescapePath(strings.TrimLeft(p, " \t")), "./")
		if !isPath(p) || !isPayload(p) || r.payload[p] == nil {
			return fmt.Errorf("fetch.txt: line %d: %.200q is no file of the payload", number, p)
		}
	}
	return nil
}

func isPayload(p string) bool { return strings.HasPrefix(p, "data/") }

func isPath(p string) bool {
	return p != "" && path.Clean(p) == p && !strings.HasPrefix(p, "/") && p != ".." && !strings.HasPrefix(p, "../") && !strings.ContainsRune(p, 0)
}

// unescapePath is the reverse of escapePath. Other percent signs stand for themselves.
func unescapePath(p string) string {
	return strings.NewReplacer("%0A", "\n", "%0a", "\n", "%0D", "\r", "%0d", "\r", "%25", "%").Replace(p)
}

// readInfo reads bag-info.txt (§2.2.2).
func (r *reading) readInfo() error {
	r.info = map[string]string{}
	if _, there := r.sizes["bag-info.txt"]; !there {
		return nil
	}
	text, err := r.decoded("bag-info.txt")
	if err != nil {
		return err
	}
	label := ""
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if line[0] == ' ' || line[0] == '\t' { // continues the line before
			if label != "" {
				r.info[label] += " " + strings.TrimSpace(line)
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			r.bad(fmt.Errorf("bag-info.txt: %.100q is not a label and a value", line))
			continue
		}
		label = strings.ToLower(strings.TrimSpace(name))
		if _, twice := r.info[label]; twice {
			label = ""
			continue
		}
		r.info[label] = strings.TrimSpace(value)
	}
	return nil
}

// compare reports what is there and not listed, or listed and not there (§3).
func (r *reading) compare() {
	for _, p := range r.names() {
		if isPayload(p) && r.payload[p] == nil {
			r.bad(fmt.Errorf("%.200q is in no manifest", p))
		}
	}
	octets, streams := int64(0), 0
	complete := true
	for p := range r.payload {
		size, there := r.sizes[p]
		if !there {
			complete = false
			r.damage(p)
			r.bad(fmt.Errorf("%.200q is not there: complete the bag first, if it is to be fetched", p))
			continue
		}
		octets += size
		streams++
	}
	for p := range r.tags {
		if _, there := r.sizes[p]; !there {
			r.damage(p)
			r.bad(fmt.Errorf("%.200q is not there", p))
		}
	}
	if want, stated := r.info["payload-oxum"]; stated && complete && want != fmt.Sprintf("%d.%d", octets, streams) {
		r.bad(fmt.Errorf("the payload is %d.%d, the Payload-Oxum %.50q", octets, streams, want))
	}
}

// checkAll compares all digests, and notes the files that have others.
func (r *reading) checkAll(ctx context.Context) error {
	for _, all := range []map[string]digests{r.tags, r.payload} {
		for p, want := range all {
			if r.damaged[p] {
				continue
			}
			body, err := r.body(ctx, p, want)
			if err == nil {
				_, err = io.Copy(io.Discard, body)
				err = errors.Join(err, body.file.Close())
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				r.damage(p)
				r.bad(fmt.Errorf("%.200q: %w", p, err))
			}
		}
	}
	return nil
}

// checking reads a file. At its end, the error is a *preserve.Bad if a digest is another than expected.
type checking struct {
	checked
	file io.Closer
	kind []string
	want digests
}

func (r *reading) body(ctx context.Context, p string, want digests) (*checking, error) {
	if r.sizes[p] > r.max && isPayload(p) {
		return nil, preserve.Badf("it has %d bytes, more than %d", r.sizes[p], r.max)
	}
	f, err := r.open(p)
	if err != nil {
		return nil, &preserve.Bad{Err: err}
	}
	c := &checking{checked: checked{ctx: ctx, r: io.LimitReader(f, r.sizes[p]+1)}, file: f, want: want}
	for kind := range want {
		c.kind = append(c.kind, kind)
		c.sums = append(c.sums, newHash(kind))
	}
	return c, nil
}

func (c *checking) Read(p []byte) (int, error) {
	n, err := c.checked.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		for i, kind := range c.kind {
			if got := hex.EncodeToString(c.sums[i].Sum(nil)); got != c.want[kind] {
				return n, preserve.Badf("its %s is %.16s…, expected %.16s…", kind, got, c.want[kind])
			}
		}
	case err != nil && c.ctx.Err() == nil:
		err = &preserve.Bad{Err: err}
	}
	return n, err
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
	current, skip := "", false
	for number := 1; lines.Scan(); number++ {
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
		return err
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
