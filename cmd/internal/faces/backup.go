package faces

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/copies/backup"
	"odarchive/triplestore/disk"
)

// Backup writes a backup of the archive to w. With since, it contains only what is new. It is noted before its first
// byte, so that what is withdrawn meanwhile names it, too.
func (a *Faces) Backup(ctx context.Context, w io.Writer, since *backup.Info) error {
	name := "sent to a client, begun at " + a.store.Clock().UTC().Format(time.RFC3339Nano)
	if err := a.store.NoteCopy(ctx, store.BackupCopy, name); err != nil {
		return err
	}
	if _, err := backup.Write(ctx, a.store.BackupSource(), w, since, nil); err != nil {
		return err
	}
	return a.store.NoteCopy(ctx, store.BackupCopy, name)
}

// Backup downloads a backup into the file out, which gets its name only once it is complete. It returns
// backup.ErrExists if there is such a file. since names an earlier backup, or is empty.
func (r *Remote) Backup(ctx context.Context, out, since string, progress backup.Progress) (info backup.Info, err error) {
	if _, err := os.Lstat(out); err == nil {
		return info, fmt.Errorf("%s: %w", out, backup.ErrExists)
	}
	var body []byte
	if since != "" {
		earlier, err := backup.Inspect(since)
		if err == nil {
			body, err = json.Marshal(earlier)
		}
		if err != nil {
			return info, err
		}
	}
	in, err := r.do(ctx, http.MethodPost, "/backup", "application/json", body)
	if err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	defer in.Close()
	return keepBackup(in, out, progress)
}

// keepBackup writes what a server sends to a new file, which gets its name when it is complete. Only its owner may read
// it, as one that was written without a server: it is the whole archive, also where reading that needs a token. The
// part has a name of its own, so that two commands with the same out write two files.
func keepBackup(body io.Reader, out string, progress backup.Progress) (info backup.Info, err error) {
	f, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".*.partial")
	if err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	_, err = io.Copy(io.MultiWriter(f, progressWriter(progress)), body)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		info, err = backup.Inspect(f.Name())
	}
	if err == nil {
		err = os.Rename(f.Name(), out)
	}
	if err != nil {
		return info, errors.Join(fmt.Errorf("backup %s: %w", out, err), os.Remove(f.Name()))
	}
	return info, disk.OS{}.SyncDir(filepath.Dir(out))
}

// progressWriter reports the bytes written to it.
type progressWriter backup.Progress

func (p progressWriter) Write(b []byte) (int, error) {
	if p != nil {
		p(int64(len(b)))
	}
	return len(b), nil
}
