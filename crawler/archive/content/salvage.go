package content

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/reedsolomon"

	"odarchive/triplestore/disk"
)

// SalvagedFile is a file as packs describe it.
type SalvagedFile struct {
	SHA256  Digest
	MD5     [16]byte
	CRC32   uint32
	Size    int64
	Label   []byte // PutOptions.Label
	Missing int    // segments that are in no pack

	s       *salvage
	parts   []packedFile // of the record that is used
	records []packedFile // all that were found; a file that was put again has several records
}

// SalvageReport is what Salvage found.
type SalvageReport struct {
	Packs    int
	Segments int64
	Files    int // files with a complete file record
	Whole    int // files that also have all their segments
	Damages  []disk.Damage
}

// Salvage reads the packs in dir without a database, damaged ones through their parity, and calls f with every file
// that they describe, in the order of the packs. These may include files that were collected or whose Put failed.
// Salvage needs up to 200 bytes of memory for each segment, and changes nothing. The error is that of f, or a failure
// to read on; damage is only in the report.
func Salvage(ctx context.Context, fsys disk.FS, dir string, f func(SalvagedFile) error) (report SalvageReport, err error) {
	enc, err := newEncoder()
	if err != nil {
		return report, err
	}
	s := &salvage{ctx: ctx, fs: fsys, dir: dir, enc: enc, report: &report, segments: make(map[segmentID][]segmentCopy),
		cuts: make(map[segmentID][]cutRecord), files: make(map[Digest]*SalvagedFile)}
	if err := s.read(); err != nil {
		return report, fmt.Errorf("content: salvage %s: %w", dir, err)
	}
	defer s.close()
	for _, sha := range s.order {
		file := s.files[sha]
		if ctx.Err() != nil {
			return report, context.Cause(ctx)
		}
		if !s.chooseRecord(file) {
			continue
		}
		if report.Files++; file.Missing == 0 {
			report.Whole++
		}
		if err := f(*file); err != nil {
			return report, err
		}
	}
	return report, nil
}

// WriteTo writes the file's bytes and compares them with its size and SHA-256: after an error, what was written is not
// the file. It may only be called while the function that received the file runs.
func (f *SalvagedFile) WriteTo(w io.Writer) (n int64, err error) {
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	for i := range f.parts {
		for _, run := range f.parts[i].runs {
			for k := run.first; k < run.first+run.n; k++ {
				if f.s.ctx.Err() != nil {
					return n, context.Cause(f.s.ctx)
				}
				m, err := f.s.write(out, segmentID{run.extent, k}, 0)
				if n += m; err != nil {
					return n, &DamageError{File: f.SHA256, Why: err.Error()}
				}
			}
		}
	}
	if n != f.Size || Digest(sum.Sum(nil)) != f.SHA256 {
		return n, &DamageError{File: f.SHA256, Why: "its segments are not those of the file"}
	}
	return n, nil
}

// segmentID names a segment by its extent and its index there.
type segmentID struct {
	extent uint64
	index  int
}

// segmentCopy is the place of a sound copy of a segment.
type segmentCopy struct {
	pack     int // index in salvage.packs
	offset   int64
	raw      int
	deflated int
}

// salvage is the index of all packs.
type salvage struct {
	ctx      context.Context
	fs       disk.FS
	dir      string
	enc      reedsolomon.Encoder
	report   *SalvageReport
	packs    []*salvagePack
	segments map[segmentID][]segmentCopy
	cuts     map[segmentID][]cutRecord
	files    map[Digest]*SalvagedFile
	order    []Digest // of files
	opened   int      // packs since the last close
}

