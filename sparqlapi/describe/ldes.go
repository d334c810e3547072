// Serves the versions of the archive as a Linked Data Event Stream (https://w3id.org/ldes/specification).
// Clients can follow it without requesting any part twice.
//
// The stream is /ldes#stream. /ldes is the root of its only view, a tree of nodes as defined by TREE
// (https://w3id.org/tree/specification). Node n of level 0, /ldes/0/n, has as members the versions among 256 events of
// the log of changes. Node n of level 1, /ldes/1/n, has relations to 256 nodes of level 0, and so on. The bytes of a
// full node never change, so caches may keep it; for the same reason, members have only those properties of a version
// that never change. The root has relations to each full node that is not below another full node, and to the last node
// of level 0, which still grows.
//
// Relations to full nodes state the range of the dates (dct:issued) of the versions below. The relation to the last
// node states no dates, since a version that is imported later may have any date.

package describe

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/events"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/conneg"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// StreamArchive is what the handlers read.
type StreamArchive interface {
	// EventCount returns the number of events.
	EventCount() (uint64, error)
	// VersionsLogged returns the versions of the events whose numbers are at least from and less than to.
	VersionsLogged(ctx context.Context, from, to uint64) ([]catalog.Version, error)
	// EventBounds returns the dates of the oldest and the newest version in a full node. ok is false if it has no
	// version.
	EventBounds(level int, n uint64) (first, last time.Time, ok bool, err error)
}

// StreamAPI has the handlers.
type StreamAPI struct {
	Archive StreamArchive
	Mint    ns.Mint
}

const streamPath = "ldes"

// root, stream and node return the IRIs of the root node, the stream, and another node.
func (a *StreamAPI) root() string   { return a.Mint.Base + streamPath }
func (a *StreamAPI) stream() string { return a.root() + "#stream" }

func (a *StreamAPI) node(level int, n uint64) string {
	return fmt.Sprintf("%s/%d/%d", a.root(), level, n)
}

// Root answers GET /ldes.
func (a *StreamAPI) Root(w http.ResponseWriter, r *http.Request) error {
	count, err := a.Archive.EventCount()
	if err != nil {
		return err
	}
	p := &streamPage{}
	stream, root := term.IRI(a.stream()), term.IRI(a.root())
	p.about(stream)
	p.add(vocab.RDFType, term.IRI(vocab.LDESEventStream))
	p.add(vocab.LDESVersionOfPath, term.IRI(vocab.DCTIsVersionOf))
	p.add(vocab.LDESTimestampPath, term.IRI(vocab.DCTIssued))
	p.add(vocab.TreeShape, term.IRI(a.root()+"/shape#Version"))
	p.add(vocab.TreeView, root)
	p.about(root)
	p.add(vocab.RDFType, term.IRI(vocab.TreeNode))
	start := uint64(0) // events with lower numbers are below the nodes that the root already has relations to
	for level := events.Levels - 1; level >= 0; level-- {
		size := events.NodeSize(level)
		for n := start / size; n < count/size; n++ {
			if err := a.relate(p, root, level, n); err != nil {
				return err
			}
		}
		start = count / size * size
	}
	p.relation(root, vocab.TreeRelation, a.node(0, count/events.PerNode), time.Time{})
	return a.send(w, r, p, false)
}

// Node answers GET /ldes/{level}/{number}.
func (a *StreamAPI) Node(w http.ResponseWriter, r *http.Request) error {
	count, err := a.Archive.EventCount()
	if err != nil {
		return err
	}
	level, n, err := number(r, count)
	if err != nil {
		return err
	}
	size := events.NodeSize(level)
	p := &streamPage{}
	node := term.IRI(a.node(level, n))
	p.about(term.IRI(a.stream()))
	p.add(vocab.RDFType, term.IRI(vocab.LDESEventStream))
	p.about(node)
	p.add(vocab.RDFType, term.IRI(vocab.TreeNode))
	if level == 0 {
		versions, err := a.Archive.VersionsLogged(r.Context(), n*size, min(count, (n+1)*size))
		if err != nil {
			return err
		}
		for _, v := range versions {
			p.member(a.Mint, a.stream(), v)
		}
		return a.send(w, r, p, (n+1)*size <= count)
	}
	for child := n * events.PerNode; child < (n+1)*events.PerNode; child++ {
		if err := a.relate(p, node, level-1, child); err != nil {
			return err
		}
	}
	return a.send(w, r, p, true)
}

