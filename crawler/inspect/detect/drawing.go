package detect

import (
	"bytes"
	"strings"
)

// dxf recognises a drawing by its first section, possibly after comments (group 999).
func dxf(b []byte) bool {
	fields := bytes.Fields(b[:min(len(b), 2048)])
	if len(fields) > 2 && string(fields[0]) == "999" {
		i := bytes.Index(b[:min(len(b), 4096)], []byte("SECTION"))
		return i > 0 && bytes.HasSuffix(bytes.TrimSpace(b[:i]), []byte("\n0")) || i > 0 &&
			bytes.HasSuffix(bytes.TrimSpace(b[:i]), []byte(" 0"))
	}
	return len(fields) > 3 && string(fields[0]) == "0" && string(fields[1]) == "SECTION" && string(fields[2]) == "2"
}

// wavefront recognises a model by its lines: each begins with a keyword of the format, and several are vertices with
// three or more coordinates.
func wavefront(b []byte) bool {
	vertices := 0
	for line := range bytes.Lines(b) {
		if line[len(line)-1] != '\n' {
			break // cut off by the end of the sample
		}
		fields := strings.Fields(string(line))
		if len(fields) == 0 || fields[0][0] == '#' {
			continue
		}
		switch fields[0] {
		case "v":
			if len(fields) < 4 || strings.Trim(strings.Join(fields[1:], ""), "0123456789.eE+-") != "" {
				return false
			}
			vertices++
		case "vt", "vn", "vp", "f", "l", "p", "o", "g", "s", "mtllib", "usemtl", "cstype", "deg", "curv", "surf", "parm", "end":
		default:
			return false
		}
	}
	return vertices >= 3
}

// xbm recognises an image by the two definitions it begins with: #define name_width 16, #define name_height 16.
func xbm(b []byte) bool {
	fields := strings.Fields(string(b[:min(len(b), 1024)]))
	return len(fields) >= 6 && fields[0] == "#define" && strings.HasSuffix(fields[1], "_width") && fields[3] == "#define" &&
		strings.HasSuffix(fields[4], "_height")
}
