// Package webgraph reads the links between web pages from WARC and WAT files.
package webgraph
