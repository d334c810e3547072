package detect

import (
	"encoding/binary"
	"strings"
	"unicode/utf16"
)

// oleSectors is the maximum number of sectors read of the directory of an OLE file, with at most 32 entries each.
const oleSectors = 256

// ole recognises the program of an OLE compound file by the names of its streams ([MS-CFB] 2.6). Only those at the top
// count: a text with an embedded presentation has the streams of both.
func (f *file) ole() Detection {
	names := f.oleNames()
	has := func(want ...string) bool {
		for _, w := range want {
			if names[strings.ToLower(w)] {
				return true
			}
		}
		return false
	}
	found := func(t, why string) Detection { return Detection{Type: t, Confidence: 0.97, Because: why} }
	switch {
	case has("__properties_version1.0", "__nameid_version1.0") || hasPrefix(names, "__substg1.0_"):
		return found("application/vnd.ms-outlook", "an OLE file with the streams of an Outlook message")
	case has("Workbook", "Book") && !has("WordDocument", "PowerPoint Document"):
		return found("application/vnd.ms-excel", "an OLE file with an Excel workbook in it")
	case has("PowerPoint Document", "PP40", "PP97_DUALSTORAGE"):
		return found("application/vnd.ms-powerpoint", "an OLE file with a PowerPoint document in it")
	case has("WordDocument"):
		return found("application/msword", "an OLE file with a Word document in it")
	case has("Workbook", "Book"):
		return found("application/vnd.ms-excel", "an OLE file with an Excel workbook in it")
	case has("VisioDocument"):
		return found("application/vnd.visio", "an OLE file with a Visio document in it")
	case has("Quill", "Contents") && has("Escher", "Quill"):
		return found("application/x-mspublisher", "an OLE file with a Publisher document in it")
	case has("\x05HwpSummaryInformation", "HwpSummaryInformation", "BodyText") && has("FileHeader"):
		return found("application/x-hwp", "an OLE file with a Hangul document in it")
	case hasPrefix(names, "   1") && hasPrefix(names, "props"):
		return found("application/vnd.ms-project", "an OLE file with a Project plan in it")
	case has("MatOST", "MM"):
		return found("application/vnd.ms-works", "an OLE file with a Works document in it")
	case has("EncryptedPackage") &&
		(strings.HasPrefix(f.hints.name, "application/vnd.openxmlformats-") || strings.HasSuffix(f.hints.name, ".macroenabled.12")):
		return Detection{Type: f.hints.name, Confidence: 0.7, Because: "an encrypted Office document; its name says " + f.hints.name}
	case has("EncryptedPackage"):
		return Detection{Type: "application/x-ole-storage", Confidence: 0.8, Because: "an OLE file with an encrypted Office document in it"}
	}
	if strings.HasPrefix(f.hints.name, "application/") &&
		(strings.Contains(f.hints.name, "ms-") || f.hints.name == "application/msword" || f.hints.name == "application/vnd.visio") {
		return Detection{Type: f.hints.name, Confidence: 0.6, Because: "an OLE file of unknown streams; its name says " + f.hints.name}
	}
	return Detection{Type: "application/x-ole-storage", Confidence: 0.7, Because: "an OLE file of no program that is known here"}
}

func hasPrefix(names map[string]bool, p string) bool {
	for n := range names {
		if strings.HasPrefix(n, p) {
			return true
		}
	}
	return false
}

// oleNames returns the names at the top of the directory, in lower case.
func (f *file) oleNames() map[string]bool {
	entries := f.oleEntries()
	names := map[string]bool{}
	if len(entries) == 0 {
		return names
	}
	seen := make([]bool, len(entries))
	for todo := []uint32{entries[0].child}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if uint64(n) >= uint64(len(entries)) || seen[n] {
			continue
		}
		seen[n] = true
		names[entries[n].name] = true
		todo = append(todo, entries[n].left, entries[n].right)
	}
	if len(names) == 0 { // the tree is damaged: use all names
		for _, e := range entries {
			names[e.name] = true
		}
	}
	return names
}

// oleEntry is an entry of the directory, a node in the tree of names of its storage ([MS-CFB] 2.6.1).
type oleEntry struct {
	name               string
	left, right, child uint32
}

// oleEntries reads the directory, following its chain of sectors in the first allocation tables.
func (f *file) oleEntries() (entries []oleEntry) {
	b := f.head
	if len(b) < 512 {
		return nil
	}
	shift := binary.LittleEndian.Uint16(b[30:])
	if shift != 9 && shift != 12 {
		shift = 9
	}
	size := int64(1) << shift
	sector := func(n uint32) []byte {
		if n > 1<<26 {
			return nil
		}
		p := make([]byte, size)
		got, _ := f.Body.ReadAt(p, (int64(n)+1)*size)
		return p[:got]
	}
	next := func(n uint32) uint32 {
		at := int(int64(n) * 4 / size)
		if at >= 109 {
			return 0xFFFFFFFE
		}
		fat := sector(binary.LittleEndian.Uint32(b[76+4*at:]))
		off := int(int64(n) * 4 % size)
		if off+4 > len(fat) {
			return 0xFFFFFFFE
		}
		return binary.LittleEndian.Uint32(fat[off:])
	}
	at := binary.LittleEndian.Uint32(b[48:])
	for range oleSectors {
		if at >= 0xFFFFFFF0 {
			break
		}
		dir := sector(at)
		for ; len(dir) >= 128; dir = dir[128:] {
			var e oleEntry
			if n := int(binary.LittleEndian.Uint16(dir[64:])); dir[66] != 0 && n >= 2 && n <= 64 {
				u := make([]uint16, n/2-1)
				for i := range u {
					u[i] = binary.LittleEndian.Uint16(dir[2*i:])
				}
				e.name = strings.ToLower(string(utf16.Decode(u)))
				e.left, e.right, e.child = binary.LittleEndian.Uint32(dir[68:]), binary.LittleEndian.Uint32(dir[72:]),
					binary.LittleEndian.Uint32(dir[76:])
			}
			entries = append(entries, e)
		}
		at = next(at)
	}
	return entries
}
