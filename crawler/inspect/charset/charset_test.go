package charset

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"odarchive/testdata/shared"

	"golang.org/x/text/encoding"
)

func decoded(t testing.TB, b []byte, name string) string {
	t.Helper()
	r, err := NewReader(bytes.NewReader(b), name)
	if err != nil {
		return "cannot decode " + name
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

const greek = "Ο πληθυσμός της Αθήνας αυξήθηκε το περασμένο έτος. Ο δήμος δημοσίευσε τον προϋπολογισμό για το επόμενο έτος."

// wide returns a text in UTF-16 without a mark.
func wide(text string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

// TestThirdPartyTextsAreDecodedRight checks the level reached on the open half of chardet's texts.
func TestThirdPartyTextsAreDecodedRight(t *testing.T) {
	t.Parallel()
	dir := shared.Data(t, "encoding")
	var manifest []struct{ File, Encoding string }
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skip(err)
	}
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, m := range manifest {
		b, err := os.ReadFile(filepath.Join(dir, m.File))
		if err != nil {
			t.Fatal(err)
		}
		g := Detect(b, "")
		if equalFold(g.Name, m.Encoding) || decoded(t, b, g.Name) == decoded(t, b, m.Encoding) {
			right++
		} else {
			t.Logf("%s: %s, want %s (%s)", m.File, g.Name, m.Encoding, g.Because)
		}
	}
	share := 100 * float64(right) / float64(len(manifest))
	t.Logf("%d of %d texts decoded right: %.2f %%", right, len(manifest), share)
	if share < 99.3 {
		t.Errorf("%.2f %%, below the level reached before", share)
	}
}

func equalFold(a, b string) bool { return canonical(a) == canonical(b) }

func encoded(t *testing.T, name, text string) []byte {
	t.Helper()
	b, err := lookup(name).NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

func TestLanguagesTellTheirEncodings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, encodings string }{
		{
			"Název;Počet obyvatel;Rozloha\nPlzeň;175219;137,65\nHradec Králové;90596;105,69\nČeské Budějovice;93426;55,60\nŽďár nad " +
				"Sázavou;20400;37,06\n", "windows-1250 iso-8859-2 ibm852"},
		{"Bezeichnung;Straße;Größe\nMüllverbrennungsanlage Spittelau;Spittelauer Lände 45;groß\nÖffentliche Bücherei;Am Gürtel;klein\n",
			"windows-1252 ibm850 macintosh"},
		{"Название;Население\nСанкт-Петербург;5384342\nНижний Новгород;1252236\nЕкатеринбург;1493749\n",
			"windows-1251 koi8-r iso-8859-5 ibm866"},
		{"Δήμος;Πληθυσμός\nΘεσσαλονίκη;325182\nΗράκλειο Κρήτης;173993\nΙωάννινα;112486\n", "windows-1253 iso-8859-7"},
		{"İl;Nüfus\nİstanbul;15067724\nİzmir;4320519\nEskişehir;871187\nŞanlıurfa;2035809\nÇanakkale;540662\n", "windows-1254"},
		{"都道府県,人口\n東京都,13942856\n神奈川県,9200166\n大阪府,8823453\n北海道は日本の都道府県の一つである\n", "shift_jis euc-jp iso-2022-jp"},
		{"地区,人口\n北京市,21536000\n上海市,24281400\n这是一个关于中国人口的数据表\n", "gb18030"},
		{"縣市,人口\n臺北市,2645041\n高雄市,2773533\n這是一個關於臺灣人口的資料表\n", "big5"},
		{"지역,인구\n서울특별시,9729107\n부산광역시,3413841\n이것은 대한민국의 인구 자료입니다\n", "euc-kr"},
		{"עיר,אוכלוסייה\nירושלים,919438\nתל אביב,451523\nבאר שבע\n", "windows-1255"},
		{"المدينة,السكان\nالقاهرة,9500000\nالإسكندرية,5200000\nهذا جدول السكان\n", "windows-1256"},
	} {
		for name := range strings.FieldsSeq(c.encodings) {
			b := encoded(t, name, c.text)
			g := Detect(b, "")
			if got := decoded(t, b, g.Name); got != c.text {
				t.Errorf("%s: took it for %s (%s): %q", name, g.Name, g.Because, got)
			}
		}
	}
}

func TestMarksNullsAndDeclarationsAreSeen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, hint, want string }{
		{"", "", "ascii"},
		{"plain", "iso-8859-1", "ascii"},
		{"\xef\xbb\xbfa", "", "utf-8"},
		{"\xff\xfea\x00", "", "utf-16le"},
		{"\xfe\xff\x00a", "", "utf-16be"},
		{"\xff\xfe\x00\x00a\x00\x00\x00", "", "utf-32le"},
		{"a\x00b\x00c\x00,\x00", "", "utf-16le"},
		{"\x00a\x00b\x00c\x00,", "", "utf-16be"},
		{wide(greek, true), "", "utf-16be"},
		{wide(greek, false), "", "utf-16le"},
		{"a\x00\x00\x00b\x00\x00\x00", "", "utf-32le"},
		{"größer", "", "utf-8"},
		{"gr\xf6\xdfer", "", "iso-8859-1"},
		{"gr\xf6\xdfer", "iso-8859-15", "iso-8859-15"},
		{"price \x80 5, caf\xe9", "", "windows-1252"},
		{`<?xml version="1.0" encoding="ISO-8859-2"?><a>` + "\xb1\xe6\xea</a>", "", "iso-8859-2"},
		{`<html><meta http-equiv="Content-Type" content="text/html; charset=windows-1251">` + "\xcf\xf0\xe8\xe2\xe5\xf2", "",
			"windows-1251"},
	} {
		if g := Detect([]byte(c.in), c.hint); g.Name != c.want {
			t.Errorf("Detect(%q, %q) = %s (%s), want %s", c.in, c.hint, g.Name, g.Because, c.want)
		}
	}
}