// number parses the level and the number of a node. It returns an error for nodes that do not exist; above level 0,
// only full nodes exist.
func number(r *http.Request, count uint64) (level int, n uint64, err error) {
	missing := problem.Newf(http.StatusNotFound, "No such page", "%s is not a page of the event stream", r.URL.Path)
	level, err = strconv.Atoi(target.Value(r, "level"))
	if err != nil || level < 0 || level >= events.Levels || strconv.Itoa(level) != target.Value(r, "level") {
		return 0, 0, missing
	}
	n, err = strconv.ParseUint(target.Value(r, "number"), 10, 63)
	if err != nil || strconv.FormatUint(n, 10) != target.Value(r, "number") {
		return 0, 0, missing
	}
	if full := count / events.NodeSize(level); n > full || n == full && level > 0 {
		return 0, 0, missing
	}
	return level, n, nil
}

// relate adds the relations of the node from to a full node, unless that has no versions.
func (a *StreamAPI) relate(p *streamPage, from term.Key, level int, n uint64) error {
	first, last, any, err := a.Archive.EventBounds(level, n)
	if err != nil || !any {
		return err
	}
	p.relation(from, vocab.TreeGreaterThanOrEqual, a.node(level, n), first)
	p.relation(from, vocab.TreeLessThanOrEqual, a.node(level, n), last)
	return nil
}

// streamPage collects the statements of a document.
type streamPage struct {
	quads     []term.Quad
	subject   term.Key // of the statements that add adds
	relations int
}

// about sets the subject of the statements that follow.
func (p *streamPage) about(s term.Key) { p.subject = s }

// add adds a statement about the current subject.
func (p *streamPage) add(predicate string, o term.Key) {
	p.quads = append(p.quads, term.Quad{S: p.subject, P: term.IRI(predicate), O: o})
}

// relation adds a relation from a node to another one. class is the type of the relation. If date is the zero time, the
// relation states no date.
func (p *streamPage) relation(from term.Key, class, to string, date time.Time) {
	p.relations++
	relation := term.Blank("relation-" + strconv.Itoa(p.relations))
	p.about(from)
	p.add(vocab.TreeRelationProp, relation)
	p.about(relation)
	p.add(vocab.RDFType, term.IRI(class))
	p.add(vocab.TreeNodeProp, term.IRI(to))
	if !date.IsZero() {
		p.add(vocab.TreePath, term.IRI(vocab.DCTIssued))
		p.add(vocab.TreeValue, describe.Time(date))
	}
}

// member adds a version with the properties that never change.
func (p *streamPage) member(m ns.Mint, stream string, v catalog.Version) {
	iri := term.IRI(m.Version(v.ID))
	p.about(term.IRI(stream))
	p.add(vocab.TreeMember, iri)
	p.about(iri)
	p.add(vocab.RDFType, term.IRI(vocab.PROVEntity))
	p.add(vocab.DCTIsVersionOf, describe.IRI(v.URL))
	p.add(vocab.DCTIssued, describe.Time(v.At))
	p.add(vocab.DCTIdentifier, term.String(hex.EncodeToString(v.Digests.MD5[:])))
	p.add(vocab.DCATByteSize, term.Typed(strconv.FormatInt(v.Size, 10), vocab.XSDInteger))
	if v.Type != "" {
		p.add(vocab.DCATMediaType, term.String(v.Type))
	}
	p.add(vocab.DCATDownloadURL, iri)
	checksum := term.Blank("sha256-" + v.ID)
	p.add(vocab.SPDXChecksumProp, checksum)
	p.about(checksum)
	p.add(vocab.RDFType, term.IRI(vocab.SPDXChecksum))
	p.add(vocab.SPDXAlgorithm, term.IRI(vocab.SPDXAlgorithmSHA256))
	p.add(vocab.SPDXChecksumValue, term.Typed(hex.EncodeToString(v.Digests.SHA256[:]), vocab.XSDHexBinary))
}

// prefixes has the prefixes of all pages. It must not change, even if package vocab does: full nodes have the same
// bytes for ever.
var prefixes = map[string]string{
	"dcat": vocab.DCATNS, "dct": vocab.DCTNS, "ldes": vocab.LDESNS, "prov": vocab.PROVNS, "rdf": vocab.RDFNS, "spdx": vocab.SPDXNS,
	"tree": vocab.TreeNS, "xsd": vocab.XSDNS,
}

