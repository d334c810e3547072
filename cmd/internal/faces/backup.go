package faces

import (
	"context"
	"io"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/copies/backup"
)

// Backup writes a backup of the archive for a client to w. With since, it contains only what is new. It is noted before
// its first byte, so that what is withdrawn meanwhile names it, too.
func (a *Faces) Backup(ctx context.Context, w io.Writer, since *backup.Info, progress backup.Progress) (backup.Info, error) {
	name := "sent to a client, begun at " + a.store.Clock().UTC().Format(time.RFC3339Nano)
	if err := a.store.NoteCopy(ctx, store.BackupCopy, name); err != nil {
		return backup.Info{}, err
	}
	info, err := backup.Write(ctx, a.store.BackupSource(), w, since, progress)
	if err == nil {
		err = a.store.NoteCopy(ctx, store.BackupCopy, name)
	}
	return info, err
}
