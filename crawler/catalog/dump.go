package catalog

import (
	"errors"
	"time"
)

// ErrNoDump is the error for a name that no dump has.
var ErrNoDump = errors.New("there is no such dump")

// Dump is a file with all triples of the archive at one moment, or with all of its default graph.
type Dump struct {
	Name   string    `json:"name"`   // of the file, and the last part of its address
	Kind   string    `json:"kind"`   // DumpNQuads or DumpHDT
	Made   time.Time `json:"made"`   // when its snapshot was taken
	Size   int64     `json:"size"`   // bytes
	SHA256 string    `json:"sha256"` // of the file, in hexadecimal digits
}

// The kinds of dumps, which are the extensions of their names.
const (
	DumpNQuads = "nq.gz" // every graph, as compressed N-Quads
	DumpHDT    = "hdt"   // the default graph, as HDT
)

// MediaType returns the media type of the file.
func (d Dump) MediaType() string {
	if d.Kind == DumpHDT {
		return "application/vnd.hdt"
	}
	return "application/gzip"
}
