// Package rdfio reads and writes RDF: N-Triples, N-Quads, Turtle, TriG, RDF/XML, JSON-LD, RDF/JSON, TriX, and the
// Turtle subset of N3.
//
// A Syntax says which; ByMediaType, ByExtension and Detect find it. A Reader hands out quads one at a time, a Writer
// takes them one at a time; terms are term.Key. Decompress opens what came compressed.
//
// Readers are made for bytes from strangers: memory is bounded by Limits whatever the input holds, nesting costs no
// stack, nothing outside the process is ever asked for, and what is wrong is told as an *Error with line, column, what
// was found and what was expected. Streaming syntaxes (all but JSON-LD) never hold more than a token and the open
// nesting. Starting a Reader starts no goroutine, and leaving one half read leaks nothing.
//
// What RDF 1.2 adds to the syntaxes of RDF 1.1 is read where Options.RDF12 asks for it, and written where terms need it.
//
// IRIs are resolved as RFC 3986 §5.2 says and are otherwise kept as written. Labels of blank nodes are kept too, behind
// Options.BlankPrefix, so that two files need not meet by accident.
package rdfio
