package detect

import (
	"strings"
	"testing"
)

func TestProgramsAreKnownByTheirInterpreter(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"#! /bin/sh\nexport A=1\n":                        "text/x-shellscript",
		"#!/usr/bin/env bash\nset -eu\n":                  "text/x-shellscript",
		"#!/usr/bin/env -S A=1 python3.12 -u\nprint(1)\n": "text/x-python",
		"#!/usr/bin/perl -w\nprint 1;\n":                  "text/x-perl",
		"#!/usr/bin/env\n":                                "text/plain",
		"#!\n":                                            "text/plain",
		"#! a remark\n":                                   "text/plain",
	} {
		if d := detected(t, "notebook", "", body); d.Type != want {
			t.Errorf("%q: %s (%s), want %s", body, d.Type, d.Because, want)
		}
	}
}

// Data in columns of fixed width may bear a name that a program could have, too.
func TestRecordsAreNoProgram(t *testing.T) {
	t.Parallel()
	data := strings.Repeat("PLST  IL04000000  00000012317    Adams county     \n", 40)
	if d := detected(t, "ilgeo2010.pl", "", data); d.Type == "text/x-perl" {
		t.Errorf("lines of one length: %s (%s)", d.Type, d.Because)
	}
	if d := detected(t, "a.pl", "", strings.Repeat("use strict;\nmy $a = 1;\nprint $a;\n", 20)); d.Type != "text/x-perl" {
		t.Errorf("a program: %s (%s)", d.Type, d.Because)
	}
}

func TestRarerKindsAreToldByContent(t *testing.T) {
	t.Parallel()
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	for _, c := range []struct{ body, want string }{
		{"# a cube\nmtllib a.mtl\nv 1.0 2.0 3.0\nv -1 2 3\nv 1 -2e-3 3\nvn 0 0 1\nf 1//1 2//1 3//1\n", "model/obj"},
		{"v 1 2 3\nv 4 5 6\nv 7 8 9\nw 1 2 3\n", "text/plain"},
		{"#define a_width 16\n#define a_height 16\nstatic char a_bits[] = {\n0x00, 0x01 };\n", "image/x-xbitmap"},
		{"#define WIDTH 16\n#define HEIGHT 16\nint main() { return 0; }\n", "text/plain"},
		{".\\\" A page.\n.TH GREP 1\n.SH NAME\n", "text/troff"},
		{".TH RDMD 1 \"2006-03-12\"\n.SH NAME\n", "text/troff"},
		{".THE dots begin this line\n", "text/plain"},
		{"%!PS-AdobeFont-1.0\n%%CreationDate: Sat Nov  3 1990\n", "application/x-font-type1"},
		{"%!PS-Adobe-3.0\n%%Title: a\n", "application/postscript"},
		{"\x31\xbe\x00\x00\x00\xab" + zeros(90) + "\x05\x00" + zeros(40), "application/x-mswrite"},
		{"\x31\xbe\x00\x00\x00\xab" + zeros(130), "application/msword"},
		{zeros(28) + "\x1a\x10" + zeros(14) + "SCRM" + zeros(64), "audio/x-s3m"},
		{"\x01\xda\x00\x01\x00\x03\x00\x80\x00\x80\x00\x03" + zeros(600), "image/x-sgi"},
		{"\x01\xda\x07\x09" + zeros(600), "application/octet-stream"},
		{strings.Repeat("\xff", 32) + zeros(2016) + "PCD_IPI" + zeros(64), "image/x-photo-cd"},
		{"IIRO\x08\x00\x00\x00\x18\x00\x00\x01" + zeros(64), "image/x-olympus-orf"},
		{"\x00\x00\x02\x00\x02\x10\xc9\x00\x02\x00" + zeros(64), "application/x-quattro-pro"},
		{"?_\x03\x00\x40\x04\x00\x00\xff\xff\xff\xff" + zeros(64), "application/winhlp"},
		{"FC 00 20 11\n20 B8 05 00\n00 B0 02 00\n66 61 63 74\n4E 75 6D 62\n65 72 05 00\n", "text/plain"},
		{"This is line 1\nThis is line 2\nThis is line 3\nThis is line 4\nThis is line 5\nThis is line 6\n", "text/plain"},
	} {
		if d := detected(t, "", "", c.body); d.Type != c.want {
			t.Errorf("%.60q: %s (%s), want %s", c.body, d.Type, d.Because, c.want)
		}
	}
}