// syntaxes returns the syntaxes in which pages are available, the preferred one first.
func syntaxes() []rdfio.Syntax {
	return []rdfio.Syntax{rdfio.Turtle(), rdfio.TriG(), rdfio.JSONLD(), rdfio.NTriples(), rdfio.NQuads()}
}

// chooseStream returns the syntax that a request asks for.
func chooseStream(r *http.Request) (rdfio.Syntax, error) {
	if name := r.URL.Query().Get("format"); name != "" {
		s, ok := rdfio.ByName(name)
		for _, one := range syntaxes() {
			if ok && one.Is(s) {
				return one, nil
			}
		}
		return s, problem.Newf(http.StatusBadRequest, "Unknown format", "format=%q: expected ttl, trig, jsonld, nt or nq", name)
	}
	offers := []conneg.Offer{}
	for _, s := range syntaxes() {
		offers = append(offers, conneg.Offer{MediaType: s.MediaType, Name: s.Name})
	}
	offers = append(offers, conneg.Offer{MediaType: "text/html", Name: syntaxes()[0].Name},
		conneg.Offer{MediaType: "application/json", Name: rdfio.JSONLD().Name})
	best, ok := conneg.Negotiate(r, offers)
	for _, s := range syntaxes() {
		if ok && s.Name == best.Name {
			return s, nil
		}
	}
	return rdfio.Syntax{}, problem.New(http.StatusNotAcceptable, "Not acceptable",
		"the stream is available as text/turtle, application/trig, application/ld+json, application/n-triples and application/n-quads")
}

// send sends a page. Caches may keep the page of a full node for ever.
func (a *StreamAPI) send(w http.ResponseWriter, r *http.Request, p *streamPage, full bool) error {
	syntax, err := chooseStream(r)
	if err != nil {
		return err
	}
	var body bytes.Buffer
	out := rdfio.NewWriter(&body, syntax, prefixes)
	for _, q := range p.quads {
		if err := out.Write(q); err != nil {
			return fmt.Errorf("ldes: write %s: %w", syntax, err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("ldes: write %s: %w", syntax, err)
	}
	h := w.Header()
	h.Set("Content-Type", contentType(syntax))
	h.Add("Vary", "Accept")
	h.Set("ETag", answer.Tag(body.Bytes()))
	h.Set("Cache-Control", "no-cache")
	if full {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body.Bytes()))
	return nil
}

func contentType(s rdfio.Syntax) string {
	if s.MediaType == "text/turtle" {
		return "text/turtle; charset=utf-8"
	}
	return s.MediaType
}

// Shape answers GET /ldes/shape: the SHACL shape of the members.
func (a *StreamAPI) Shape(w http.ResponseWriter, r *http.Request) error {
	body := []byte(fmt.Sprintf(shape, a.root()))
	h := w.Header()
	h.Set("Content-Type", "text/turtle; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", answer.Tag(body))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	return nil
}

// shape is the format of the SHACL shape. Its argument is the IRI of the root node.
const shape = `@base <%s/shape> .
@prefix dcat: <http://www.w3.org/ns/dcat#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix prov: <http://www.w3.org/ns/prov#> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix spdx: <http://spdx.org/rdf/terms#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<#Version> a sh:NodeShape ;
	sh:nodeKind sh:IRI ;
	sh:class prov:Entity ;
	sh:property [ sh:path dct:isVersionOf ; sh:minCount 1 ; sh:maxCount 1 ; sh:nodeKind sh:IRI ] ;
	sh:property [ sh:path dct:issued ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:dateTime ] ;
	sh:property [ sh:path dct:identifier ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:string ; sh:pattern "^[0-9a-f]{32}$" ] ;
	sh:property [ sh:path dcat:byteSize ; sh:minCount 1 ; sh:maxCount 1 ; sh:datatype xsd:integer ; sh:minInclusive 0 ] ;
	sh:property [ sh:path dcat:mediaType ; sh:maxCount 1 ; sh:datatype xsd:string ] ;
	sh:property [ sh:path dcat:downloadURL ; sh:minCount 1 ; sh:maxCount 1 ; sh:nodeKind sh:IRI ] ;
	sh:property [ sh:path spdx:checksum ; sh:minCount 1 ; sh:maxCount 1 ; sh:nodeKind sh:BlankNode ] .
`
