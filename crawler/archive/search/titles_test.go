package search

import (
	"fmt"
	"strings"
	"testing"
)

func TestTitlesStayAsTheyWereWhenOthersAreReplaced(t *testing.T) {
	t.Parallel()
	var f facts
	const docs = 3000
	title := func(doc, turn int) string { return fmt.Sprintf("%d %d ", doc, turn) + strings.Repeat("x", doc%40) }
	kept := map[int]string{} // titles as they were read, by document
	for turn := range 60 {
		for doc := range docs {
			if doc%7 != 0 || turn == 0 {
				f.set(uint32(doc), row{ID: fmt.Sprintf("%024x", doc), Title: title(doc, turn)})
			}
			if turn == 0 {
				kept[doc] = f.titles.at(f.rows.at(uint32(doc)).title)
			}
		}
	}
	for doc := range docs {
		want := title(doc, 59)
		if doc%7 == 0 {
			want = title(doc, 0)
		}
		if got := f.titles.at(f.rows.at(uint32(doc)).title); got != want {
			t.Fatalf("document %d has title %q, want %q", doc, got, want)
		}
		if kept[doc] != title(doc, 0) {
			t.Fatalf("a title that was read changed to %q", kept[doc])
		}
	}
	if f.titles.used > 2*titleBlock {
		t.Errorf("%d bytes are kept for %d titles", f.titles.used, docs)
	}
	if ref := f.titles.add(""); f.titles.at(ref) != "" {
		t.Error("the empty title is not empty")
	}
}
