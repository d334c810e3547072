// Package openapi contains the OpenAPI 3.1 document of the archive's HTTP API, which is served at /openapi.json and
// shown at /api-doc. Tests of package sparqlapi compare it with the routes and the answers.
package openapi

import _ "embed"

//go:embed openapi.json
var document string

// Document returns a copy of the JSON text.
func Document() []byte { return []byte(document) }
