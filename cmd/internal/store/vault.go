package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/vault"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// backedUp is what a continuous backup needs.
type backedUp struct {
	gate    *vault.Gate
	written time.Time // of the log, before it was opened
	keeper  *vault.Keeper
}

// holderFile, in the data directory, has the identity by which a continuous backup knows it. It is not in any backup.
const holderFile = "holder"

// forgetKey in SpaceMeta is set while a continuous backup may have withdrawn bytes.
const forgetKey = "store/forget"

// prepareBackup makes commits pass the gate of a continuous backup, if there is to be one.
func (s *Store) prepareBackup(o *kv.Options) {
	if !s.Config.Backup.On() {
		return
	}
	s.backedUp.gate = vault.NewGate()
	o.Acknowledge = s.backedUp.gate.Acknowledge
	o.HoldBytes = maxHeldLog
	entries, err := os.ReadDir(filepath.Join(s.Config.Data, "log"))
	if err != nil {
		return // a new archive
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.ModTime().After(s.backedUp.written) {
			s.backedUp.written = info.ModTime()
		}
	}
}

// maxHeldLog bounds the log that is kept while the object store is away. Beyond it, the backup begins anew.
const maxHeldLog = 4 << 30

// HolderOf returns the identity of a data directory, and makes one if there is none.
func HolderOf(dir string) (vault.Holder, error) {
	name := filepath.Join(dir, holderFile)
	text, err := disk.ReadFile(disk.OS{}, name, 1<<10)
	if err == nil {
		return vault.Holder(strings.TrimSpace(string(text))), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("identity of the data directory: %w", err)
	}
	h := vault.NewHolder()
	if err := disk.WriteFile(disk.OS{}, name, []byte(h+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("identity of the data directory: %w", err)
	}
	return h, nil
}

// BeginBackup makes this process the writer of the continuous backup, if the settings name one. The error says why it
// must not write the archive.
func (s *Store) BeginBackup(ctx context.Context, url string) error {
	to := s.Config.Backup
	if s.backedUp.gate == nil || s.DB.ReadOnly() {
		return nil
	}
	holder, err := HolderOf(s.Config.Data)
	if err != nil {
		return err
	}
	b, err := bucket.Open(ctx, to.To, bucket.Options{Logger: s.Log})
	if err != nil {
		return fmt.Errorf("--backup-to: %w", err)
	}
	if packs := s.described.Bytes; packs != "" && bucket.Overlap(to.To, packs) { // Config.Check sees only what the settings name
		return fmt.Errorf("--backup-to %s: the bucket of the packs (%s) is the same place, or one is below the other: name another prefix",
			to.To, packs)
	}
	if err := s.NoteCopy(ctx, BucketCopy, to.To); err != nil {
		return err
	}
	noted, err := readNote(s.Config.Data)
	if err != nil && !errors.Is(err, errNote) {
		return err
	}
	src := vault.Source{DB: s.DB, Content: s.Content, Dir: s.Config.Data, Files: []string{directoryFile, directoryCopy},
		Withdrawn: s.ToForget, Forgotten: s.forgotten}
	of := noted // what is noted of this backup
	if of.To != to.To {
		of = backupNote{}
	}
	k := vault.New(b, src, s.backedUp.gate, vault.Options{
		Keep: time.Duration(to.Days) * 24 * time.Hour, Every: to.Every, Lease: BackupLease, Wait: to.Wait, Holder: holder, URL: url,
		Take: to.Promote,
		Log:  s.Log, Written: s.backedUp.written, Taken: s.taken, Begun: of.Begun, Epoch: of.Epoch,
		Check: func(ctx context.Context, b bucket.Bucket) error { return SameArchive(ctx, s.Config.Data, b) },
	})
	if err := k.Begin(ctx); err != nil {
		s.DB.StopWrites(err)
		return errors.Join(fmt.Errorf("--backup-to %s: %w", to.To, err), s.NoteReplaced(err))
	}
	s.backedUp.keeper = k
	if k.State().Epoch == 0 && !noted.Begun { // the backup could not be asked yet; taken follows
		return noteBackup(s.Config.Data, to, false, 0, "")
	}
	return nil
}

// taken notes that this directory is the writer of the backup. The Keeper calls it before anything is acknowledged.
func (s *Store) taken(epoch uint64, vault string) error {
	return NoteWriter(s.Config.Data, s.Config.Backup, epoch, vault)
}

// BackupLease is how long followers must not have heard of a writer before they may replace it.
const BackupLease = 15 * time.Second

// BackupKeeper returns what copies the archive continuously; nil if nothing does.
func (s *Store) BackupKeeper() *vault.Keeper { return s.backedUp.keeper }

// NoteForget notes that withdrawn bytes must leave the continuous backup, if there is one.
func (s *Store) NoteForget(ctx context.Context) error {
	all, err := s.Copies()
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Kind == BucketCopy {
			return s.SetSetting(ctx, forgetKey, s.Clock().UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// ToForget reports whether withdrawn bytes have left the archive and must leave the backup.
func (s *Store) ToForget() (bool, error) {
	note, err := s.Setting(forgetKey)
	if err != nil || len(note) == 0 {
		return false, err
	}
	pending, err := s.Archive.PendingPurge(context.Background())
	for _, p := range pending {
		for _, v := range p.Versions {
			if v.Withdrawn == nil || v.Withdrawn.By != catalog.ByRetention {
				return false, nil // KeepWithdrawn goes on
			}
		}
	}
	return err == nil, err
}

func (s *Store) forgotten(ctx context.Context) error {
	return s.DB.Update(ctx, func(txn *kv.Txn) error { return txn.Delete(kv.SpaceMeta, []byte(forgetKey)) })
}
