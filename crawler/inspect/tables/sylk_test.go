package tables

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source/sourcetest"
)

const sylkSheet = "ID;PWXL;N;E\r\nP;PGeneral\r\nP;Pdd\\/mm\\/yyyy\r\nB;Y3;X4\r\nC;Y1;X1;K\"id\"\r\nC;X2;K\"town\"\r\nC;X3;K\"day\"\r\nC;X" +
	"4;K\"ok\"\r\n" +
	"C;Y2;X1;K1\r\nC;X2;K\"Graz;; " +
	"West\"\r\nF;P1;FG0G;X3\r\nC;K43890\r\nC;X4;KTRUE\r\nC;Y3;X1;K2.5\r\nC;X2;K\"Linz\"\r\nF;P1;FG0G;X3\r\nC;K43891\r\nC;X4;K#N/A\r\nE\r\n"

const difSheet = "TABLE\r\n0,1\r\n\"EXCEL\"\r\nVECTORS\r\n0,3\r\n\"\"\r\nTUPLES\r\n0,3\r\n\"\"\r\nDATA\r\n0,0\r\n\"\"\r\n-1,0\r\nBOT\r\n1" +
	",0\r\n\"id\"\r\n1,0\r\n\"town\"\r\n1,0\r\n\"ok\"\r\n" +
	"-1,0\r\nBOT\r\n0,1\r\nV\r\n1,0\r\n\"Graz " +
	"\"\"West\"\"\"\r\n0,1\r\nTRUE\r\n-1,0\r\nBOT\r\n0,2.5\r\nV\r\n1,0\r\n\"Linz\"\r\n0,0\r\nNA\r\n-1,0\r\nEOD\r\n"

func TestOldExchangeFormatsOfSheets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ mime, text, want string }{
		{"application/x-sylk", sylkSheet, "id decimal,town string,day date,ok boolean\n1,Graz; West,2020-02-29,true\n2.5,Linz,2020-03-01,"},
		{"application/x-dif", difSheet, "id decimal,town string,ok boolean\n1,Graz \"West\",true\n2.5,Linz,"},
	} {
		table := sourcetest.Read(t, readerOf(c.mime), sourcetest.Input(c.mime, []byte(c.text)))[0]
		var columns []string
		for _, col := range table.Columns {
			columns = append(columns, col.Name+" "+col.Datatype)
		}
		got := strings.Join(columns, ",")
		for _, row := range table.Cells {
			got += "\n" + strings.Join(row, ",")
		}
		if got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.mime, got, c.want)
		}
	}
}

// Cells far away take no memory.
func TestACellFarAwayIsLeftOut(t *testing.T) {
	t.Parallel()
	far := strings.TrimSuffix(sylkSheet, "E\r\n") + "C;Y2000000000;X9;K1\r\nC;Y5;X2000000000;K1\r\nC;Y-1;X-1;K1\r\nE\r\n"
	found, err := Read(context.Background(), Input{Type: "application/x-sylk", Size: int64(len(far)), Body: bytes.NewReader([]byte(far))},
		Options{})
	if err != nil || len(found) != 1 || found[0].Rows != 2 || !strings.Contains(strings.Join(found[0].Why, " "), "are left out") {
		t.Errorf("%d tables, %v", len(found), err)
	}
}

func FuzzSYLK(f *testing.F) {
	f.Add([]byte(sylkSheet))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzSheet("application/x-sylk", data) })
}

func FuzzDIF(f *testing.F) {
	f.Add([]byte(difSheet))
	f.Fuzz(func(t *testing.T, data []byte) { fuzzSheet("application/x-dif", data) })
}

func fuzzSheet(mime string, data []byte) {
	_, _ = readerOf(mime)(context.Background(), sourcetest.Input(mime, data), Options{MaxRows: 1000}.WithDefaults())
}
