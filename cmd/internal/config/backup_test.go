package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestABackupIsNotAmongTheFilesOfTheArchive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(data, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct{ to, bytes, want string }{
		{"file://" + data, "", "data directory"},
		{"file://" + data + "/sub", "", "data directory"},
		{"file://" + dir + "/link/new/sub", "", "data directory"},
		{"file://" + dir, "", "data directory"},
		{"file:///", "", "data directory"},
		{"file://" + dir + "/packs", "file://" + dir + "/packs", "--bytes"},
		{"file://" + dir + "/packs/backup", "file://" + dir + "/packs", "--bytes"},
		{"s3://archive", "s3://archive/packs", "--bytes"},
		{"s3://archive/packs/b", "s3://archive/packs", "--bytes"},
		{"s3://archive/backup", "s3://archive/packs", ""},
		{"file://" + dir + "/data2", "file://" + dir + "/packs", ""},
		{"file://" + dir + "/backup", "none", ""},
		{"none", "", ""},
	} {
		c := Defaults()
		c.Data, c.Backup.To, c.Bytes = data, one.to, one.bytes
		err := c.Check()
		if one.want == "" && err != nil {
			t.Errorf("%+v: %v", one, err)
		} else if one.want != "" &&
			(err == nil || !strings.Contains(err.Error(), one.want) || !strings.Contains(err.Error(), "--backup-to")) {
			t.Errorf("%+v: %v", one, err)
		}
	}
}
