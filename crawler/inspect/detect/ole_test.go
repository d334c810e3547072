package detect

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// none is the link to no entry.
const none = 0xFFFFFFFF

// oleFile returns an OLE file with a header, an allocation table and a directory of one sector ([MS-CFB] 2.2, 2.6).
func oleFile(entries ...oleEntry) string {
	b := make([]byte, 3*512)
	copy(b, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	binary.LittleEndian.PutUint16(b[30:], 9)
	binary.LittleEndian.PutUint32(b[48:], 1) // the directory is sector 1, the allocation table sector 0
	binary.LittleEndian.PutUint32(b[512+4:], 0xFFFFFFFE)
	for i, e := range entries {
		at := b[1024+128*i:]
		u := utf16.Encode([]rune(e.name))
		for k, c := range u {
			binary.LittleEndian.PutUint16(at[2*k:], c)
		}
		binary.LittleEndian.PutUint16(at[64:], uint16(2*len(u)+2))
		at[66] = 1
		binary.LittleEndian.PutUint32(at[68:], e.left)
		binary.LittleEndian.PutUint32(at[72:], e.right)
		binary.LittleEndian.PutUint32(at[76:], e.child)
	}
	return string(b)
}

func TestAnOLEFileIsOfTheProgramWhoseStreamsAreAtItsTop(t *testing.T) {
	t.Parallel()
	workbookWithSlides := oleFile(
		oleEntry{name: "Root Entry", left: none, right: none, child: 1},
		oleEntry{name: "Workbook", left: 2, right: none, child: none},
		oleEntry{name: "MBD0001", left: none, right: none, child: 3},
		oleEntry{name: "PowerPoint Document", left: none, right: none, child: none})
	for _, c := range []struct{ what, name, body, want string }{
		{"a workbook with slides in it", "a.xls", workbookWithSlides, "application/vnd.ms-excel"},
		{"a damaged tree", "a.bin", oleFile(oleEntry{name: "Root Entry", left: none, right: none, child: none},
			oleEntry{name: "WordDocument", left: none, right: none, child: none}), "application/msword"},
		{"a tree that turns in circles", "a.bin", oleFile(oleEntry{name: "Root Entry", child: 1},
			oleEntry{name: "VisioDocument", left: 1, right: 1, child: 1}), "application/vnd.visio"},
		{"an encrypted table", "a.xlsx", oleFile(oleEntry{name: "Root Entry", left: none, right: none, child: 1},
			oleEntry{name: "EncryptedPackage", left: none, right: none, child: none}),
			"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
		{"an encrypted file without a name", "", oleFile(oleEntry{name: "Root Entry", left: none, right: none, child: 1},
			oleEntry{name: "EncryptedPackage", left: none, right: none, child: none}), "application/x-ole-storage"},
		{"a project plan", "", oleFile(oleEntry{name: "Root Entry", left: none, right: none, child: 1},
			oleEntry{name: "Props14", left: 2, right: none, child: none}, oleEntry{name: "   114", left: none, right: none, child: none}),
			"application/vnd.ms-project"},
	} {
		if d := detected(t, c.name, "", c.body); d.Type != c.want {
			t.Errorf("%s: %s (%s), want %s", c.what, d.Type, d.Because, c.want)
		}
	}
	if d := detected(t, "a.xls", "", strings.Repeat("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 90)); d.Type != "application/vnd.ms-excel" {
		t.Errorf("an OLE file of nothing but its mark, called .xls: %s", d.Type)
	}
}