// read indexes every pack.
func (s *salvage) read() error {
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), closedSuffix) || strings.HasSuffix(e.Name(), openSuffix) { // even if renamed
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := s.readPack(name); err != nil {
			s.close()
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// readPack indexes one pack.
func (s *salvage) readPack(name string) error {
	p, err := s.open(name)
	if err != nil {
		return err
	}
	defer p.shut()
	s.packs = append(s.packs, p)
	s.report.Packs++
	w := &walker{r: &slowReader{ctx: s.ctx, r: p.r}, end: p.size}
	err = w.walk(func(rec found) error {
		switch {
		case rec.wrong != "":
			s.damaged(name, rec.offset, rec.wrong)
		case rec.mark == segmentMark:
			s.report.Segments++
			key := segmentID{rec.extent, rec.index}
			s.segments[key] = append(s.segments[key], segmentCopy{len(s.packs) - 1, rec.offset, rec.raw, rec.deflated})
		case rec.mark == cutMark:
			if c, err := decodeCut(rec.bytes[segmentHead:]); err == nil {
				key := segmentID{rec.extent, rec.index}
				s.cuts[key] = append(s.cuts[key], c)
			}
		default:
			s.addFile(rec.bytes[segmentHead:])
		}
		return nil
	})
	if g, ok := p.r.(*guarded); ok && err == nil && g.healed+g.lost > 0 {
		why := fmt.Sprintf("%d blocks differ from their checksums, %d of them were recovered from parity", g.healed+g.lost, g.healed)
		s.damaged(name, -1, why)
	}
	return err
}

// addFile adds one part of a file record.
func (s *salvage) addFile(body []byte) {
	t, err := decodePackedFile(slices.Clone(body))
	if err != nil {
		return
	}
	f := s.files[t.sha]
	if f == nil {
		f = &SalvagedFile{SHA256: t.sha, MD5: t.md5, CRC32: t.crc, Size: t.size, s: s}
		s.files[t.sha] = f
		s.order = append(s.order, t.sha)
	}
	f.records = append(f.records, t)
}

// chooseRecord sets f to the complete record with the fewest missing segments. It returns false if no record is
// complete.
func (s *salvage) chooseRecord(f *SalvagedFile) bool {
	type part struct{ parts, part int }
	found := make(map[part][]packedFile)
	for _, t := range f.records {
		found[part{t.parts, t.part}] = append(found[part{t.parts, t.part}], t)
	}
	for first, records := range found {
		for i := 0; first.part == 0 && i < len(records); i++ {
			var parts []packedFile
			for k := range first.parts {
				same := found[part{first.parts, k}]
				if len(same) == 0 {
					break
				}
				parts = append(parts, same[min(i, len(same)-1)])
			}
			if len(parts) < first.parts {
				break
			}
			if missing := s.missing(parts); f.parts == nil || missing < f.Missing {
				f.parts, f.Label, f.Missing = parts, parts[0].label, missing
			}
		}
	}
	f.records = nil
	return f.parts != nil
}

// damaged adds a damage to the report.
func (s *salvage) damaged(name string, offset int64, why string) {
	if len(s.report.Damages) < damagesKept {
		s.report.Damages = append(s.report.Damages,
			disk.Damage{File: filepath.Base(s.dir) + "/" + name, Offset: offset, Why: why, Found: time.Now()})
	}
}

// missing counts the segments of a file that are in no pack.
func (s *salvage) missing(parts []packedFile) (n int) {
	for i := range parts {
		for _, run := range parts[i].runs {
			for k := run.first; k < run.first+run.n; k++ {
				n += s.countMissing(segmentID{run.extent, k}, 0)
			}
		}
	}
	return n
}

// maxCuts bounds how often a segment, its pieces, and theirs were cut: a piece has at least one byte.
const maxCuts = maxRaw

// countMissing counts the pieces of a segment that are in no pack; 0 if the segment or all its pieces are.
func (s *salvage) countMissing(key segmentID, depth int) int {
	if len(s.segments[key]) > 0 {
		return 0
	}
	missing := 1
	for _, c := range s.cuts[key] {
		n := 0
		for i := 0; i < c.pieces && depth < maxCuts; i++ {
			n += s.countMissing(segmentID{c.parts, i}, depth+1)
		}
		if n == 0 {
			return 0
		}
		missing = max(missing, n)
	}
	return missing
}

// write writes a segment, or the pieces that replace it.
func (s *salvage) write(w io.Writer, key segmentID, depth int) (n int64, err error) {
	err = fmt.Errorf("segment %d of extent %d is in no pack", key.index, key.extent)
	for _, at := range s.segments[key] {
		raw, failed := s.segment(key, at)
		if failed == nil {
			m, err := w.Write(raw)
			return int64(m), err
		}
		err = failed
	}
	for _, c := range s.cuts[key] {
		if s.countMissing(segmentID{key.extent, key.index}, depth) > 0 || depth >= maxCuts {
			continue
		}
		for i := range c.pieces {
			m, err := s.write(w, segmentID{c.parts, i}, depth+1)
			if n += m; err != nil {
				return n, err
			}
		}
		return n, nil
	}
	return 0, err
}

// segment returns the raw bytes of a copy of a segment.
func (s *salvage) segment(key segmentID, at segmentCopy) ([]byte, error) {
	p := s.packs[at.pack]
	if p.f == nil {
		again, err := s.open(p.name)
		if err != nil {
			return nil, err
		}
		if s.opened++; s.opened > maxSalvageOpen {
			s.close()
			s.opened = 1
		}
		*p = *again
	}
	b := make([]byte, segmentHead+at.deflated)
	if _, err := readFull(p.r, b, at.offset); err != nil {
		return nil, err
	}
	h, body, wrong := checkSegment(b)
	if wrong == "" && (h.extent != key.extent || h.index != key.index || h.raw != at.raw) {
		wrong = "it is another segment"
	}
	if wrong != "" {
		return nil, errors.New(wrong)
	}
	raw := make([]byte, h.raw)
	return raw, inflate(raw, body)
}
