package vault

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/wal"
)

// History is what a vault contained when it was read: which moments can be restored, and from which objects.
type History struct {
	b         bucket.Bucket
	created   time.Time
	nameless  bool        // archive.json is missing
	writer    writerState // who wrote last: findWriter
	writerTag string      // ETag of writer.json; "" if there is none
	writerRaw []byte      // its bytes
	sign      string      // of the writer (Lives), as writer.json had it
	unknown   bool        // there has been a writer, and nothing says which one
	stale     bool        // writer.json is older than the last fence
	fences    []fence
	spans     []span // of the log and of the tail, by epoch and first record
	snapshots []snapshot
	next      uint64    // place in the tail after the last object
	damaged   []spoiled // objects of the tail that cannot be read
	flaws     []string  // sentences about small objects that differ from their checksum or are missing
}

// spoiled is an object of the tail that cannot be read: records, or the beginning of an epoch.
type spoiled struct{ key, text string }

// description is the content of archive.json, which marks a vault.
type description struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
}

const format = 1

// Open reads what a vault contains. The error is ErrNoVault if there is none. Objects that are damaged are left out: Verify
// and At name them.
func Open(ctx context.Context, b bucket.Bucket) (*History, error) {
	h, err := read(ctx, b)
	if err == nil && len(h.strays()) > 0 { // an epoch may have begun after the tail was read
		h, err = read(ctx, b)
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return h, nil
}

func read(ctx context.Context, b bucket.Bucket) (*History, error) {
	h, err := readOnce(ctx, b)
	if err == nil && (h.unknown || h.stale) { // a process may have become the writer while the objects were read
		h, err = readOnce(ctx, b)
	}
	// A list that is made while the writer puts and merges objects may have a later one and not an earlier one. What is missing
	// twice is missing.
	for try := 0; err == nil && try < maxReadings && h.want() != ""; try++ {
		before := h.want()
		if h, err = readOnce(ctx, b); err == nil && h.want() == before {
			break
		}
	}
	return h, err
}

// maxReadings bounds how often a vault is read that looks damaged, and each time otherwise.
const maxReadings = 20

// want says what the newest history lacks, to compare two readings; "" if nothing.
func (h *History) want() string {
	all := h.branches()
	if len(all) == 0 || h.isWhole() && h.leads() {
		return ""
	}
	b := all[len(all)-1]
	text := fmt.Sprint(h.isWhole())
	spans := h.spansOf(b)
	for _, s := range h.snapshotsOf(b) {
		_, last := path(spans, s.number)
		text += fmt.Sprint(" ", s.number, " ", last)
	}
	return text
}

func readOnce(ctx context.Context, b bucket.Bucket) (*History, error) {
	h := &History{b: b, next: 1}
	if err := h.readDescription(ctx); err != nil {
		return nil, err
	}
	if raw, info, err := get(ctx, b, writerKey, maxSmall); err == nil {
		if err := unsealJSON(raw, &h.writer); err != nil {
			h.writer = writerState{}
			h.flaw("%s is damaged", writerKey)
		}
		h.writerTag, h.writerRaw, h.sign = info.ETag, raw, signOf(info.ETag, h.writer)
	} else if !errors.Is(err, bucket.ErrNotFound) {
		return nil, err
	}
	// The tail first: what is merged, and deleted from it, meanwhile is in the log afterwards.
	if err := h.readTail(ctx); err != nil {
		return nil, err
	}
	for info, err := range b.List(ctx, logDir, "") {
		if err != nil {
			return nil, err
		}
		if s, ok := parseSpan(info.Key, info.Size); ok {
			h.spans = append(h.spans, s)
		}
	}
	for info, err := range b.List(ctx, snapshotsDir, "") {
		if err != nil {
			return nil, err
		}
		if s, ok := parseSnapshot(info.Key, info.Size); ok {
			h.snapshots = append(h.snapshots, s)
		}
	}
	slices.SortFunc(h.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last))
	})
	return h, h.findWriter(ctx)
}

// readDescription reads archive.json. A vault that has lost only that is one.
func (h *History) readDescription(ctx context.Context) error {
	raw, _, err := get(ctx, h.b, archiveKey, maxSmall)
	if errors.Is(err, bucket.ErrNotFound) {
		if _, err := h.b.Stat(ctx, writerKey); errors.Is(err, bucket.ErrNotFound) {
			return ErrNoVault
		} else if err != nil {
			return err
		}
		h.nameless = true
		h.flaw("%s is missing", archiveKey)
		return nil
	}
	if err != nil {
		return err
	}
	var d description
	if err := unsealJSON(raw, &d); err != nil || d.Format < 1 {
		h.flaw("%s is damaged", archiveKey)
	}
	if d.Format > format {
		return ErrNewer
	}
	h.created = d.Created
	return nil
}

