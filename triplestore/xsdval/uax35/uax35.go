// Package uax35 reads numbers, dates and times that are written in the patterns of Unicode Technical Standard 35, as far
// as CSV on the Web uses them (Metadata Vocabulary for Tabular Data 6.4).
//
// It returns XSD's lexical form of what it reads, for xsdval to parse. It does not write numbers or dates in a pattern,
// and it supports neither names of months nor clocks of twelve hours.
package uax35
