package bucket

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPlacesThatOverlap(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "a"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	file := "file://" + dir
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{file, file, true}, {file + "/a", file + "/a/", true}, {file + "/a", file + "/b/../a", true},
		{file + "/a/new/one", file + "/a", true},
		{file + "/a", file + "/link", true}, {file + "/a/new", file + "/link/new/deep", true}, {file + "/a", "file:///", true},
		{file + "/a", file + "/ab", false}, {file + "/new", file + "/news", false}, {file + "/link", file + "/new", false},
		{"s3://bucket/a", "s3://bucket/a/", true}, {"s3://bucket", "s3://bucket/a/b", true}, {"s3://bucket/a/b", "s3://bucket/a", true},
		{"s3://bucket/a", "s3://bucket/ab", false}, {"s3://bucket/a", "s3://basket/a", false},
		{"s3://bucket/a?endpoint=http://h", "s3://bucket/a?endpoint=http://H:80&region=eu", true},
		{"s3://bucket/a?endpoint=http://h:81", "s3://bucket/a?endpoint=http://h", false},
		{"s3://bucket/a", "s3://bucket/a?endpoint=http://h", false},
		{"s3://bucket/a?endpoint=https://s3.amazonaws.com", "s3://bucket", true},
		{file, "s3://bucket", false}, {"none", "none", false},
	} {
		if Overlap(c.a, c.b) != c.want || Overlap(c.b, c.a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}

func TestANameThatNoBucketCanHaveIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bk", "a..b", "a_b/../c", ".abc", "abc."} {
		if err := Check("s3://" + name + "/x"); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, name := range []string{"bkt", "my-archive.eu", "A_1"} {
		if err := Check("s3://" + name + "/x"); err != nil {
			t.Error(err)
		}
	}
}