func (h *History) flaw(form string, args ...any) {
	h.flaws = append(h.flaws, fmt.Sprintf(form, args...))
}

// maxSmall bounds the small objects.
const maxSmall = 1 << 20

// get returns a whole object of at most limit bytes.
func get(ctx context.Context, b bucket.Bucket, key string, limit int64) ([]byte, bucket.Info, error) {
	r, info, err := b.Get(ctx, key, 0, limit+1)
	if err != nil {
		return nil, info, err
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	err = errors.Join(err, r.Close())
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%w: %s has more than %d bytes", ErrBroken, key, limit)
	}
	return data, info, err
}

func getObject(ctx context.Context, b bucket.Bucket, key string) (object, error) {
	raw, _, err := get(ctx, b, key, maxObject)
	if err != nil {
		return object{}, err
	}
	o, err := decode(raw)
	if err != nil {
		return o, fmt.Errorf("%s: %w", key, err)
	}
	return o, nil
}

// tailAtOnce is how many objects of the tail are read at a time: there may be hundreds, and each takes a round trip.
const tailAtOnce = 16

// tailObject is an object of the tail, or why it cannot be read.
type tailObject struct {
	seq  uint64
	info bucket.Info
	object
	err error
}

// readTail reads the objects of the tail.
func (h *History) readTail(ctx context.Context) error {
	var list []tailObject
	for info, err := range h.b.List(ctx, tailDir, "") {
		if err != nil {
			return err
		}
		if seq, ok := parseTailKey(info.Key); ok {
			list = append(list, tailObject{seq: seq, info: info})
		}
	}
	for some := range slices.Chunk(list, tailAtOnce) {
		var group sync.WaitGroup
		for i := range some {
			group.Go(func() { some[i].object, some[i].err = getObject(ctx, h.b, some[i].info.Key) })
		}
		group.Wait()
		for i := range some {
			if err := h.noteTail(some[i]); err != nil {
				return err
			}
			some[i].object = object{} // only what is noted is kept
		}
	}
	return nil
}

func (h *History) noteTail(o tailObject) error {
	switch {
	case errors.Is(o.err, bucket.ErrNotFound): // merged meanwhile
		return nil
	case errors.Is(o.err, ErrBroken):
		h.next = o.seq + 1
		h.damaged = append(h.damaged, spoiled{o.info.Key, o.err.Error()})
		return nil
	case o.err != nil:
		return o.err
	}
	h.next = o.seq + 1
	h.note(o.seq, o.info, o.object)
	return nil
}

func (h *History) note(seq uint64, info bucket.Info, o object) {
	if o.fence != nil {
		o.fence.seq = seq
		if len(h.fences) == 0 || h.fences[len(h.fences)-1].Epoch < o.fence.Epoch {
			h.fences = append(h.fences, *o.fence)
		}
		return
	}
	s := o.batch.span(0)
	s.key, s.size = info.Key, info.Size
	h.spans = append(h.spans, s)
}

// branch is a run of epochs each of which continues the one before.
type branch struct {
	epochs []fence
	limits []uint64 // number of the last record of each epoch that counts
}

const noLimit = 1<<63 - 1

func (h *History) branches() (list []branch) {
	for _, f := range h.fences {
		if f.New || len(list) == 0 {
			list = append(list, branch{})
		}
		b := &list[len(list)-1]
		if n := len(b.epochs); n > 0 {
			b.limits[n-1] = f.Number
		}
		b.epochs, b.limits = append(b.epochs, f), append(b.limits, noLimit)
	}
	return list
}

// limit returns the number of the last record of an epoch that belongs to the branch. ok is false if the epoch does not.
func (b branch) limit(epoch uint64) (last uint64, ok bool) {
	for i, f := range b.epochs {
		if f.Epoch == epoch {
			return b.limits[i], true
		}
	}
	return 0, false
}

// inLastBranch reports whether an epoch belongs to the newest history.
func (h *History) inLastBranch(epoch uint64) bool {
	all := h.branches()
	if len(all) == 0 {
		return false
	}
	_, ok := all[len(all)-1].limit(epoch)
	return ok
}

// isWhole reports whether the newest history can be restored.
func (h *History) isWhole() bool {
	all := h.branches()
	return len(all) > 0 && h.hasBegun(all[len(all)-1])
}

// hasBegun reports whether a history can be restored: it has a state file, and the records after that up to where the history
// began. The state file of a small archive is empty, and all of it is in the records, which are copied later.
func (h *History) hasBegun(b branch) bool {
	list := h.snapshotsOf(b)
	if len(list) == 0 {
		return false
	}
	_, last := path(h.spansOf(b), list[0].number)
	return max(last, list[len(list)-1].number) >= b.epochs[0].Number
}

