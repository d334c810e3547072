package faces_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"odarchive/cmd/internal/faces"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/copies/backup"
	"odarchive/triplestore/kv"
)

// What a server sends is the whole archive: others on the machine of the command must not read it.
func TestABackupFromAServerIsForItsOwnerOnly(t *testing.T) {
	data := t.TempDir()
	db, err := kv.Open(data, kv.Options{MinFree: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store, err := content.Open(filepath.Join(data, "packs"), db, content.Options{MinFree: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := backup.Write(r.Context(), backup.Source{DB: db, Content: store, Dir: data}, w, nil, nil); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()

	dir := t.TempDir()
	out := filepath.Join(dir, "full.odab")
	if _, err := faces.NewRemote(server.URL, "").Backup(t.Context(), out, "", nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v", info.Mode())
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside the backup: %v %v", entries, err)
	}
}
