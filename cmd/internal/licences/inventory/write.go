package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// writeLicences writes every component's licence; components with the same text share it.
func writeLicences(w io.Writer, all []component) error {
	var b strings.Builder
	b.WriteString("Third-party software in odarchive, and its licences.\nWritten by \"make licences\".\n\n")
	var texts []string
	users := map[string][]component{}
	for i := range all {
		c := &all[i]
		if c.name == "std" {
			c.version = "(Go)" // of whichever toolchain builds the program
		}
		fmt.Fprintf(&b, "%s %s (%s)\n", c.name, c.version, c.licence)
		if users[c.text] == nil {
			texts = append(texts, c.text)
		}
		users[c.text] = append(users[c.text], *c)
	}
	for _, text := range texts {
		b.WriteString("\n" + strings.Repeat("=", 80) + "\n")
		for _, c := range users[text] {
			fmt.Fprintf(&b, "%s %s\n", c.name, c.version)
		}
		b.WriteString(strings.Repeat("-", 80) + "\n" + text + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The parts of a CycloneDX 1.6 document that are written (https://cyclonedx.org/docs/1.6/json/).
type (
	bom struct {
		Format     string         `json:"bomFormat"`
		Spec       string         `json:"specVersion"`
		Version    int            `json:"version"`
		Metadata   bomMetadata    `json:"metadata"`
		Components []bomComponent `json:"components"`
	}
	bomMetadata struct {
		Component bomComponent `json:"component"`
	}
	bomComponent struct {
		Type     string       `json:"type"`
		Ref      string       `json:"bom-ref"`
		Name     string       `json:"name"`
		Version  string       `json:"version,omitempty"`
		PURL     string       `json:"purl,omitempty"`
		Licences []bomLicence `json:"licenses,omitempty"`
		Hashes   []bomHash    `json:"hashes,omitempty"`
	}
	bomLicence struct {
		Expression string `json:"expression"`
	}
	bomHash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
)

// writeSBOM writes the bill of materials. It has neither time nor serial number, so that the same source gives the same
// bytes.
func writeSBOM(w io.Writer, all []component) error {
	doc := bom{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: bomMetadata{Component: bomComponent{
		Type: "application", Ref: "odarchive", Name: "odarchive", Licences: []bomLicence{{"Apache-2.0"}}}}}
	for _, c := range all {
		purl := "pkg:" + c.ecosystem + "/" + strings.ReplaceAll(c.name, "@", "%40") + "@" + strings.ReplaceAll(c.version, "+", "%2B")
		b := bomComponent{Type: "library", Ref: purl, Name: c.name, Version: c.version, PURL: purl, Licences: []bomLicence{{c.licence}}}
		if sum, err := base64.StdEncoding.DecodeString(c.sum); err == nil && len(sum) == 32 {
			b.Hashes = []bomHash{{"SHA-256", hex.EncodeToString(sum)}}
		}
		doc.Components = append(doc.Components, b)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
