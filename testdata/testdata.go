// Package testdata holds the sample web of `odarchive demo`: files that look like what real portals offer, each in the
// states it goes through while one watches, and the catalog that lists them.
//
// A file name.ext.N is state N of name.ext. Everything here was made for this project.
package testdata

import "embed"

// Demo is the tree below demo/: one folder a host, catalog.trig, and robots-HOST.txt where a host has one.
//
//go:embed demo
var Demo embed.FS
