package content

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/reedsolomon"
)

// parityMaker makes the parity of closed packs, one at a time, in the background: no Put waits for it. The next Open or
// Scrub makes what is missing.
type parityMaker struct {
	s   *Store
	enc reedsolomon.Encoder

	naming sync.Mutex // held while a parity file gets its name or is removed; taken before mu

	mu    sync.Mutex // guards the fields below
	cond  *sync.Cond // of mu: jobs, busy or ended has changed
	have  map[string]bool
	jobs  []parityJob
	busy  bool
	ended bool
	stops func()
}

// parityJob is a request for the parity of a pack. Its checksums may be missing.
type parityJob struct {
	num   uint64
	name  string
	sums  packSums
	again bool // replace existing parity, which is damaged
}

// maxJobSums bounds the queued jobs that keep their checksums, 64 KiB each. Those of later jobs are computed again.
const maxJobSums = 64

func newParityMaker(s *Store) (*parityMaker, error) {
	enc, err := newEncoder()
	h := &parityMaker{s: s, enc: enc, have: make(map[string]bool)}
	h.cond = sync.NewCond(&h.mu)
	return h, err
}

func newEncoder() (reedsolomon.Encoder, error) {
	return reedsolomon.New(dataShards, parityShards, reedsolomon.WithMaxGoroutines(1))
}

// setExisting registers the parity files that exist.
func (h *parityMaker) setExisting(names map[string]bool) { h.have = names }

// disabled reports whether no parity is made.
func (h *parityMaker) disabled() bool { return h.s.opts.NoParity || h.s.db.ReadOnly() }

// start starts making the parity of packs that have none, and removes that of packs that do not exist.
func (h *parityMaker) start() {
	if h.disabled() {
		return
	}
	h.removeOrphans()
	for _, job := range h.missing() {
		h.enqueue(job)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	h.stops = func() { cancel(); <-done }
	go func() {
		defer close(done)
		h.run(ctx)
	}()
}

// stop stops making parity, and waits until it has stopped.
func (h *parityMaker) stop() {
	h.mu.Lock()
	h.ended = true
	h.cond.Broadcast()
	h.mu.Unlock()
	if h.stops != nil {
		h.stops()
	}
}

// missing returns jobs for the closed packs without parity.
func (h *parityMaker) missing() (jobs []parityJob) {
	for _, num := range h.s.packs.numbers() {
		if name := h.s.packs.nameOf(num); isClosed(name) && !h.exists(name) { // a job that is queued twice is done once
			jobs = append(jobs, parityJob{num: num, name: name})
		}
	}
	return jobs
}

// exists reports whether a pack has a parity file.
func (h *parityMaker) exists(pack string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.have[parityName(pack)]
}

// removeOrphans removes parity whose pack neither exists nor is in the database.
func (h *parityMaker) removeOrphans() {
	for name := range h.have {
		num, _, ok := parsePackName(strings.TrimSuffix(name, paritySuffix) + closedSuffix)
		if !ok || h.s.packs.has(num, strings.TrimSuffix(name, paritySuffix)+closedSuffix) {
			continue
		}
		if _, known, err := h.s.packRecord(num); err == nil && !known {
			h.remove(strings.TrimSuffix(name, paritySuffix) + closedSuffix)
		}
	}
}

// enqueue queues the parity of a pack.
func (h *parityMaker) enqueue(job parityJob) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.disabled() || h.ended {
		return
	}
	if len(h.jobs) >= maxJobSums {
		job.sums = packSums{}
	}
	h.jobs = append(h.jobs, job)
	h.cond.Broadcast()
}

// remake queues the replacement of a pack's parity.
func (h *parityMaker) remake(num uint64, pack string) {
	h.enqueue(parityJob{num: num, name: pack, again: true})
}

// waitIdle waits until all queued jobs are done or failed, or ctx ends.
func (h *parityMaker) waitIdle(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.cond.Broadcast()
	})()
	h.mu.Lock()
	defer h.mu.Unlock()
	for (len(h.jobs) > 0 || h.busy) && !h.ended && h.stops != nil && ctx.Err() == nil {
		h.cond.Wait()
	}
}

// remove removes the parity of a pack that no longer exists.
func (h *parityMaker) remove(pack string) {
	h.naming.Lock()
	defer h.naming.Unlock()
	defer h.s.packs.version.Add(1)
	if !h.exists(pack) {
		return
	}
	name := parityName(pack)
	if err := h.s.fs.Remove(filepath.Join(h.s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.s.log.Warn("parity not removed", "file", name, "error", err)
	}
	h.set(name, false)
	h.s.mended(name, "nothing: its pack no longer exists")
}

func (h *parityMaker) set(name string, there bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if there {
		h.have[name] = true
	} else {
		delete(h.have, name)
	}
}

func (h *parityMaker) run(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		for len(h.jobs) == 0 && !h.ended {
			h.cond.Wait()
		}
		if h.ended {
			return
		}
		job := h.jobs[0]
		h.jobs, h.busy = h.jobs[1:], true
		h.mu.Unlock()
		if err := h.make(ctx, job); err != nil && ctx.Err() == nil && !errors.Is(err, errNoPack) {
			h.s.log.Warn("parity not made", "pack", job.name, "error", err)
		}
		h.mu.Lock()
		h.busy = false
		h.cond.Broadcast()
	}
}

