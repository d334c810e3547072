package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// openContent opens the packs, and the bucket that holds the closed ones. Its URL is that of the settings; without one,
// that of the directory's description, which thus remembers it.
func (s *Store) openContent() (err error) {
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

// rememberBytes writes the URL of the bucket into the description of the directory.
func (s *Store) rememberBytes(url string) error {
	d := &s.described
	if d.Bytes == url && d.Format == d.formatOf() {
		return nil
	}
	d.Bytes = url
	d.Format = d.formatOf()
	return d.write(disk.OS{}, s.Config.Data)
}
