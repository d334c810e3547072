// Package inspect finds out what a file of known kind contains: tables, RDF statements, members of an archive and the
// tables in them, and what the file says of itself.
//
// File examines one file with the package for its kind (csvprofile, tables, rdfprofile, unpack, document), within
// limits of time and size for the whole file. Extract returns the bytes of one member. What cannot be read is described
// in Inside.Faults, one sentence each, and affects only its own file or member. What the limits omit is counted in
// Inside. The archive keeps Inside, most of it as JSON: field names are stable.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/document"
	"odarchive/crawler/inspect/extent"
	"odarchive/crawler/inspect/rdfprofile"
	"odarchive/crawler/inspect/tables"
	"odarchive/crawler/inspect/unpack"
	"odarchive/triplestore/hdt"
)

// Inside is what a file contains.
type Inside struct {
	Tables  []*csvprofile.Profile `json:"tables,omitempty"`
	RDF     *rdfprofile.Profile   `json:"rdf,omitempty"`
	Members []Member              `json:"members,omitempty"` // of an archive, in its order

	// Document is what the file says of itself, nil if that is nothing.
	Document *document.Document `json:"document,omitempty"`

	More   bool     `json:"more,omitempty"`   // a limit was reached: the file contains more
	Faults []string `json:"faults,omitempty"` // what could not be read, and why

	// Period is that of the dates in all tables, nil if they have none. It is stored so that the triples of versions
	// that older programs described stay what their records say.
	Period *extent.Period `json:"period,omitempty"`

	// What limits omitted from tables and members that are otherwise listed.
	ColumnsOmitted  int `json:"columnsOmitted,omitempty"`  // sum of csvprofile.Profile.Omitted over all tables
	MembersOmitted  int `json:"membersOmitted,omitempty"`  // members that are not listed, as far as they were counted
	SketchesOmitted int `json:"sketchesOmitted,omitempty"` // columns whose sample of values is not kept
}

// Member is one file in an archive.
type Member struct {
	Path     string                `json:"path"`
	Size     int64                 `json:"size"` // -1 if the archive does not say
	Modified time.Time             `json:"modified,omitzero"`
	Type     string                `json:"type,omitempty"` // media type, "" if unknown
	Charset  string                `json:"charset,omitempty"`
	Tables   []*csvprofile.Profile `json:"tables,omitempty"`
	RDF      *rdfprofile.Profile   `json:"rdf,omitempty"`
	Document *document.Document    `json:"document,omitempty"`
}

// Input is a file to examine.
type Input struct {
	Found detect.Detection // kind of the file
	Name  string           // file name
	Base  string           // its URL, the base of relative IRIs; "" if none
	Size  int64
	Body  io.ReaderAt

	beside func(extension string) (io.ReaderAt, int64, bool) // of a member; tables.Input.Beside
}

// reader returns a reader of the whole file.
func (in Input) reader() io.Reader {
	section := io.NewSectionReader(in.Body, 0, in.Size)
	if held, ok := in.Body.(holder); ok {
		return inMemory{section, held}
	}
	return section
}

// holder is a body with its beginning in memory, as in package spool. Head returns at most n bytes of it without a
// copy.
type holder interface {
	Head(n int) ([]byte, error)
}

// inMemory is a reader of a holder.
type inMemory struct {
	*io.SectionReader
	holder
}

// Limits are limits of one File. Zero fields take the defaults.
type Limits struct {
	Time       time.Duration // 2 minutes
	MaxMembers int           // members listed, 10,000
	MaxColumns int           // columns listed, over all tables, 20,000
	MaxPaths   int           // bytes of the paths of listed members, 1 MiB
	MaxIRIs    int           // bytes of the listed IRIs of RDF, over the file and its members, 512 KiB
	MaxFacts   int           // bytes of what the file and its members say of themselves, 1 MiB
	MaxProbe   int64         // maximum size of a member to examine, 32 MiB; larger ones are only listed
	MaxFaults  int           // 20
	TempDir    string        // for inner archives; "" = the system's

	Temp func() (f *os.File, done func(), err error) // unpack.Limits.Temp
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
	if l.MaxFacts <= 0 {
		l.MaxFacts = 1 << 20
	}
	if l.MaxProbe <= 0 {
		l.MaxProbe = 32 << 20
	}
	if l.MaxFaults <= 0 {
		l.MaxFaults = 20
	}
	return l
}

