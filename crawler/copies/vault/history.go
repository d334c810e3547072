package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/bucket"
)

// History is what a vault contained when it was read: which moments can be restored, and from which objects.
type History struct {
	b         bucket.Bucket
	created   time.Time
	id        string      // of the vault
	nameless  bool        // archive.json is missing
	writer    writerState // who wrote last: findWriter
	writerTag string      // ETag of writer.json; "" if there is none
	writerRaw []byte      // its bytes
	signer    writerState // what they say; zero if they are damaged
	sign      string      // of the writer (Lives), as writer.json had it
	signed    uint64      // the greatest epoch in writer.json: of the writer, or of a candidate
	unknown   bool        // there has been a writer, and nothing says which one
	stale     bool        // writer.json is older than the last fence
	candidate bool        // writer.json is that of a process that has no fence
	fences    []fence     // that began epochs
	late      []fence     // that began none: settle
	moved     bool        // an object of the tail was merged while the tail was read
	spans     []span      // of the log and of the tail, by epoch and first record
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
	ID      string    `json:"id,omitempty"` // the first programs wrote none
}

const format = 1

// Open reads what a vault contains. The error is ErrNoVault if there is none. Objects that are damaged are left out:
// Verify and At name them.
func Open(ctx context.Context, b bucket.Bucket) (*History, error) {
	known := &tailCache{room: recordsKept} // records that were read cannot be merged away
	h, err := readAgain(ctx, b, known)
	if err == nil && len(h.strays()) > 0 { // an epoch may have begun after the tail was read
		h, err = readAgain(ctx, b, known)
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return h, nil
}

func read(ctx context.Context, b bucket.Bucket) (*History, error) {
	return readAgain(ctx, b, &tailCache{})
}

// readAgain is read with what earlier readings have read of the tail.
func readAgain(ctx context.Context, b bucket.Bucket, known *tailCache) (*History, error) {
	h, err := readOnce(ctx, b, known)
	if err == nil && (h.unknown || h.stale || h.candidate) { // a process may have become the writer while the objects were read
		h, err = readOnce(ctx, b, known)
	}
	for try := 0; err == nil && try < maxReadings && h.moved; try++ { // what was merged may say which fences began epochs
		h, err = readOnce(ctx, b, known)
	}
	// A list that is made while the writer puts and merges objects may have a later one and not an earlier one. What is
	// missing twice is missing.
	for try := 0; err == nil && try < maxReadings && h.want() != ""; try++ {
		before := h.want()
		if h, err = readOnce(ctx, b, known); err == nil && h.want() == before {
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

func readOnce(ctx context.Context, b bucket.Bucket, known *tailCache) (*History, error) {
	h := &History{b: b, next: 1}
	var group sync.WaitGroup
	var described, listed error
	group.Go(func() { described = h.readDescription(ctx) })
	raw, info, err := get(ctx, b, writerKey, maxSmall)
	if group.Wait(); described != nil {
		return nil, described
	}
	if err == nil {
		if err := unsealJSON(raw, &h.writer); err != nil {
			h.writer = writerState{}
			h.flaw("%s is damaged", writerKey)
		}
		h.signer, h.writerTag, h.writerRaw, h.sign, h.signed = h.writer, info.ETag, raw, signOf(info.ETag, h.writer),
			max(h.writer.Epoch, h.writer.Seen)
	} else if !errors.Is(err, bucket.ErrNotFound) {
		return nil, err
	}
	// The tail first: what is merged, and deleted from it, meanwhile is in the log afterwards.
	if err := h.readTail(ctx, known); err != nil {
		return nil, err
	}
	group.Go(func() { listed = h.listSnapshots(ctx) })
	err = h.listLog(ctx)
	if group.Wait(); err != nil || listed != nil {
		return nil, cmp.Or(err, listed)
	}
	slices.SortFunc(h.spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last))
	})
	return h, h.findWriter(ctx)
}

func (h *History) listLog(ctx context.Context) error {
	for info, err := range h.b.List(ctx, logDir, "") {
		if err != nil {
			return err
		}
		if s, ok := parseSpan(info.Key, info.Size); ok {
			h.spans = append(h.spans, s)
		}
	}
	return nil
}

func (h *History) listSnapshots(ctx context.Context) error {
	for info, err := range h.b.List(ctx, snapshotsDir, "") {
		if err != nil {
			return err
		}
		if s, ok := parseSnapshot(info.Key, info.Size); ok {
			h.snapshots = append(h.snapshots, s)
		}
	}
	return nil
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
	h.created, h.id = d.Created, cmp.Or(d.ID, d.Created.Format(time.RFC3339))
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
