package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/rdfprofile"
	"odarchive/crawler/inspect/tables"
	"odarchive/crawler/inspect/unpack"

	"github.com/spf13/cobra"
)

func (c *cli) profile() *cobra.Command {
	var asCSVW bool
	cmd := &cobra.Command{
		Use:   "profile FILE...",
		Short: "Describe local tables: dialect, header, columns",
		Long: `Describe local tables: dialect, encoding, header, and the type and statistics of every column.

Tables can be in CSV and similar text, XLSX, XLS, ODS, JSON, NDJSON, GeoJSON, XML, HTML, Parquet, text with columns of
fixed width, and in files inside archives. So can those of databases and maps (SQLite, GeoPackage, shapefile, DBF, KML, GML,
GPX, TopoJSON, FlatGeobuf), of statistics (SPSS, Stata, SAS, R) and in columns (Arrow, Feather, Avro). Before the
columns, the output has the kind of the table, rows of sums, keys, notes, geometries, reference system, box and period. For RDF files the command prints their statistics and syntax errors.

Tables of documents (DOCX, ODT, notebooks), of statistics offices (PC-Axis, JSON-stat, SDMX) and of scientific arrays (NetCDF,
HDF5), events of calendars and records of web archives are read, too. What a file says of itself is printed first: title,
language, pages, dimensions, variables.`,
		Example: "  odarchive profile data.csv\n  odarchive profile --csvw data.csv > data.csv-metadata.json\n  odarchive profile --json " +
			"workbook.xlsx",
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.eachFile(cmd.Context(), args, func(file localFile) error {
				name := file.name
				in, err := lookInto(cmd.Context(), file)
				if err != nil {
					return err
				}
				for _, fault := range in.Faults {
					fmt.Fprintln(c.stderr, "odarchive: "+printable(fault))
				}
				if asCSVW {
					return c.csvw(name, in)
				}
				return c.tables(name, in)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object for each table")
	cmd.Flags().BoolVar(&asCSVW, "csvw", false, "print CSVW metadata as JSON")
	return cmd
}

// profileTime is the time limit for one local file. It is long, since only the user waits.
const profileTime = time.Hour

// profileProbe is the maximum size of a file in a local archive that is profiled; it is held in memory.
const profileProbe = 256 << 20

// lookInto finds the tables of a file. Text in which no table is found is read as CSV if mayBeDelimited allows it.
func lookInto(ctx context.Context, file localFile) (*inspect.Inside, error) {
	known := file.known()
	known.Time, known.MaxProbe = profileTime, profileProbe
	found, err := file.doc.Detect(ctx, known)
	if err != nil {
		return nil, err
	}
	known.Found = found
	inside, err := file.doc.Profile(ctx, known)
	in, name, size := inside.Inside, file.name, file.size
	if err != nil || in != nil && (holdsRDF(in) || tablesIn(in) > 0 || in.Document != nil && !mayBeDelimited(name, file, found)) {
		return in, err
	}
	if in != nil && len(in.Faults) == 0 && len(in.Members) > 0 &&
		!slices.ContainsFunc(in.Members, func(m inspect.Member) bool { return m.Type != "" }) {
		in.Faults = append(in.Faults, fmt.Sprintf("the files in it are larger than %d MiB or nested too deeply", profileProbe>>20))
	}
	if size > 0 && !mayBeDelimited(name, file, found) {
		why := "there is no table in it"
		if in == nil && !strings.HasPrefix(found.Type, "text/") && !tables.Known(found.Type) && !unpack.Known(found.Type) {
			why = "files of this kind are not read"
		}
		if in != nil && len(in.Faults) > 0 {
			why = strings.ReplaceAll("; "+strings.Join(in.Faults, "; "), "; "+name+": ", "; ")[2:]
		}
		return nil, fmt.Errorf("it is %s: %s", found.Type, why)
	}
	known.Found = detect.Detection{Type: "text/csv"}
	if inside, err = file.doc.Profile(ctx, known); err != nil {
		return nil, err
	}
	switch in = inside.Inside; {
	case in == nil:
		return &inspect.Inside{}, nil
	case len(in.Tables) == 0 && len(in.Faults) > 0:
		return nil, errors.New(strings.TrimPrefix(in.Faults[0], name+": "))
	}
	return in, nil
}

// mayBeDelimited reports whether a file is worth reading as CSV: its name says so, or it is text of no other certain
// type.
func mayBeDelimited(name string, file io.ReaderAt, d detect.Detection) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv", ".tsv", ".tab", ".psv":
		return d.Charset != "" || d.Type == "application/octet-stream" && readable(file)
	case ".txt":
		if d.Type == "text/plain" {
			return false // neither delimiters nor columns of fixed width were found
		}
	}
	switch d.Type {
	case "text/html", "application/json", "application/xml", "text/xml", "application/rtf", "application/pdf", "application/x-sylk",
		"application/x-dif", "image/x-xpixmap":
		return false
	}
	return d.Charset != "" && !strings.HasSuffix(d.Type, "+xml") && !strings.HasSuffix(d.Type, "+json")
}

// readable reports whether a file of unknown encoding begins with few control characters.
func readable(file io.ReaderAt) bool {
	head := make([]byte, 4096)
	n, _ := file.ReadAt(head, 0)
	control := 0
	for _, c := range head[:n] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			control++
		}
	}
	return control*20 <= n
}

func holdsRDF(in *inspect.Inside) bool {
	return in.RDF != nil || slices.ContainsFunc(in.Members, func(m inspect.Member) bool { return m.RDF != nil })
}

