// Package ui is the archive's site for people: pages rendered on the server, and a query console.
//
// Every page is plain HTML that reads, prints and links without JavaScript; plots are SVG drawn by the server. The
// script, which esbuild builds from src into dist, only adds to it: the editor, sortable tables, a basket. If dist is
// empty, because Node was not there to build it, the same pages work as plain forms. To build it, run `npm ci
// --ignore-scripts && npm run build` in this folder. Tests and screenshots in a real browser are in browser_test.go,
// behind the build tag browser. Pages load nothing from other servers.
//
// The package reads the archive through the interfaces of archive.go and writes nothing.
package ui
