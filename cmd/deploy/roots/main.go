// Command roots prints the certificates of the authorities that Mozilla trusts, as PEM. They are a module, so that an
// image has the same ones whoever builds it.
//
// Authorities that are trusted only within limits are left out, since a file of certificates cannot say so.
package main

import (
	"encoding/pem"
	"fmt"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(os.Stdout, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			fmt.Fprintln(os.Stderr, "roots:", err)
			os.Exit(1)
		}
	}
}
