package ui

import (
	"strings"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/rdfprofile"
)

// inside is what a version contains besides its first table.
type inside struct {
	Members []member
	Number  int
	More    bool // there are more members than Members lists
	Tables  []part
	Keys    []key // columns of tables that refer to others
	Facts   *facts
	RDF     *rdfFacts
	Faults  []string
	Omitted []string // one sentence each on what is not kept or not shown
}

// member is a file inside a version that is an archive.
type member struct {
	Path, About, Download string
	Title                 string // that it gives itself
	Size                  int64
	Type                  string
	Tables                []part
}

// part is a table, if there are several.
type part struct {
	N                         int // from 1
	Name, Size, Rows, Columns string
}

type rdfFacts struct {
	Triples, Subjects, Objects, Graphs string
	Predicates, Classes                []rdfCount
	Faults                             []rdfFault
	FaultCount                         string
}

type rdfCount struct{ Name, IRI, Count string }

type rdfFault struct {
	Line, Col int
	Message   string
}

// maxShown bounds the lists on a page, and maxParts the tables of one member.
const (
	maxShown = 200
	maxParts = 20
)

func (u *UI) inside(versionID string, in *inspect.Inside) *inside {
	if in == nil {
		return nil
	}
	page := &inside{Keys: u.foreignKeys(versionID, in), Number: len(in.Members) + in.MembersOmitted, More: in.More ||
		len(in.Members) > maxShown, Faults: in.Faults, Omitted: omitted(in), Facts: factsOf(in.Document)}
	for _, m := range in.Members[:min(len(in.Members), maxShown)] {
		address := u.memberPath(versionID, m.Path)
		line := member{Path: m.Path, Title: ownTitle(m.Document), About: address + "?format=html", Download: address + "?download=1",
			Size: m.Size, Type: m.Type}
		for i, t := range m.Tables[:min(len(m.Tables), maxParts)] {
			line.Tables = append(line.Tables, part{i + 1, t.Name, sizeOf(t), atLeast(t) + humanCount(t.Rows), humanCount(t.Width())})
		}
		page.Members = append(page.Members, line)
	}
	if len(in.Tables) > 1 {
		for i, t := range in.Tables[:min(len(in.Tables), maxShown)] {
			page.Tables = append(page.Tables, part{i + 1, t.Name, sizeOf(t), atLeast(t) + humanCount(t.Rows), humanCount(t.Width())})
		}
	}
	if p := in.RDF; p != nil {
		page.RDF = &rdfFacts{Triples: humanCount(p.Triples), Subjects: humanCount(p.Subjects), Objects: humanCount(p.Objects),
			FaultCount: humanCount(p.FaultCount)}
		if p.Graphs > 0 {
			page.RDF.Graphs = humanCount(p.Graphs)
		}
		for _, f := range p.Faults {
			page.RDF.Faults = append(page.RDF.Faults, rdfFault(f))
		}
		page.RDF.Predicates, page.RDF.Classes = rdfCounts(p.Predicates), rdfCounts(p.Classes)
	}
	return page
}

// omitted describes what is left out because of limits on records and pages.
func omitted(in *inspect.Inside) (list []string) {
	if len(in.Tables) > 0 && in.Tables[0].Width() > maxColumns {
		list = append(list, "This page shows the first "+humanCount(maxColumns)+" of the "+plural(in.Tables[0].Width(), "column")+
			" of the first table.")
	}
	if len(in.Tables) > maxShown {
		list = append(list, "This page shows the first "+humanCount(maxShown)+" of "+plural(len(in.Tables), "table")+".")
	}
	if len(in.Members) > maxShown {
		list = append(list, "This page shows the first "+humanCount(maxShown)+" of the files inside.")
	}
	if n := in.ColumnsOmitted; n > 0 {
		list = append(list, "The archive keeps no profile of "+plural(n, "more column")+", because there are too many.")
	}
	if n := in.MembersOmitted; n > 0 {
		list = append(list, "The archive does not list "+plural(n, "more file")+" inside, because there are too many.")
	}
	if n := in.SketchesOmitted; n > 0 {
		list = append(list, "The values of "+plural(n, "column")+" are not compared with other tables, because there are too many.")
	}
	return list
}

func rdfCounts(all []rdfprofile.Count) (list []rdfCount) {
	for _, c := range all[:min(len(all), maxShown)] {
		list = append(list, rdfCount{curie(c.IRI, ""), c.IRI, humanCount(c.Count)})
	}
	return list
}

// memberPath returns the path of a member on this server.
func (u *UI) memberPath(versionID, path string) string {
	return "/" + strings.TrimPrefix(u.mint.Member(versionID, path), u.mint.Base)
}
