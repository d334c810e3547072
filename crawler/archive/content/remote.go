package content

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/tier"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// Closed packs and their parity may live in a bucket (Options.Remote): package tier is then the file system of the
// folder. This file opens it, and does what only the store can: say what the bucket must hold, and repair it.

// BucketJournal is the name of the file in the folder that says what is in the bucket.
const BucketJournal = tier.JournalName

// ErrRemote reports that a store was opened without the bucket that holds its packs.
var ErrRemote = errors.New("its packs are in a bucket")

// stateArchive is the state record that identifies the store to its bucket.
const stateArchive = "archive"

// ParcelPrefix begins the keys of objects in the bucket that are not the store's: parcels of workers on their way. They
// are left alone until the store leaves the bucket.
const ParcelPrefix = "parcels/"

// isRemote reports whether a file belongs into the bucket once it has this name.
func isRemote(name string) bool {
	_, hash, ok := parsePackName(strings.TrimSuffix(strings.TrimSuffix(name, paritySuffix), closedSuffix) + closedSuffix)
	return ok && hash != "" && (strings.HasSuffix(name, closedSuffix) || strings.HasSuffix(name, paritySuffix))
}

// digestInName returns how the SHA-256 of a pack begins. A parity file is named by its pack.
func digestInName(name string) string {
	_, hash, _ := parsePackName(name)
	return hash
}

// openRemote makes a bucket the place of closed packs, as the options say.
func (s *Store) openRemote() error {
	journal := filepath.Join(s.dir, tier.JournalName)
	_, err := s.fs.Stat(journal)
	used := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case s.opts.Detach && !used: // a restored copy with all its packs, or the end of another Detach
		return s.leaveRemote()
	case s.opts.Remote == nil && s.opts.Detach:
		return ErrRemote
	case s.opts.Remote == nil:
		s.tier = followed(s.fs)
		s.followed = s.tier != nil
		return nil
	}
	id, err := s.archiveID()
	if err != nil {
		return err
	}
	t, err := tier.Open(context.Background(), tier.Options{
		Bucket: s.opts.Remote, Dir: s.dir, Finished: isRemote, Digest: digestInName, Archive: id, TakeOver: s.opts.TakeOver,
		ReadOnly: s.db.ReadOnly(), Cache: s.opts.RemoteCache, FS: s.opts.FS, NoSync: s.opts.NoSync, Wanted: s.wanted, Logger: s.log,
		Guests: ParcelPrefix, Limit: s.opts.RemoteLimit, Pause: s.opts.remotePause, Backoff: s.opts.remoteBackoff,
	})
	if err != nil {
		return err
	}
	if s.opts.Detach {
		err := t.Detach(context.Background(), func(done, total int) {
			if done%16 == 0 || done == total {
				s.log.Info("packs are fetched from the bucket", "files", done, "of", total)
			}
		})
		if err = errors.Join(err, t.Close()); err != nil {
			return fmt.Errorf("fetch all packs from the bucket: %w", err)
		}
		return s.leaveRemote()
	}
	s.tier, s.fs = t, t
	return nil
}

