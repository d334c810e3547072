package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// openContent opens the packs, and the bucket that holds the closed ones. Its URL is that of the settings; without one,
// that of the directory's description, which thus remembers it.
func (s *Store) openContent(state *State) (err error) {
	if state != nil || kv.IsReplica(s.Config.Data) {
		return s.openReplicaContent(state)
	}
	options := content.Options{Logger: s.Log, RemoteCache: int64(s.Config.Cache), TakeOver: s.Config.TakeBytes}
	url := s.Config.Bytes
	if url == config.BytesHere {
		options.Detach = s.described.Bytes != ""
		url = ""
	}
	if url == "" {
		url = s.described.Bytes
	}
	if url != "" {
		if options.Remote, err = bucket.Open(context.Background(), url, bucket.Options{Logger: s.Log}); err != nil && !options.Detach {
			return err
		}
	}
	if options.Remote != nil && !options.Detach && !s.DB.ReadOnly() {
		if err := s.rememberBytes(url); err != nil { // before anything is there that another program would miss
			return err
		}
	}
	s.Content, err = content.Open(filepath.Join(s.Config.Data, "packs"), s.DB, options)
	if errors.Is(err, content.ErrRemote) {
		return fmt.Errorf("%w, and its URL is not known here: name it with --bytes", err)
	}
	if err != nil {
		return err
	}
	s.onClose(s.Content.Close)
	if !options.Detach {
		s.Bucket = options.Remote
	}
	if options.Detach {
		return s.rememberBytes("")
	}
	return nil
}

// openReplicaContent opens the packs of a replica for reading: all are in the folder, or the closed ones are read from
// the bucket in which its writer keeps them. Without a state, the replica's directory is read, perhaps beside its
// server.
func (s *Store) openReplicaContent(state *State) (err error) {
	dir := filepath.Join(s.Config.Data, "packs")
	options := content.Options{Logger: s.Log}
	if state != nil {
		options.FS = state.Packs
	} else {
		url := s.Config.Bytes
		if url == "" {
			if url, err = replicaBytes(s.Config.Data); err != nil {
				return err
			}
		}
		if url != "" && url != config.BytesHere {
			b, err := bucket.Open(context.Background(), url, bucket.Options{Logger: s.Log})
			if err != nil {
				return err
			}
			packs, err := content.FollowBeside(context.Background(), dir, b, s.Log)
			if err != nil {
				return err
			}
			s.onClose(packs.Close)
			options.FS = packs
		}
	}
	options.Here = options.FS == nil
	if s.Content, err = content.Open(dir, s.DB, options); err != nil {
		return err
	}
	s.onClose(s.Content.Close)
	return nil
}

// replicaError reports a command that writes, in the directory of a replica. It is kv.ErrReplica.
type replicaError struct{ writer string }

func (e *replicaError) Error() string {
	return fmt.Sprintf("it is a replica of %s, where changes go", cmp.Or(e.writer, "another archive"))
}

func (e *replicaError) Unwrap() error { return kv.ErrReplica }

// replicaWriter returns the address of the archive that a replica follows, "" if that cannot be read.
func replicaWriter(dir string) string {
	mark, _ := replicaMark(dir)
	return mark.Writer
}

// replicaBytes returns the URL of the bucket from which a replica reads closed packs, "" if it copies them.
func replicaBytes(dir string) (string, error) {
	mark, err := replicaMark(dir)
	return mark.Bytes, err
}

// BytesOf returns the URL of the bucket of the packs of the archive in a directory, by the settings or by what the
// directory notes; "" if there is none.
func BytesOf(cfg config.Config) (string, error) {
	switch {
	case cfg.Bytes == config.BytesHere:
		return "", nil
	case cfg.Bytes != "":
		return cfg.Bytes, nil
	case kv.IsReplica(cfg.Data):
		return replicaBytes(cfg.Data)
	}
	d, err := describe(disk.OS{}, cfg.Data, time.Time{})
	return d.Bytes, err
}

// replicaMark reads what the replica in a directory notes of its writer.
func replicaMark(dir string) (mark struct{ Writer, Bytes string }, err error) {
	raw, err := disk.ReadFile(disk.OS{}, filepath.Join(dir, kv.ReplicaFile), maxDirectoryFile)
	if err == nil {
		err = json.Unmarshal(raw, &mark)
	}
	if err != nil {
		return mark, fmt.Errorf("%s: %w", kv.ReplicaFile, err)
	}
	return mark, nil
}

// rememberBytes writes the URL of the bucket into the description of the directory.
func (s *Store) rememberBytes(url string) error {
	d := &s.described
	if d.Bytes == url {
		return nil
	}
	d.Bytes = url
	return d.write(disk.OS{}, s.Config.Data)
}
