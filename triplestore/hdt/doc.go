// Package hdt reads and writes HDT (Header, Dictionary, Triples), a binary format for one RDF graph. It follows the W3C
// Member Submission of 30 March 2011, as implemented by hdt-cpp and hdt-java.
//
// A file consists of a control block, a header in N-Triples, a dictionary of four sorted sections (terms that are both
// subjects and objects, other subjects, predicates, other objects), and the triples, ordered by subject, predicate and
// object, as two bitmaps and two sequences of numbers. FORMAT.md describes each byte.
//
// Open verifies every checksum of a file and returns a Reader of its triples. A Writer accepts triples in any order and
// writes the file at the end. Both use a bounded amount of memory, whatever the length of the file, and are safe for
// untrusted input.
//
// The package reads the dictionary "dictionaryFour" with plain front coding and bitmap triples in the order SPO, which
// are the defaults of hdt-cpp and hdt-java. For other forms, Open returns an error that names the form. The package
// neither reads nor writes index files; programs that need one make it from the HDT file.
package hdt
