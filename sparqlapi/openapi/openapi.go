// Package openapi contains the OpenAPI 3.1 document of the archive's HTTP API, which is served at /openapi.json and
// shown at /api-doc. Tests of package sparqlapi compare it with the routes and the answers.
package openapi

import (
	"cmp"
	_ "embed"
	"strings"
)

//go:embed openapi.json
var document string

// At returns the document of an archive whose base has a path, such as "/archive"; "" for none.
func At(root string) []byte {
	return []byte(strings.Replace(document, server, `"url": "`+cmp.Or(root, "/")+`"`, 1))
}

// server is the server of the document, the first url in it.
const server = `"url": "/"`

// Document returns a copy of the JSON text.
func Document() []byte { return []byte(document) }
