package detect

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// binaryForm recognises binary formats by more than a fixed beginning: their first bytes are short, so the fields that
// follow must agree. what names the format, for a sentence. t is "" if b is of none of them.
func binaryForm(b []byte) (t, what string) {
	switch {
	case tiff(b):
		if len(b) >= 10 && string(b[8:10]) == "CR" {
			return "image/x-canon-cr2", "a raw photograph in TIFF"
		}
		return "image/tiff", "TIFF"
	case len(b) >= 12 && string(b[:4]) == "FORM" && (string(b[8:12]) == "AIFF" || string(b[8:12]) == "AIFC"):
		return "audio/aiff", "AIFF"
	case sfnt(b):
		if string(b[:4]) == "OTTO" {
			return "font/otf", "an OpenType font"
		}
		return "font/ttf", "a TrueType font"
	case bytes.HasPrefix(b, []byte("ttcf\x00")) && len(b) >= 12 && b[4] == 0 && (b[5] == 1 || b[5] == 2):
		return "font/collection", "a collection of fonts"
	case len(b) >= 14 && string(b[:4]) == "qoif" && (b[12] == 3 || b[12] == 4) && b[13] <= 1:
		return "image/qoi", "QOI"
	case len(b) >= 24 && string(b[4:12]) == "jP  \r\n\x87\n" && string(b[16:20]) == "ftyp" && string(b[20:24]) == "mjp2":
		return "video/mj2", "Motion JPEG 2000"
	case len(b) >= 128 && string(b[:4]) == "\x31\xbe\x00\x00":
		// Word for DOS writes what Write does, with another number of pages in its header.
		if binary.LittleEndian.Uint16(b[96:]) == 0 {
			return "application/msword", "Word for DOS"
		}
		return "application/x-mswrite", "Write"
	case len(b) >= 48 && string(b[44:48]) == "SCRM" && b[28] == 0x1a && b[29] == 0x10:
		return "audio/x-s3m", "a module of Scream Tracker"
	case sgi(b):
		return "image/x-sgi", "an SGI image"
	}
	if t := netpbm(b); t != "" {
		return t, "a Netpbm image"
	}
	return "", ""
}

// tiff recognises byte order, number and the offset of the first directory (TIFF 6.0, section 2).
func tiff(b []byte) bool {
	if len(b) < 8 {
		return false
	}
	switch string(b[:4]) {
	case "II*\x00":
		return binary.LittleEndian.Uint32(b[4:]) >= 8
	case "MM\x00*":
		return binary.BigEndian.Uint32(b[4:]) >= 8
	}
	return false
}

// sfnt recognises a font by its version, the number of its tables and the name of the first of them (OpenType 1.9,
// "Table directory").
func sfnt(b []byte) bool {
	if len(b) < 16 {
		return false
	}
	switch string(b[:4]) {
	case "\x00\x01\x00\x00", "OTTO", "true":
	default:
		return false
	}
	tables, search := binary.BigEndian.Uint16(b[4:]), binary.BigEndian.Uint16(b[6:])
	if tables == 0 || tables > 256 || search%16 != 0 || search > tables*16 {
		return false
	}
	for _, c := range b[12:16] {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// sgi recognises an image by the fields of its header: storage, bytes of a channel, dimensions and sizes (SGI Image
// File Format 1.00).
func sgi(b []byte) bool {
	if len(b) < 512 || b[0] != 0x01 || b[1] != 0xda || b[2] > 1 || b[3] != 1 && b[3] != 2 {
		return false
	}
	dims := binary.BigEndian.Uint16(b[4:])
	return dims >= 1 && dims <= 3 && binary.BigEndian.Uint16(b[6:]) > 0
}

// netpbm recognises an image by its number and the width and height after it (pnm(5)). Comments may stand between.
func netpbm(b []byte) string {
	if len(b) < 8 || b[0] != 'P' || b[1] < '1' || b[1] > '6' || b[2] != '\n' && b[2] != ' ' && b[2] != '\r' && b[2] != '\t' {
		return ""
	}
	numbers, want := 0, 3
	if b[1] == '1' || b[1] == '4' {
		want = 2 // bits have no maximum
	}
	for line := range bytes.Lines(b[2:min(len(b), 1024)]) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		for _, word := range bytes.Fields(line) {
			if numbers == want {
				break
			}
			if len(word) > 7 || strings.Trim(string(word), "0123456789") != "" {
				return ""
			}
			numbers++
		}
		if numbers == want {
			return map[byte]string{'1': "image/x-portable-bitmap", '2': "image/x-portable-graymap",
				'3': "image/x-portable-pixmap"}[(b[1]-'1')%3+'1']
		}
	}
	return ""
}
