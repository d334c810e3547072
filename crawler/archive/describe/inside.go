package describe

import (
	"strconv"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/rdfprofile"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// maxPartitions bounds the predicates, the classes and the vocabularies of one RDF file that are described.
const maxPartitions = 100

// Inside describes what a version contains: tables (CSVW), RDF (VoID), the members of an archive as its parts, and what
// the file says of itself.
func Inside(m ns.Mint, v catalog.Version, in *inspect.Inside) []term.Quad {
	if in == nil {
		return nil
	}
	g := &graph{}
	left := newRoom()
	memberIRI := func(path string) string { return m.Member(v.ID, path) }
	tablesOmitted := g.tables(place{m.Version(v.ID), v.ID, "", memberIRI}, in.Tables, left)
	g.about(term.IRI(m.Version(v.ID)))
	g.where(v.ID, in)
	g.when(v.ID, in)
	for _, fault := range in.Faults {
		g.text(vocab.ArcFault, fault)
	}
	if d := in.Document; d != nil {
		g.text(vocab.DCTTitle, d.Title)
		g.document(v.ID, d, left)
	}
	if in.RDF != nil {
		g.rdf(v.ID, in.RDF, left)
	}
	membersOmitted := in.MembersOmitted
	for i, member := range in.Members {
		iri := memberIRI(member.Path)
		if left.members == 0 || len(iri) > left.bytes {
			membersOmitted++
			continue
		}
		left.members--
		left.bytes -= len(iri)
		at := place{iri, v.ID + "-member-" + strconv.Itoa(i+1), "", memberIRI}
		tablesOmitted += g.member(term.IRI(m.Version(v.ID)), at, member, left)
	}
	g.about(term.IRI(m.Version(v.ID)))
	if tablesOmitted > 0 {
		g.add(vocab.ArcTablesOmitted, integer(int64(tablesOmitted)))
	}
	if membersOmitted > 0 {
		g.add(vocab.ArcMembersOmitted, integer(int64(membersOmitted)))
	}
	return g.quads
}

// member describes one file of an archive, which is at a place. It returns the number of tables that it left out.
func (g *graph) member(version term.Key, at place, member inspect.Member, left *room) (tablesOmitted int) {
	iri, label := at.file, at.label
	g.about(version)
	g.add(vocab.DCTHasPart, term.IRI(iri))
	g.about(term.IRI(iri))
	g.add(vocab.DCTIsPartOf, version)
	g.text(vocab.DCTTitle, member.Path)
	g.text(vocab.DCATMediaType, member.Type)
	if member.Size >= 0 {
		g.add(vocab.DCATByteSize, integer(member.Size))
	}
	if !member.Modified.IsZero() {
		g.add(vocab.DCTModified, Time(member.Modified))
	}
	if d := member.Document; d != nil {
		g.text(vocab.RDFSLabel, d.Title) // its dct:title is its path
		g.document(label, d, left)
	}
	if member.RDF != nil {
		g.rdf(label, member.RDF, left)
	}
	return g.tables(at, member.Tables, left)
}

// rdf describes an RDF file, which is the present subject (VoID section 4).
func (g *graph) rdf(label string, p *rdfprofile.Profile, left *room) {
	file := g.subject
	g.isA(vocab.VoIDDataset)
	g.add(vocab.VoIDTriples, integer(p.Triples))
	g.add(vocab.VoIDDistinctSubjects, integer(p.Subjects))
	g.add(vocab.VoIDDistinctObjects, integer(p.Objects))
	g.add(vocab.VoIDProperties, integer(int64(len(p.Predicates))))
	g.add(vocab.VoIDClasses, integer(int64(len(p.Classes))))
	g.add(vocab.ArcFaultCount, integer(p.FaultCount))
	for _, n := range p.Namespaces[:min(len(p.Namespaces), maxPartitions, left.nodes)] {
		left.nodes--
		g.add(vocab.VoIDVocabulary, IRI(n.IRI))
	}
	partition := func(kind string, predicate, class, count string, all []rdfprofile.Count) {
		for i, c := range all[:min(len(all), maxPartitions, left.nodes)] {
			left.nodes--
			node := term.Blank(kind + "-" + label + "-" + strconv.Itoa(i+1))
			g.about(file)
			g.add(predicate, node)
			g.about(node)
			g.add(class, IRI(c.IRI))
			g.add(count, integer(c.Count))
		}
	}
	partition("property", vocab.VoIDPropertyPartition, vocab.VoIDProperty, vocab.VoIDTriples, p.Predicates)
	partition("class", vocab.VoIDClassPartition, vocab.VoIDClass, vocab.VoIDEntities, p.Classes)
	for i, f := range p.Faults[:min(len(p.Faults), left.nodes)] {
		left.nodes--
		node := term.Blank("fault-" + label + "-" + strconv.Itoa(i+1))
		g.about(file)
		g.add(vocab.ArcSyntaxFault, node)
		g.about(node)
		if f.Line > 0 {
			g.add(vocab.ArcLine, integer(int64(f.Line)))
			g.add(vocab.ArcCol, integer(int64(f.Col)))
		}
		g.text(vocab.RDFSComment, f.Message)
	}
}
