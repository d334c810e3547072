// Package openapi holds the OpenAPI 3.1 document of the archive's HTTP API, served at /openapi.json and shown at
// /api-doc. Tests of package sparqlapi hold it to the routes and to the answers.
package openapi

import _ "embed"

//go:embed openapi.json
var document string

// Document is the JSON text; the bytes are the caller's own.
func Document() []byte { return []byte(document) }
