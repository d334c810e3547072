// Command scalesim computes what archives of many URLs cost: visits a second, processors, bandwidth, disk, requests to
// an object store. It prints the page ui/docs/explanation/scale.md, whose figures come from here, so that the page and
// the model cannot differ.
//
//	go run ./cmd/scalesim
//
// Inputs are the measured figures of the BENCHMARKS files and assumptions about the web, each with a range; results are
// ranges, too. It simulates nothing in time: queues, hosts that are slow and days that are busy are not in it.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"
	"text/template"
)

//go:embed page.md.tmpl
var pageText string

func main() {
	if err := page(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "scalesim:", err)
		os.Exit(1)
	}
}

// page writes the page.
func page(w io.Writer) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, tables(inputs())); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}
