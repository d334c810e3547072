// Package ui is the archive for people: pages rendered on the server, and a query console on top of them.
//
// Every page is plain HTML that reads, prints and links without JavaScript; plots are SVG drawn by the server. The
// script, built by esbuild from src into dist, only adds: the editor, tables that sort and filter, a basket. Where dist is
// empty (a Go build without Node) the same pages work as plain forms. Build it with `npm ci --ignore-scripts && npm run
// build` in this folder; pictures and checks in a real browser are in browser_test.go, behind the build tag browser. Nothing on a page comes from another server.
//
// The package reads the archive through the interfaces of archive.go and writes nothing.
package ui
