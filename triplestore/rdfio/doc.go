// Package rdfio reads and writes RDF: N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD, RDF/JSON, TriX, and the
// Turtle subset of N3.
//
// ByMediaType, ByExtension, ByName and Detect find a Syntax. A Reader returns the statements of a document and a Writer
// writes them, one at a time; terms are term.Keys. Decompress opens compressed documents.
//
// Readers are safe for untrusted input. Limits bound their memory, nesting costs no stack, they never fetch anything,
// and faults are reported as *Error with line, column, what was found and what was expected. Readers of streaming
// syntaxes, which are all but JSON-LD, hold no more than a token and the open nesting. A Reader starts no goroutine and
// may be abandoned.
//
// Additions of RDF 1.2 to the syntaxes of RDF 1.1 are read if Options.RDF12 is set, and written if a term needs them.
//
// IRIs are resolved as RFC 3986 §5.2 requires and are otherwise kept as written. Labels of blank nodes are kept after
// Options.BlankPrefix, which keeps those of several files apart.
package rdfio
