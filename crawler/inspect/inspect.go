// Package inspect finds out what is inside a file whose kind is known: tables, RDF statements, members of an archive and
// the tables in them.
//
// Extract gives the bytes of one member. File looks at one file with the package that knows its kind (csvprofile, tables, rdfprofile, unpack), within limits of
// time and size for the whole file. What cannot be read is told in Inside.Faults, one sentence each; it never costs more
// than its own file. What the limits leave out is counted in Inside. Inside is kept by the archive, most of it as JSON: field names are stable.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/rdfprofile"
	"odarchive/crawler/inspect/tables"
	"odarchive/crawler/inspect/unpack"
)

// Inside is what a file holds.
type Inside struct {
	Tables  []*csvprofile.Profile `json:"tables,omitempty"`
	RDF     *rdfprofile.Profile   `json:"rdf,omitempty"`
	Members []Member              `json:"members,omitempty"` // of an archive, in its order
	More    bool                  `json:"more,omitempty"`    // a limit was reached: there is more than is told
	Faults  []string              `json:"faults,omitempty"`  // what could not be read, and why

	// What limits have left out, of tables and members that are otherwise listed.
	ColumnsOmitted  int `json:"columnsOmitted,omitempty"`  // the sum of csvprofile.Profile.Omitted over all tables
	MembersOmitted  int `json:"membersOmitted,omitempty"`  // members that are not listed, as far as they were counted
	SketchesOmitted int `json:"sketchesOmitted,omitempty"` // columns whose sample of values is not kept
}

// Member is one file in an archive.
type Member struct {
	Path     string                `json:"path"`
	Size     int64                 `json:"size"` // -1 where the archive does not say
	Modified time.Time             `json:"modified,omitzero"`
	Type     string                `json:"type,omitempty"` // media type, "" where it was not looked at
	Charset  string                `json:"charset,omitempty"`
	Tables   []*csvprofile.Profile `json:"tables,omitempty"`
	RDF      *rdfprofile.Profile   `json:"rdf,omitempty"`
}

// Input is a file to look into.
type Input struct {
	Found detect.Detection // what kind of file it is
	Name  string           // file name
	Base  string           // its URL, against which relative IRIs in it are resolved; "" where it has none
	Size  int64
	Body  io.ReaderAt
}

// reader reads the file from its beginning.
func (in Input) reader() io.Reader {
	section := io.NewSectionReader(in.Body, 0, in.Size)
	if held, ok := in.Body.(holder); ok {
		return inMemory{section, held}
	}
	return section
}

// holder is a body that has its beginning in memory, as package spool's have, and gives at most n bytes of it without a copy.
type holder interface {
	Head(n int) ([]byte, error)
}

// inMemory reads a body that is a holder.
type inMemory struct {
	*io.SectionReader
	holder
}

// Limits of one File. Zero fields take the defaults.
type Limits struct {
	Time       time.Duration // 2 minutes
	MaxMembers int           // that are listed, 10,000
	MaxColumns int           // that are listed, over all tables, 20,000
	MaxPaths   int           // bytes of the paths of members that are listed, 1 MiB
	MaxIRIs    int           // bytes of the IRIs that are listed of RDF, over the file and its members, 512 KiB
	MaxProbe   int64         // bytes of a member that is looked into, 32 MiB; a larger one is only listed
	MaxFaults  int           // 20
	TempDir    string        // for inner archives; "" = the system's
}

func (l Limits) withDefaults() Limits {
	if l.Time <= 0 {
		l.Time = 2 * time.Minute
	}
	if l.MaxMembers <= 0 {
		l.MaxMembers = 10_000
	}
	if l.MaxColumns <= 0 {
		l.MaxColumns = 20_000
	}
	if l.MaxPaths <= 0 {
		l.MaxPaths = 1 << 20
	}
	if l.MaxIRIs <= 0 {
		l.MaxIRIs = 512 << 10
	}
	if l.MaxProbe <= 0 {
		l.MaxProbe = 32 << 20
	}
	if l.MaxFaults <= 0 {
		l.MaxFaults = 20
	}
	return l
}