// leads reports whether the end of the newest history can be restored: some state file of it is followed by all records up to there.
func (h *History) leads() bool {
	all := h.branches()
	end, _, ok := h.end()
	if !ok {
		return false
	}
	b := all[len(all)-1]
	spans := h.spansOf(b)
	for _, s := range h.snapshotsOf(b) {
		if _, last := path(spans, s.number); max(last, s.number) >= end.Number {
			return true
		}
	}
	return false
}

// spansOf returns the objects of a branch, by first record. Overlapping ones have the same records.
func (h *History) spansOf(b branch) (list []span) {
	for _, s := range h.spans {
		if limit, ok := b.limit(s.epoch); ok && s.first <= limit {
			s.last = min(s.last, limit)
			list = append(list, s)
		}
	}
	slices.SortStableFunc(list, func(a, b span) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last, a.last)) })
	return list
}

// snapshotsOf returns the state files of a branch, by number.
func (h *History) snapshotsOf(b branch) (list []snapshot) {
	for _, s := range h.snapshots {
		if limit, ok := b.limit(s.epoch); ok && s.number <= limit {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b snapshot) int { return cmp.Compare(a.number, b.number) })
	return list
}

// path returns objects with all records after from, without gaps, as far as that is possible, and the last one's number.
func path(spans []span, from uint64) (list []span, last uint64) {
	last = from
	for _, s := range spans {
		switch {
		case s.last <= last:
		case s.first > last+1:
			return list, last
		default:
			list, last = append(list, s), s.last
		}
	}
	return list, last
}

// end returns the position after the last record, and its time. ok is false if there has been no epoch.
func (h *History) end() (at wal.Position, when milli, ok bool) {
	all := h.branches()
	if len(all) == 0 {
		return at, 0, false
	}
	b := all[len(all)-1]
	last := b.epochs[len(b.epochs)-1]
	at, when = last.position(), last.Last
	for _, s := range h.snapshotsOf(b) {
		if s.number >= at.Number {
			at.Number, at.Sum, when = s.number, s.sum, max(when, s.at)
		}
	}
	for _, s := range h.spansOf(b) {
		if s.last > at.Number {
			at.Number, at.Sum, when = s.last, s.sum, max(when, s.to)
		}
	}
	return at, when, true
}

func (f fence) position() wal.Position {
	at := wal.Position{Number: f.Number, Sum: f.Sum}
	if raw, err := hex.DecodeString(f.Log); err == nil && len(raw) == len(at.Log) {
		copy(at.Log[:], raw)
	}
	return at
}

// Moments is a time of which every moment can be restored.
type Moments struct {
	From, To    time.Time `json:"-"`
	First, Last uint64    // write sets of the database
	Epochs      int       // how often a process became the writer
	Bytes       int64     // of the log
	Snapshots   int
}

// Moments returns the times that can be restored, oldest first.
func (h *History) Moments() (list []Moments) {
	for _, b := range h.branches() {
		if !h.hasBegun(b) {
			continue
		}
		spans := h.spansOf(b)
		var now *Moments
		for _, s := range h.snapshotsOf(b) {
			if now != nil && s.number <= now.Last {
				now.Snapshots++
				continue
			}
			ways, last := path(spans, s.number)
			m := Moments{From: s.at.time(), To: s.at.time(), First: s.number, Last: last, Epochs: len(b.epochs), Snapshots: 1}
			for _, w := range ways {
				m.To, m.Bytes = w.to.time(), m.Bytes+w.size
			}
			list = append(list, m)
			now = &list[len(list)-1]
		}
	}
	return list
}

// Writer describes who writes the archive: its address, if it has told one, and its epoch.
func (h *History) Writer() (url string, epoch uint64) { return h.writer.URL, h.writer.Epoch }

// Created returns when the vault was begun.
func (h *History) Created() time.Time { return h.created }

// Target is a moment that can be restored.
type Target struct {
	Number uint64    // of the last write set
	Time   time.Time // when it was committed
	Epoch  uint64

	// Holes has sentences about what was acknowledged before the moment and is missing in the vault. Restore refuses such
	// a target unless GoOn is set.
	Holes []string
	GoOn  bool

	log  [16]byte
	from snapshot
	way  []span
}

// At returns the last commit that is not after a time; the zero time stands for the last commit of all.
func (h *History) At(ctx context.Context, t time.Time) (Target, error) {
	when := milli(noLimit)
	if !t.IsZero() {
		when = milliOf(t)
	}
	target, err := h.at(ctx, when)
	if err != nil || len(target.Holes) > 0 { // the writer may have deleted objects while the others were listed
		fresh, failed := Open(ctx, h.b)
		if failed != nil {
			return Target{}, failed
		}
		*h = *fresh
		target, err = h.at(ctx, when)
	}
	return target, err
}