// leaveRemote records that all packs are in the folder.
func (s *Store) leaveRemote() error {
	if s.db.ReadOnly() {
		return kv.ErrReadOnly
	}
	entries, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return err
	}
	there := make(map[uint64]bool)
	for _, e := range entries {
		if num, _, ok := parsePackName(e.Name()); ok {
			there[num] = true
		}
	}
	missing := 0
	return s.db.Update(context.Background(), func(tx *kv.Txn) error {
		err := tx.Scan(refsSpace, []byte{keyPack}, nil, func(key, val []byte) (bool, error) {
			num, ok := keyNumber(key)
			p, err := decodePack(val)
			if ok && err == nil && p.live > 0 && !there[num] {
				missing++
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		if missing > 0 {
			return fmt.Errorf("%d packs are not in the folder: name the bucket that has them", missing)
		}
		return tx.Set(refsSpace, stateKey("format"), binary.AppendUvarint(nil, formatVersion))
	})
}

// archiveID returns what identifies the store to its bucket. It is made when a bucket is first used, and then the
// format becomes one that older programs refuse.
func (s *Store) archiveID() (id string, err error) {
	format := uint64(0)
	read := func(tx *kv.Txn) error {
		_, err := tx.Read(refsSpace, stateKey(stateArchive), func(val []byte) error {
			id = string(val)
			return nil
		})
		if err == nil {
			format, err = readNumber(tx, stateKey("format"))
		}
		return err
	}
	if err = s.db.View(read); err != nil || id != "" && format == remoteFormat {
		return id, err
	}
	if s.db.ReadOnly() {
		return "", errors.New("the archive has not been used with a bucket yet")
	}
	err = s.db.Update(context.Background(), func(tx *kv.Txn) error {
		if err := read(tx); err != nil {
			return err
		}
		if id == "" {
			id = rand.Text()
			if err := tx.Set(refsSpace, stateKey(stateArchive), []byte(id)); err != nil {
				return err
			}
		}
		return tx.Set(refsSpace, stateKey("format"), binary.AppendUvarint(nil, remoteFormat))
	})
	return id, err
}

// Follow returns a file system for Options.FS of a read-only store on another machine: it has the packs of the folder
// dir, such as copies of open ones, and the closed packs of the bucket of another store, of which it keeps at most
// cache bytes (0: 10 GiB) in the folder. Stores may share it, one after another or at the same time. The caller closes
// it after them.
func Follow(ctx context.Context, dir string, from bucket.Bucket, cache int64, log *slog.Logger) (*tier.FS, error) {
	return tier.Open(ctx, tier.Options{Bucket: from, Dir: dir, Finished: isRemote, Digest: digestInName, Follow: true, Cache: cache,
		Logger: log})
}

// FollowBeside is Follow for another process than the one that follows in the folder: it changes nothing there.
func FollowBeside(ctx context.Context, dir string, from bucket.Bucket, log *slog.Logger) (*tier.FS, error) {
	return tier.Open(ctx, tier.Options{Bucket: from, Dir: dir, Finished: isRemote, Digest: digestInName, Follow: true, Beside: true,
		Logger: log})
}

// followed returns the file system of Follow, nil for any other.
func followed(fsys disk.FS) *tier.FS {
	t, _ := fsys.(*tier.FS)
	return t
}

// wanted reports whether an object that the journal of the bucket does not know is a pack of this store, or its parity.
func (s *Store) wanted(name string) (bool, error) {
	num, _, ok := parsePackName(strings.TrimSuffix(strings.TrimSuffix(name, paritySuffix), closedSuffix) + closedSuffix)
	if !ok {
		return false, nil
	}
	if s.packs != nil { // open: another file may be this pack
		pack := strings.TrimSuffix(strings.TrimSuffix(name, paritySuffix), closedSuffix) + closedSuffix
		if there := s.packs.nameOf(num); there != pack && parsesAsPack(there) {
			return false, nil
		}
	}
	rec, known, err := s.packRecord(num)
	return known && rec.live+rec.records > 0, err
}

func parsesAsPack(name string) bool {
	_, _, ok := parsePackName(name)
	return ok
}

// Remote returns the figures of the bucket that holds the closed packs; ok is false if there is none.
func (s *Store) Remote() (stats tier.Stats, ok bool) {
	if s.tier == nil {
		return stats, false
	}
	return s.tier.Stats(), true
}

// FlushRemote waits until all closed packs are in the bucket, and what was dropped is gone from it.
func (s *Store) FlushRemote(ctx context.Context) error {
	if s.tier == nil {
		return nil
	}
	return s.tier.Flush(ctx)
}

// RemoteFault is an object of the bucket that is not what was uploaded.
type RemoteFault = tier.Fault

// CheckRemote compares what is in the bucket with what was uploaded: by a listing, or with deep by reading all of it,
// at most bytesPerSecond (0: no limit). It finds nothing if there is no bucket.
func (s *Store) CheckRemote(ctx context.Context, deep bool, bytesPerSecond int64, progress func(done, total int64)) ([]RemoteFault, error) {
	if s.tier == nil {
		return nil, nil
	}
	return s.tier.Check(ctx, tier.CheckOptions{Deep: deep, Slow: disk.NewThrottle(bytesPerSecond), Progress: progress})
}

// MendRemote replaces faulty objects by sound local copies, and drops those that are missing altogether, so that Mend
// finds them. What is damaged and not local, Mend heals from parity.
func (s *Store) MendRemote(ctx context.Context, faults []RemoteFault) error {
	if s.tier == nil {
		return nil
	}
	if err := s.tier.Repair(ctx, faults); err != nil {
		return fmt.Errorf("content: %w", err)
	}
	for _, f := range faults {
		if num, _, ok := parsePackName(f.Name); ok && f.Missing && !f.Local {
			s.packs.remove(num)
		} else if f.Missing && !f.Local {
			s.parity.set(f.Name, false)
		}
	}
	return nil
}

// ErrLeftInBucket reports that what was dropped is gone from the folder, and not from the bucket yet.
var ErrLeftInBucket = errors.New("the bucket still has the bytes")

// flushDeleted waits until the bytes of dropped packs are gone from the bucket, too.
func (s *Store) flushDeleted(ctx context.Context) error {
	if s.tier == nil {
		return nil
	}
	if err := s.tier.FlushDeleted(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrLeftInBucket, err)
	}
	return nil
}

// cold reports whether a pack is only in the bucket.
func (s *Store) cold(name string) bool { return s.tier != nil && s.tier.Cold(name) }

// aheadBytes bounds what is fetched from the bucket beyond the segments that are read.
const aheadBytes = 4 << 20

// ahead is a reader of a pack that fetches, with the leaves from i on, those of the same file that follow them.
type ahead struct {
	f     tier.File
	until int64
}

func (a ahead) ReadAt(b []byte, at int64) (int, error) { return a.f.ReadRange(b, at, a.until) }

// leavesReader returns the reader for leaves of a pack.
func leavesReader(f disk.File, l *layout, i int) io.ReaderAt {
	t, ok := f.(tier.File)
	if !ok {
		return f
	}
	last := &l.leaves[l.together(i, aheadBytes)-1]
	return ahead{t, last.offset + segmentHead + int64(last.deflated)}
}

// distrust makes the next read of some leaves go to the bucket; it reports whether that may help.
func distrust(f disk.File, leaves []leaf) bool {
	t, ok := f.(tier.File)
	last := &leaves[len(leaves)-1]
	return ok && t.Distrust(leaves[0].offset, last.offset+segmentHead+int64(last.deflated))
}
