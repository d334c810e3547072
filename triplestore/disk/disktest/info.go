package disktest

import (
	"io/fs"
	"path/filepath"
	"time"
)

// info describes a node at some time.
type info struct {
	name     string
	size     int64
	mode     fs.FileMode
	modified time.Time
}

func (n *node) info(name string) fs.FileInfo {
	return info{filepath.Base(name), int64(len(n.now)), n.mode, n.modified}
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
