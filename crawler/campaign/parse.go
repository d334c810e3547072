package campaign

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"odarchive/crawler/harvest/webapi"

	"github.com/BurntSushi/toml"
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
	meta, err := toml.Decode(string(text), &file)
	if syntax := (toml.ParseError{}); errors.As(err, &syntax) {
		return Document{}, badf("line %d: %s", syntax.Position.Line, cmp.Or(syntax.Message, err.Error()))
	}
	if err != nil {
		return Document{}, badf("%v", err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Document{}, badf("%sthere is no setting %q", atLine((&webapi.Fault{Setting: unknown[0].String()}).Line(string(text))), unknown[0].String())
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
