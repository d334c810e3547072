package replica

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/disk"
)

func TestNothingIsLeftOfAPackThatDidNotArriveWhole(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "a part of what may be withdrawn")
	}))
	defer web.Close()
	m := &mirror{dir: t.TempDir(), fs: disk.OS{}, room: func(int64) error { return nil }, client: newClient(web.URL, "", "a"),
		grown: map[string]openPack{}}
	f := content.PackFile{Name: fmt.Sprintf("%012d-%s.pack", 1, strings.Repeat("ab", 32)), Size: 100}
	if err := m.copyClosed(t.Context(), f); err == nil {
		t.Error("a part of a pack is taken for the pack")
	}
	if left, err := filepath.Glob(filepath.Join(m.dir, "*")); err != nil || len(left) > 0 {
		raw, _ := os.ReadFile(left[0])
		t.Errorf("%v is left: %q, %v", left, raw, err)
	}
}