// make writes the parity file of a pack, unless the pack differs from the hash in its name.
func (h *parityMaker) make(ctx context.Context, job parityJob) error {
	if h.exists(job.name) && !job.again {
		return nil
	}
	pack, err := h.s.packs.acquire(job.num)
	if err != nil {
		return err
	}
	defer h.s.packs.release(pack)
	if job.sums.blocks == nil {
		info, err := pack.f.Stat()
		if err != nil {
			return err
		}
		if job.sums, err = sumPack(&tolerant{r: pack.f}, info.Size()); err != nil {
			return err
		}
	}
	_, hash, _ := parsePackName(job.name)
	if sum := hex.EncodeToString(job.sums.whole[:])[:hashDigits]; sum != hash {
		h.s.noteFile(job.name, -1, "the pack differs from the hash in its name")
		return fmt.Errorf("the pack's SHA-256 begins with %s", sum)
	}
	shards, err := encodeParity(ctx, h.enc, &tolerant{r: pack.f}, job.sums)
	if err != nil {
		return err
	}
	return h.write(job, shards)
}

// encodeColumn is the number of bytes of each shard that are read at once.
const encodeColumn = 64 << 10

// encodeParity computes the parity shards of a pack, whose blocks must match their checksums.
func encodeParity(ctx context.Context, enc reedsolomon.Encoder, r *tolerant, sums packSums) (parity [parityShards][]byte, err error) {
	shard := int64(rowsOf(sums.size)) * parityBlock
	for i := range parity {
		parity[i] = make([]byte, shard)
	}
	buf := make([]byte, dataShards*encodeColumn)
	for at := int64(0); at < shard; at += encodeColumn {
		if ctx.Err() != nil {
			return parity, context.Cause(ctx)
		}
		n := min(encodeColumn, shard-at)
		column := make([][]byte, 0, dataShards+parityShards)
		for i := range int64(dataShards) {
			part := buf[i*encodeColumn : i*encodeColumn+n]
			clear(part)
			from := i*shard + at
			if have := min(n, sums.size-from); have > 0 {
				if _, err := readFull(r, part[:have], from); err != nil {
					return parity, err
				}
				if err := checkBlocks(part[:have], sums.blocks[from/parityBlock:]); err != nil {
					return parity, err
				}
			}
			column = append(column, part)
		}
		for i := range parity {
			column = append(column, parity[i][at:at+n])
		}
		if err := enc.Encode(column); err != nil {
			return parity, fmt.Errorf("parity: %w", err)
		}
	}
	return parity, nil
}

// checkBlocks compares consecutive blocks with their checksums.
func checkBlocks(b []byte, sums []uint32) error {
	for i := 0; len(b) > 0; i++ {
		n := min(parityBlock, len(b))
		if blockSum(b[:n]) != sums[i] {
			return errors.New("the pack has changed since it was closed")
		}
		b = b[n:]
	}
	return nil
}

// write writes a parity file and publishes it, if the pack still exists by then.
func (h *parityMaker) write(job parityJob, shards [parityShards][]byte) error {
	head := parityHead{num: job.num, pack: job.sums}
	for _, shard := range shards {
		for at := 0; at < len(shard); at += parityBlock {
			head.parity = append(head.parity, blockSum(shard[at:at+parityBlock]))
		}
	}
	name := parityName(job.name)
	path := filepath.Join(h.s.dir, name)
	b := head.encode()
	last := binary.BigEndian.AppendUint32(b, uint32(len(b)))
	if err := h.s.writeFile(path+tempSuffix, b, shards[0], shards[1], last); err != nil {
		return err
	}
	if err := h.publish(job, name, path); err != nil {
		return err
	}
	return h.s.syncDir()
}

// publish renames a finished parity file to its name.
func (h *parityMaker) publish(job parityJob, name, path string) error {
	h.naming.Lock()
	defer h.naming.Unlock()
	defer h.s.packs.version.Add(1)
	if !h.s.packs.has(job.num, job.name) {
		return h.s.fs.Remove(path + tempSuffix)
	}
	if err := h.s.fs.Rename(path+tempSuffix, path); err != nil {
		return errors.Join(err, h.s.fs.Remove(path+tempSuffix))
	}
	h.set(name, true)
	h.s.mended(name, "its pack")
	return nil
}

// writeFile writes a file and syncs it. On an error it removes the file.
func (s *Store) writeFile(path string, parts ...[]byte) error {
	f, err := s.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return diskError("write", err)
	}
	for _, b := range parts {
		if err == nil {
			_, err = f.Write(b)
		}
	}
	if err == nil && !s.opts.NoSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(diskError("write", err), s.fs.Remove(path))
	}
	return nil
}
