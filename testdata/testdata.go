// Package testdata holds the sample web of `odarchive demo`: files like those of real portals, each in several
// successive states, and the catalog that lists them.
//
// A file name.ext.N is state N of name.ext. All files were made for this project.
package testdata

import "embed"

// Demo is the tree below demo/: one directory per host, what lists their files (catalog.trig, and for the demo also more.trig
// and briefly.trig), and robots-HOST.txt for hosts that have a robots.txt. An empty state means that the file is gone.
//
//go:embed demo
var Demo embed.FS
