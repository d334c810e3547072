// Package hdt reads and writes HDT, a binary form of one RDF graph: Header, Dictionary, Triples
// (W3C Member Submission of 30 March 2011, as hdt-cpp and hdt-java write it).
//
// A file is a control block, a header in N-Triples, a dictionary of four sorted sections (terms that are subjects and
// objects, subjects, predicates, objects) and the triples as two bitmaps and two sequences of numbers, ordered by
// subject, predicate and object. FORMAT.md describes each byte.
//
// Open reads a file whose bytes can be read at any offset, verifies every checksum, and returns a Reader of its triples.
// A Writer takes triples in any order and writes the file at the end. Both need a bounded amount of memory for files of
// any length, and both are safe for untrusted input.
//
// Only the dictionary "dictionaryFour" with plain front coding is read, and only bitmap triples in the order SPO: what
// the programs above write unless told otherwise. Everything else is refused by its name. An index file beside an HDT
// file is neither read nor written; readers make it when they need it.
package hdt
