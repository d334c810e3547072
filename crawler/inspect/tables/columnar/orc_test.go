package columnar

import (
	"bufio"
	"bytes"
	"compress/flate"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// proto returns a message of numbers, strings and messages, each after the number of its field.
func proto(parts ...any) []byte {
	var b []byte
	for i := 0; i < len(parts); i += 2 {
		field := protowire.Number(parts[i].(int))
		switch v := parts[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
		}
	}
	return b
}

// orcFileOf writes a file of one stripe with three rows, in blocks of zlib if packed.
func orcFileOf(t testing.TB, packed bool) []byte {
	pack := func(b []byte) []byte {
		if !packed {
			return b
		}
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, 9)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(b)
		_ = w.Close()
		n := out.Len() << 1
		return append([]byte{byte(n), byte(n >> 8), byte(n >> 16)}, out.Bytes()...)
	}
	streams := []struct {
		column, kind int
		b            string
	}{
		{1, orcData, "\xfd\x02\x03\x04"}, // 1, -2, 2 in version 1
		{2, orcPresent, "\xff\xa0"},      // present, missing, present
		{2, orcData, "ZürichKöln"},
		{2, orcLength, "\xfe\x07\x05"},
		{3, orcData, "\xff\xc0"},                 // true, true, false
		{4, orcData, "\xfd\xa2\x9e\x02\x00\x01"}, // 18321, 0 and -1 days since 1970
		{5, orcLength, "\xfd\x02\x00\x01"},       // 2, 0 and 1 values
		{6, orcData, "\xfd\x02\x04\x06"},         // 1, 2, 3
		{7, orcData, "\xb9\x60\x09\x00"},         // -6173, -5, 0
		{7, orcSecond, "\xfd\x04\x02\x00"},       // scales 2, 1, 0
		{8, orcData, "\xfd\x00\x02\x01"},         // seconds 0, 1 and -1 since 2015
		{8, orcSecond, "\xfd\x00\x2e\x00"},       // 0, 5 with seven zeros, 0
		{9, orcData, "\x00\x00\x80?\x00\x00\x00\xbf\x00\x00\x00\x00"},
		{10, orcData, "\xfd\x01\x00\x01"}, {10, orcLength, "\xfe\x01\x02"}, {10, orcWords, "abb"},
	}
	var data, index []byte
	for _, s := range streams {
		b := pack([]byte(s.b))
		data = append(data, b...)
		index = append(index, proto(1, proto(1, s.kind, 2, s.column, 3, len(b)))...)
	}
	for column := range 11 {
		kind := 0
		if column == 10 {
			kind = 1
		}
		index = append(index, proto(2, proto(1, kind, 2, 2))...)
	}
	index = pack(append(index, proto(3, "UTC")...))
	types := slices.Concat(
		proto(4, slices.Concat(proto(1, orcStruct), proto(2, []byte{1, 2, 3, 4, 5, 7, 8, 9, 10}), proto(3, "id", 3, "town", 3, "ok", 3, "day", 3, "list", 3, "price", 3, "at", 3, "x", 3, "word"))),
		proto(4, proto(1, orcLong), 4, proto(1, orcString), 4, proto(1, orcBoolean), 4, proto(1, orcDate), 4, proto(1, orcList, 2, []byte{6}), 4, proto(1, orcInt),
			4, proto(1, orcDecimal, 5, 9, 6, 2), 4, proto(1, orcInstant), 4, proto(1, orcFloat), 4, proto(1, orcString)))
	footer := pack(slices.Concat(proto(1, 3, 3, proto(1, 3, 2, 0, 3, len(data), 4, len(index), 5, 3)), types, proto(6, 3)))
	codec := 0
	if packed {
		codec = 1
	}
	end := proto(1, len(footer), 2, codec, 3, 65536, 8000, "ORC")
	return slices.Concat([]byte("ORC"), data, index, footer, end, []byte{byte(len(end))})
}

const orcRows = `id,town,ok,day,list,price,at,x,word
1,Zürich,true,2020-02-29,1; 2,-61.73,2015-01-01T00:00:00Z,1,bb
-2,,true,1970-01-01,,-0.5,2015-01-01T00:00:01.05Z,-0.5,a
2,Köln,false,1969-12-31,3,0,2014-12-31T23:59:59Z,0,bb
`

func TestAnORCFileIsRead(t *testing.T) {
	for _, packed := range []bool{false, true} {
		b := orcFileOf(t, packed)
		if kind := typeOf(t, b); kind != "application/vnd.apache.orc" {
			t.Fatal(kind)
		}
		tables := sourcetest.Read(t, orcTable, sourcetest.Input("application/vnd.apache.orc", b))
		if len(tables) != 1 {
			t.Fatal("no table")
		}
		var names []string
		for _, c := range tables[0].Columns {
			names = append(names, c.Name)
		}
		got := strings.Join(names, ",") + "\n"
		for _, row := range tables[0].Cells {
			got += strings.Join(row, ",") + "\n"
		}
		if got != orcRows {
			t.Errorf("got\n%swant\n%s", got, orcRows)
		}
		sourcetest.Harm(t, orcTable, sourcetest.Input("application/vnd.apache.orc", b))
	}
}

// TestRunsOfNumbers reads the examples of ORC's specification.
func TestRunsOfNumbers(t *testing.T) {
	for _, c := range []struct {
		bytes          string
		second, signed bool
		want           []int64
	}{
		{"\x61\x00\x07", false, false, slices.Repeat([]int64{7}, 100)},
		{"\xfb\x02\x03\x04\x07\x0b", false, false, []int64{2, 3, 4, 7, 11}},
		{"\x0a\x27\x10", true, false, slices.Repeat([]int64{10000}, 5)},
		{"\x5e\x03\x5c\xa1\xab\x1e\xde\xad\xbe\xef", true, false, []int64{23713, 43806, 57005, 48879}},
		{"\x8e\x13\x2b\x21\x07\xd0\x1e\x00\x14\x70\x28\x32\x3c\x46\x50\x5a\x64\x6e\x78\x82\x8c\x96\xa0\xaa\xb4\xbe\xfc\xe8", true, false,
			[]int64{2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130, 2140, 2150, 2160, 2170, 2180, 2190}},
		{"\xc6\x09\x02\x02\x22\x42\x42\x46", true, false, []int64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}},
	} {
		d := &orcInts{r: bufio.NewReader(strings.NewReader(c.bytes)), second: c.second, signed: c.signed}
		var got []int64
		for range c.want {
			v, err := d.next()
			if err != nil {
				t.Fatalf("%x: %v", c.bytes, err)
			}
			got = append(got, v)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%x: %v, want %v", c.bytes, got, c.want)
		}
		if _, err := d.next(); err == nil {
			t.Errorf("%x has no end", c.bytes)
		}
	}
}