func TestUTF8CutInTheMiddleIsStillUTF8(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("äöü€𝄞", 10))
	for n := 1; n < len(text); n++ {
		if g := Detect(text[:n], ""); n > 1 && g.Name != "utf-8" {
			t.Fatalf("%d bytes: %s", n, g.Name)
		}
	}
}

func TestReadersGiveUTF8InSmallPieces(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"utf-8", "utf-16", "utf-16be", "windows-1250", "johab", "euc-tw", "gb18030", "iso-2022-jp", "hz"} {
		in := []byte("\xef\xbb\xbfabc\n")
		if name != "utf-8" {
			in = []byte("abc\n")
			if enc := lookup(name); enc.NewEncoder() != nil && name != "johab" && name != "euc-tw" {
				in, _ = enc.NewEncoder().Bytes(in)
			}
		}
		r, err := NewReader(iotest.OneByteReader(bytes.NewReader(in)), name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != "abc\n" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := NewReader(nil, "no-such-encoding"); err == nil {
		t.Error("an unknown encoding has a reader")
	}
}

func TestJohabSyllablesAndCharactersDecode(t *testing.T) {
	t.Parallel()
	// 가 각 한글 漢字 as in KS X 1001 annex 3.
	got := decoded(t, []byte("\x88\x61 \x88\x62 \xd0\x65\x8b\x69 \xf7\xd3\xf1\xae"), "johab")
	if got != "가 각 한글 漢字" {
		t.Errorf("got %q", got)
	}
}

func TestEveryNameOfACandidateHasAReader(t *testing.T) {
	t.Parallel()
	for _, e := range singles() {
		if lookup(e.name) == nil {
			t.Errorf("%s cannot be read", e.name)
		}
	}
	for _, e := range multiples() {
		if lookup(e.name) == nil {
			t.Errorf("%s cannot be read", e.name)
		}
	}
	var _ []encoding.Encoding
}

func FuzzDetect(f *testing.F) {
	for _, s := range []string{"", "a,b\n", "\xff\xfe", "\x1b$B$3\x1b(B", "gr\xf6\xdfer", "\x8f\xa2\xaf", "\x81\x30\x81\x30",
		"<?xml encoding='x'?>\xff", "\x00\x00\xfe\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		g := Detect(b, "")
		if g.Name == "" {
			return
		}
		r, err := NewReader(bytes.NewReader(b), g.Name)
		if err != nil {
			t.Skip("only for encodings that have a reader, not " + g.Name)
		}
		out, err := io.ReadAll(r)
		if err == nil && g.Name != "utf-8" && !utf8.Valid(out) {
			t.Errorf("%s gives invalid UTF-8", g.Name)
		}
	})
}

func BenchmarkDetect(b *testing.B) {
	text := []byte(strings.Repeat("Bezeichnung;Stra\xdfe;Gr\xf6\xdfe\n", 10000))
	b.SetBytes(int64(min(len(text), sampleSize)))
	for b.Loop() {
		Detect(text, "")
	}
}

// English texts with a few names and signs from Western Europe are not Chinese, Japanese or Baltic.
func TestAFewForeignBytesInEnglishAreWestern(t *testing.T) {
	t.Parallel()
	english := strings.Repeat("17,item,the quick brown fox jumps over the lazy dog,London\n", 40)
	western := []string{"windows-1252", "iso-8859-1", "iso-8859-15", "macintosh", "ibm850", "ibm437"}
	for _, piece := range []string{"don\x89\xdb\xaat go", "some\x89\xdb\xd2text", "\x89\xdb\xcfquoted\x89\xdb\x9d words", "N\xfa\xf1ez",
		"Z\x81rich and D\x81sseldorf", "\xd2quoted\xd3", "Troms\xf8", "it\x92s", "20\xb0C"} {
		for _, n := range []int{1, 3} {
			if g := Detect([]byte(english+strings.Repeat("18,item,"+piece+" and more,Paris\n", n)), ""); !slices.Contains(western, g.Name) {
				t.Errorf("%q, %d times: %s (%s)", piece, n, g.Name, g.Because)
			}
		}
	}
}
