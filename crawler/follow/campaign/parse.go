package campaign

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest/webapi"
)

// MaxFile bounds the text of a document, in bytes.
const MaxFile = 1 << 20

// Parse reads a document in TOML and normalises it. If the document names a file of keywords, one a line, read returns
// that file; a nil read refuses it. The error wraps ErrBad, and says in which line the fault is if that is known.
func Parse(text []byte, read func(name string) ([]byte, error)) (Document, error) {
	var file struct {
		Document
		KeywordsFile string `toml:"keywords-file"`
	}
	if len(text) > MaxFile {
		return Document{}, badf("a document of %d bytes: at most %d are allowed", len(text), MaxFile)
	}
	if err := catalog.TOMLText(text).Decode(&file); err != nil {
		return Document{}, badf("%v", err)
	}
	if file.KeywordsFile != "" {
		if read == nil {
			return Document{}, badf("keywords-file is read by the command line only; give keywords")
		}
		words, err := read(file.KeywordsFile)
		if err != nil {
			return Document{}, badf("keywords-file: %v", err)
		}
		lines := bufio.NewScanner(bytes.NewReader(words))
		for lines.Scan() {
			if word := strings.TrimSpace(lines.Text()); word != "" && !strings.HasPrefix(word, "#") {
				file.Keywords = append(file.Keywords, word)
			}
		}
		if err := lines.Err(); err != nil {
			return Document{}, badf("keywords-file: %v", err)
		}
	}
	d, err := file.Document.Normalise()
	var fault *webapi.Fault
	if errors.As(err, &fault) {
		return d, badf("%sapi.%v", atLine(fault.Line(string(text))), fault)
	}
	return d, err
}

func atLine(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("line %d: ", n)
}