// File looks into a file. nil where there is nothing to tell. The error is only ever that ctx has ended.
func File(ctx context.Context, in Input, limits Limits) (*Inside, error) {
	limits = limits.withDefaults()
	limited, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	look := &look{ctx: limited, limits: limits, found: &Inside{}, columns: limits.MaxColumns, paths: limits.MaxPaths, iris: limits.MaxIRIs}
	look.file(in)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(look.found.Tables) == 0 && look.found.RDF == nil && len(look.found.Members) == 0 && len(look.found.Faults) == 0 {
		return nil, nil
	}
	return look.found, nil
}

// look is one File under way.
type look struct {
	ctx    context.Context // of this one call: the walk's callbacks have none
	limits Limits
	found  *Inside

	columns, paths, iris int // that may still be listed: columns, bytes of paths, bytes of IRIs
}

func (l *look) fault(what string, err error) {
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it took longer than %s", l.limits.Time)
		l.found.More = true
	}
	if len(l.found.Faults) < l.limits.MaxFaults {
		l.found.Faults = append(l.found.Faults, shortened(what, maxFault/2)+": "+shortened(plain(err), maxFault))
	}
}

// plain is an error without the names of the packages it came through.
func plain(err error) string {
	s := err.Error()
	for _, p := range []string{"tables: ", "unpack: ", "csvprofile: ", "rdfprofile: ", "detect: "} {
		s = strings.TrimPrefix(s, p)
	}
	return s
}

func (l *look) file(in Input) {
	if in.Found.Compression != "" || unpack.Known(in.Found.Type) && !tables.Known(in.Found.Type) {
		l.members(in)
		return
	}
	l.found.Tables = l.boundTables(l.tables(in.Name, in))
	l.found.RDF = l.boundRDF(l.rdf(in))
}

// rdf says what statements an RDF file holds; nil for other files.
func (l *look) rdf(in Input) *rdfprofile.Profile {
	if !rdfprofile.Known(in.Found.Type) {
		return nil
	}
	profile, err := rdfprofile.Read(l.ctx, io.NewSectionReader(in.Body, 0, in.Size), in.Found.Type, rdfprofile.Options{Base: in.Base})
	if err != nil {
		l.fault(in.Name, err)
	}
	return profile
}

// tables of one file that is no archive.
func (l *look) tables(name string, in Input) []*csvprofile.Profile {
	switch {
	case in.Found.Tabular || in.Found.Type == "text/csv" || in.Found.Type == "text/tab-separated-values":
		profile, err := csvprofile.Read(l.ctx, in.reader(), csvprofile.Options{Charset: in.Found.Charset})
		if err != nil {
			l.fault(name, err)
			return nil
		}
		if len(profile.Columns) == 1 { // called a CSV, and made of columns that blanks align
			if fixed := l.fixedWidth(name, in); fixed != nil {
				profile = fixed
			}
		}
		return []*csvprofile.Profile{profile}
	case tables.Known(in.Found.Type):
		found, err := tables.Read(l.ctx, tables.Input{Type: in.Found.Type, Charset: in.Found.Charset, Size: in.Size, Body: in.Body, TempDir: l.limits.TempDir}, tables.Options{})
		if err != nil {
			l.fault(name, err)
		}
		l.found.More = l.found.More || len(found) >= tables.DefaultTables
		return found
	case in.Found.Type == "text/plain":
		if profile := l.fixedWidth(name, in); profile != nil {
			return []*csvprofile.Profile{profile}
		}
	}
	return nil
}

func (l *look) fixedWidth(name string, in Input) *csvprofile.Profile {
	profile, err := tables.FixedWidth(l.ctx, tables.Input{Type: in.Found.Type, Charset: in.Found.Charset, Size: in.Size, Body: in.Body}, tables.Options{})
	if err != nil {
		l.fault(name, err)
	}
	return profile
}
