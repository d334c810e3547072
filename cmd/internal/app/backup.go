package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"odarchive/crawler/backup"
)

// BackupSource is what a backup of the node is made of.
func (n *Node) BackupSource() backup.Source {
	return backup.Source{DB: n.DB, Content: n.Content, Dir: n.Config.Data, Files: []string{directoryFile}}
}

// Backup writes a backup to a request's answer.
func (n *Node) Backup(ctx context.Context, w io.Writer, since *backup.Info) error {
	_, err := backup.Write(ctx, n.BackupSource(), w, since, nil)
	return err
}

// BackupServer has a running server write a backup, and keeps it in a file that has its name only when it is whole.
func BackupServer(ctx context.Context, server, token, out, since string, progress backup.Progress) (info backup.Info, err error) {
	if _, err := os.Stat(out); err == nil {
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(server, "/")+"/backup", bytes.NewReader(body))
	if err != nil {
		return info, fmt.Errorf("--server %q: expected an address such as http://localhost:8080/: %w", server, err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return info, fmt.Errorf("backup: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why, err := io.ReadAll(io.LimitReader(resp.Body, 500))
		return info, errors.Join(fmt.Errorf("%s answered %s: %s", server, resp.Status, why), err)
	}
	return keepBackup(resp.Body, out, progress)
}

func keepBackup(body io.Reader, out string, progress backup.Progress) (info backup.Info, err error) {
	part := out + ".part"
	f, err := os.Create(part)
	if err != nil {
		return info, err
	}
	_, err = io.Copy(io.MultiWriter(f, progressWriter(progress)), body)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		info, err = backup.Inspect(part)
	}
	if err == nil {
		err = os.Rename(part, out)
	}
	if err != nil {
		return info, errors.Join(fmt.Errorf("backup %s: %w", out, err), os.Remove(part))
	}
	return info, nil
}

// progressWriter tells how much passes through it.
type progressWriter backup.Progress

func (p progressWriter) Write(b []byte) (int, error) {
	if p != nil {
		p(int64(len(b)))
	}
	return len(b), nil
}
