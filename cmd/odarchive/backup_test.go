package main

import (
	"bytes"
	"strings"
	"testing"

	"odarchive/crawler/copies/backup"
)

func TestABackupWithADamagedPackIsPrintedAndFails(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &cli{stdout: &out}
	err := c.printBackup("full.odab", backup.Info{Packs: []backup.Pack{{Name: "1-a.pack", Contains: true}}, Damaged: []string{"1-a.pack"}})
	if err == nil || err.Error() != "full.odab is written, but pack 1-a.pack was already damaged: run 'odarchive check --repair'" {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(out.String(), "1 pack, 1 of them in this file") {
		t.Errorf("printed is %q", out.String())
	}
	if err := c.printBackup("full.odab", backup.Info{}); err != nil {
		t.Errorf("a sound one: %v", err)
	}
}