// File examines a file. It returns nil if there is nothing to report, and an error only if ctx has ended.
func File(ctx context.Context, in Input, limits Limits) (*Inside, error) {
	limits = limits.withDefaults()
	limited, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	look := &look{ctx: limited, limits: limits, found: &Inside{}, columns: limits.MaxColumns, paths: limits.MaxPaths, iris: limits.MaxIRIs,
		facts: limits.MaxFacts}
	look.file(in)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(look.found.Tables) == 0 && look.found.RDF == nil && len(look.found.Members) == 0 && len(look.found.Faults) == 0 &&
		look.found.Document == nil {
		return nil, nil
	}
	look.relate()
	if period, ok := extent.Periods(look.found.AllTables()); ok {
		look.found.Period = &period
	}
	return look.found, nil
}

// look is the state of one File.
type look struct {
	ctx    context.Context // of this call, for the callbacks of the walk
	limits Limits
	found  *Inside

	// Columns, bytes of paths, of IRIs and of what files say of themselves that may still be listed.
	columns, paths, iris, facts int
}

// fault adds a fault.
func (l *look) fault(what string, err error) {
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("took longer than %s", l.limits.Time)
		l.found.More = true
	}
	if len(l.found.Faults) < l.limits.MaxFaults {
		l.found.Faults = append(l.found.Faults, shortened(what, maxFault/2)+": "+shortened(plain(err), maxFault))
	}
}

// plain returns an error's message without the names of the packages it came through.
func plain(err error) string {
	s := err.Error()
	for _, p := range []string{"tables: ", "unpack: ", "csvprofile: ", "rdfprofile: ", "detect: ", "document: "} {
		s = strings.TrimPrefix(s, p)
	}
	return s
}

// file examines the file itself.
func (l *look) file(in Input) {
	if in.Found.Compression == "" {
		l.found.Document = l.document(in.Name, in)
	}
	if in.Found.Compression != "" || unpack.Known(in.Found.Type) && !tables.Known(in.Found.Type) {
		l.members(in)
		return
	}
	l.found.Tables = l.boundTables(l.tables(in.Name, in))
	l.found.RDF = l.boundRDF(l.rdf(in))
}

// document returns what a file says of itself, nil if that is nothing or there is no room for it.
func (l *look) document(name string, in Input) *document.Document {
	if !document.Known(in.Found.Type) || l.facts < 500 {
		return nil
	}
	d, err := document.Read(l.ctx,
		tables.Input{Type: in.Found.Type, Charset: in.Found.Charset, Size: in.Size, Body: in.Body, TempDir: l.limits.TempDir})
	if err != nil && d == nil && len(l.found.Tables) == 0 {
		l.fault(name, err)
	}
	if d != nil {
		l.facts -= d.Fit(l.facts)
	}
	return d
}

// rdf profiles the statements of an RDF file. It returns nil for other files.
func (l *look) rdf(in Input) *rdfprofile.Profile {
	var profile *rdfprofile.Profile
	var err error
	switch {
	case in.Found.Type == hdt.MediaType:
		profile, err = rdfprofile.ReadHDT(l.ctx, in.Body, in.Size, rdfprofile.Options{Base: in.Base})
	case rdfprofile.Known(in.Found.Type):
		profile, err = rdfprofile.Read(l.ctx, io.NewSectionReader(in.Body, 0, in.Size), in.Found.Type, rdfprofile.Options{Base: in.Base})
	default:
		return nil
	}
	if err != nil {
		l.fault(in.Name, err)
	}
	return profile
}

// tables profiles the tables of one file that is not an archive.
func (l *look) tables(name string, in Input) []*csvprofile.Profile {
	switch {
	case in.Found.Tabular || in.Found.Type == "text/csv" || in.Found.Type == "text/tab-separated-values":
		profile, err := csvprofile.Read(l.ctx, in.reader(), csvprofile.Options{Charset: in.Found.Charset})
		if err != nil {
			l.fault(name, err)
			return nil
		}
		if len(profile.Columns) == 1 { // may be columns aligned with blanks
			if fixed := l.fixedWidth(name, in); fixed != nil {
				profile = fixed
			}
		}
		return []*csvprofile.Profile{profile}
	case tables.Known(in.Found.Type):
		found, err := tables.Read(l.ctx,
			tables.Input{Type: in.Found.Type, Charset: in.Found.Charset, Size: in.Size, Body: in.Body, TempDir: l.limits.TempDir,
				Beside: in.beside}, tables.Options{})
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

// fixedWidth profiles a text with columns of fixed width, nil if it has none.
func (l *look) fixedWidth(name string, in Input) *csvprofile.Profile {
	profile, err := tables.FixedWidth(l.ctx, tables.Input{Type: in.Found.Type, Charset: in.Found.Charset, Size: in.Size, Body: in.Body},
		tables.Options{})
	if err != nil {
		l.fault(name, err)
	}
	return profile
}
