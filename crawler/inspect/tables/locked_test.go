package tables

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// An encrypted workbook is an OLE file; its name still says what it is.
func TestAnEncryptedWorkbookSaysSo(t *testing.T) {
	t.Parallel()
	data := append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 1024)...)
	for _, mediaType := range []string{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		"application/vnd.ms-excel.sheet.binary.macroenabled.12"} {
		found, err := Read(context.Background(), Input{Type: mediaType, Size: int64(len(data)), Body: bytes.NewReader(data)}, Options{})
		if len(found) > 0 || err == nil || !strings.Contains(err.Error(), "encrypted: reading it needs a password") {
			t.Errorf("%s: %d tables, %v", mediaType, len(found), err)
		}
	}
}
