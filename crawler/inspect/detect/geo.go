package detect

import "encoding/binary"

// geographic recognises parts of geographic formats that have the signature of another part.
func (f *file) geographic() (Detection, bool) {
	b := f.head
	// The index of a shapefile has its header, and then 8 bytes a record: where it is, and its length. The first begins
	// at 50 words; the records of a shapefile itself have numbers from 1 in this place.
	if len(b) >= 100 && binary.BigEndian.Uint32(b) == 9994 && f.Size%8 == 100%8 && int64(binary.BigEndian.Uint32(b[24:]))*2 == f.Size {
		if len(b) >= 108 && binary.BigEndian.Uint32(b[100:]) == 50 || len(b) == 100 && f.hints.says("application/vnd.shx") {
			return Detection{Type: "application/vnd.shx", Confidence: 0.97,
				Because: "the header of an ESRI shapefile, and the places of its records"}, true
		}
	}
	return Detection{}, false
}
