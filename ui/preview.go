package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/csvprofile"

	"golang.org/x/text/encoding/htmlindex"
)

// preview is the beginning of a version, as text or as a table.
type preview struct {
	Kind   string // "table", "text", "binary", "empty"
	Text   string
	Header []string
	Rows   [][]string
	Things []string // classes of the columns, as far as they are known
	More   bool     // the file is longer
	Note   string
}

const (
	previewBytes = 256 << 10
	previewRows  = 20
	previewCols  = 60
	previewLines = 100
	previewCell  = 300 // characters
)

// preview reads the beginning of a version's bytes. They come from a stranger and are never used as markup.
func (u *UI) preview(ctx context.Context, v catalog.Version, profile *csvprofile.Profile) (preview, error) {
	if v.Size == 0 {
		return preview{Kind: "empty"}, nil
	}
	f, err := u.archive.Open(ctx, v.ID)
	if err != nil {
		return preview{}, fmt.Errorf("ui: preview of %s: %w", v.ID, err)
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, previewBytes))
	if err != nil {
		return preview{}, fmt.Errorf("ui: preview of %s: %w", v.ID, err)
	}
	if !isTextual(v.Type) {
		return preview{Kind: "binary"}, nil
	}
	text, ok := decode(head, v.Charset)
	if !ok {
		return preview{Kind: "binary"}, nil
	}
	cut := int64(len(head)) < v.Size
	if v.Type == "text/csv" || v.Type == "text/tab-separated-values" {
		dialect := csvprofile.Sniff([]byte(text), !cut, "utf-8")
		if profile != nil {
			dialect = profile.Dialect
		}
		if t := tablePreview(text, dialect, cut); len(t.Rows) > 0 || len(t.Header) > 0 {
			t.Things = classesOf(profile)
			return t, nil
		}
	}
	return textPreview(v.Type, text, cut), nil
}

func isTextual(mediaType string) bool {
	t, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return mediaType == ""
	}
	if strings.HasPrefix(t, "text/") || strings.HasSuffix(t, "+json") || strings.HasSuffix(t, "+xml") {
		return true
	}
	switch t {
	case "application/json", "application/xml", "application/javascript", "application/n-triples", "application/n-quads",
		"application/trig",
		"application/x-ndjson", "application/yaml", "application/sql", "application/sparql-query":
		return true
	}
	return false
}

// decode converts to UTF-8. It drops an incomplete character at the end, and returns false for data that is not text.
func decode(head []byte, charset string) (string, bool) {
	if charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		if enc, err := htmlindex.Get(charset); err == nil {
			if plain, err := enc.NewDecoder().Bytes(head); err == nil {
				head = plain
			}
		}
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(head, 0) >= 0 {
		return "", false
	}
	for range utf8.UTFMax {
		if r, size := utf8.DecodeLastRune(head); r != utf8.RuneError || size != 1 {
			break
		}
		head = head[:len(head)-1]
	}
	return strings.ToValidUTF8(string(head), "\uFFFD"), true
}

func textPreview(mediaType, text string, cut bool) preview {
	p := preview{Kind: "text", Text: text, More: cut}
	if strings.HasSuffix(mediaType, "json") && !cut {
		var pretty bytes.Buffer
		if json.Indent(&pretty, []byte(text), "", "  ") == nil && pretty.Len() < 4*previewBytes {
			p.Text, p.Note = pretty.String(), "indented for reading"
		}
	}
	lines := strings.SplitAfterN(p.Text, "\n", previewLines+1)
	if len(lines) > previewLines {
		p.Text, p.More = strings.Join(lines[:previewLines], ""), true
	}
	const longest = 12 << 10 // also for a file without line ends
	if len(p.Text) > longest {
		p.Text, p.More = strings.ToValidUTF8(p.Text[:longest], ""), true
	}
	return p
}