func tablesIn(in *inspect.Inside) int {
	n := len(in.Tables)
	for _, m := range in.Members {
		n += len(m.Tables)
	}
	return n
}

// eachTable calls f with every table of a file and of the files inside it, and the name of the table's file.
func eachTable(name string, in *inspect.Inside, f func(name string, p *csvprofile.Profile) error) error {
	for _, p := range in.Tables {
		if err := f(name, p); err != nil {
			return err
		}
	}
	for _, m := range in.Members {
		for _, p := range m.Tables {
			if err := f(name+"/"+m.Path, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// csvw prints one metadata document: of the table, or of the group if there are several.
func (c *cli) csvw(name string, in *inspect.Inside) error {
	if tablesIn(in) == 1 {
		return eachTable(name, in, func(name string, p *csvprofile.Profile) error { return c.line(p.CSVW(reference(name))) })
	}
	var group []csvprofile.GroupTable
	for i, p := range in.Tables {
		group = append(group, csvprofile.GroupTable{URL: reference(name), Index: i, Profile: p})
	}
	for _, m := range in.Members {
		for i, p := range m.Tables {
			group = append(group, csvprofile.GroupTable{URL: reference(name + "/" + m.Path), Member: m.Path, Index: i, Profile: p})
		}
	}
	if len(group) == 0 {
		return nil
	}
	return c.line(csvprofile.CSVWGroup(group))
}

// reference returns a file's name as a URL reference.
func reference(name string) string { return (&url.URL{Path: filepath.ToSlash(name)}).String() }

// tables prints the tables and RDF of a file: for people, or as one line of JSON each.
func (c *cli) tables(name string, in *inspect.Inside) error {
	if err := c.documents(name, in); err != nil {
		return err
	}
	err := eachTable(name, in, func(name string, p *csvprofile.Profile) error {
		if c.json {
			return c.line(p.Line(name))
		}
		return c.profileTable(name, p, in)
	})
	if err == nil && in.RDF != nil {
		err = c.rdf(name, in.RDF)
	}
	for _, m := range in.Members {
		if err == nil && m.RDF != nil {
			err = c.rdf(name+"/"+m.Path, m.RDF)
		}
	}
	return err
}

func (c *cli) rdf(name string, p *rdfprofile.Profile) error {
	if !c.json {
		return c.profileRDF(name, p)
	}
	return c.line(json.Marshal(struct {
		File string              `json:"file"`
		RDF  *rdfprofile.Profile `json:"rdf"`
	}{name, p}))
}

// shownColumns is how many columns of a table are printed for people.
const shownColumns = 200

// printable replaces characters that could control a terminal or break the line.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsGraphic(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

func (c *cli) profileTable(name string, p *csvprofile.Profile, in *inspect.Inside) error {
	var b strings.Builder
	b.WriteString(printable(name))
	if p.Name != "" {
		b.WriteString(", " + printable(p.Name))
	}
	atLeast := ""
	if p.Truncated {
		atLeast = "at least "
	}
	fmt.Fprintf(&b, ": %s%d rows, %d columns; %sheader %v", atLeast, p.Rows, len(p.Columns), dialectOf(p.Dialect), p.Dialect.Header)
	if p.Ragged > 0 {
		fmt.Fprintf(&b, "; %d rows have more or fewer cells", p.Ragged)
	}
	if p.Truncated {
		b.WriteString("; not read to its end")
	}
	b.WriteByte('\n')
	for _, line := range append(whatItIs(p, in), whereAndWhen(p)...) {
		b.WriteString("  " + printable(line) + "\n")
	}
	for i, column := range p.Columns {
		facts := []string{column.Datatype, fmt.Sprintf("%d distinct", column.Distinct)}
		if column.Nulls > 0 {
			facts = append(facts, fmt.Sprintf("%d empty", column.Nulls))
		}
		if column.Min != "" {
			facts = append(facts, column.Min+" to "+column.Max)
		}
		if i == shownColumns && len(p.Columns) > shownColumns+1 {
			fmt.Fprintf(&b, "  … and %d more columns; --json lists all\n", len(p.Columns)-i)
			break
		}
		fmt.Fprintf(&b, "  %d. %s: %s\n", i+1, printable(column.Name), printable(strings.Join(facts, ", ")))
	}
	_, err := io.WriteString(c.stdout, b.String())
	return err
}

// dialectOf describes how a table is written. Sheets and the like have no delimiter.
func dialectOf(d csvprofile.Dialect) string {
	words := ""
	if d.Encoding != "" {
		words = d.Encoding + ", "
	}
	if d.Delimiter != "" {
		words += "delimiter " + quoted(d.Delimiter) + ", quote " + quoted(d.QuoteChar) + ", "
	}
	return words
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(raw)
}

func (c *cli) profileRDF(name string, p *rdfprofile.Profile) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d triples, %d predicates, %d classes; %s\n", printable(name), p.Triples, len(p.Predicates), len(p.Classes),
		p.Syntax)
	for _, list := range []struct {
		what string
		of   []rdfprofile.Count
	}{{"predicate", p.Predicates}, {"class", p.Classes}, {"namespace", p.Namespaces}} {
		for _, n := range list.of[:min(len(list.of), 20)] {
			fmt.Fprintf(&b, "  %s %s: %d\n", list.what, printable(n.IRI), n.Count)
		}
	}
	for _, f := range p.Faults {
		fmt.Fprintf(&b, "  line %d, column %d: %s\n", f.Line, f.Col, printable(f.Message))
	}
	_, err := io.WriteString(c.stdout, b.String())
	return err
}