func (h *History) at(ctx context.Context, when milli) (Target, error) {
	all := h.branches()
	for i := len(all) - 1; i >= 0; i-- {
		target, ok, err := h.within(ctx, all[i], when)
		if err != nil {
			return target, err
		}
		if ok {
			_, last := path(h.spansOf(all[i]), target.from.number)
			target.Holes = append(h.holes(&all[i], last, when), h.incomplete(all[i+1:], when, false)...)
			return target, nil
		}
	}
	if texts := append(h.holes(nil, 0, when), h.incomplete(all, when, false)...); len(texts) > 0 {
		return Target{}, fmt.Errorf("%w: %w: %s", ErrNoMoment, ErrBroken, sentences(texts))
	}
	list := h.Moments()
	if len(list) == 0 {
		return Target{}, fmt.Errorf("%w: it has no complete copy of the archive yet", ErrNoMoment)
	}
	return Target{}, fmt.Errorf("%w: it begins at %s", ErrNoMoment, list[0].From.Format(time.RFC3339))
}

// sentences joins the first few of some texts.
func sentences(list []string) string {
	const most = 5
	text := strings.Join(list[:min(len(list), most)], "; ")
	if n := len(list) - most; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// within is At within a branch. ok is false if the branch begins later.
func (h *History) within(ctx context.Context, b branch, when milli) (t Target, ok bool, err error) {
	snapshots := slices.DeleteFunc(h.snapshotsOf(b), func(s snapshot) bool { return s.at > when })
	if len(snapshots) == 0 || !h.hasBegun(b) {
		return t, false, nil
	}
	t.log, t.Epoch = b.epochs[0].position().Log, b.epochs[0].Epoch
	s := snapshots[len(snapshots)-1]
	t.from, t.Number, t.Time = s, s.number, s.at.time()
	way, last := path(h.spansOf(b), s.number)
	for len(way) > 0 && way[len(way)-1].from > when {
		way = way[:len(way)-1]
	}
	t.way = way
	if len(way) == 0 {
		return t, true, nil
	}
	end := way[len(way)-1]
	t.Number, t.Time = min(end.last, last), end.to.time()
	if end.to <= when && end.last == h.fullLast(end) {
		return t, true, nil
	}
	o, err := getObject(ctx, h.b, end.key)
	if err != nil {
		return t, false, err
	}
	t.Number, t.Time = s.number, s.at.time()
	if len(way) > 1 {
		t.Number, t.Time = way[len(way)-2].last, way[len(way)-2].to.time()
	}
	for _, e := range o.batch.entries {
		if e.at <= when && e.Number <= end.last && e.Number > t.Number {
			t.Number, t.Time = e.Number, e.at.time()
		}
	}
	return t, true, nil
}

// fullLast returns the number of the last record in an object, also of those that do not count.
func (h *History) fullLast(of span) uint64 {
	for _, s := range h.spans {
		if s.key == of.key {
			return s.last
		}
	}
	return of.last
}

// records yields the records of a target after its state file, and checks that they follow one another.
func (h *History) records(ctx context.Context, t Target) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		at, sum := t.from.number, t.from.sum
		for _, s := range t.way {
			if s.first > t.Number {
				return
			}
			o, err := getObject(ctx, h.b, s.key)
			if err == nil && o.batch == nil {
				err = fmt.Errorf("%w: %s has no records", ErrBroken, s.key)
			}
			if err != nil {
				yield(entry{}, err)
				return
			}
			before := o.batch.before
			for _, e := range o.batch.entries {
				if e.Number > at && (e.Number != at+1 || before != sum) || e.Number == at && e.Sum != sum {
					yield(entry{}, fmt.Errorf("%w: %s: record %d does not follow record %d", ErrBroken, s.key, e.Number, at))
					return
				}
				before = e.Sum
				if e.Number <= at {
					continue
				}
				if e.Number > t.Number {
					return
				}
				if !yield(e, nil) {
					return
				}
				at, sum = e.Number, e.Sum
			}
		}
		if at != t.Number {
			yield(entry{}, fmt.Errorf("%w: the log ends with record %d", ErrBroken, at))
		}
	}
}

// isEmpty reports whether a bucket has no objects.
func isEmpty(ctx context.Context, b bucket.Bucket) (bool, error) {
	for info, err := range b.List(ctx, "", "") {
		if err != nil {
			return false, err
		}
		if !strings.HasPrefix(info.Key, ".") {
			return false, nil
		}
	}
	return true, nil
}
