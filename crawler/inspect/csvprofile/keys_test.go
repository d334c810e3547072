package csvprofile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// archive profiles tables that are written as "name: header; row; row".
func archive(t *testing.T, tables ...string) (list []KeyTable) {
	t.Helper()
	for _, s := range tables {
		name, text, _ := strings.Cut(s, ": ")
		lines := strings.Split(text, "; ")
		rows := lines[1:]
		p, err := ReadRows(t.Context(), "", strings.Fields(lines[0]), func() ([]string, error) {
			if len(rows) == 0 {
				return nil, io.EOF
			}
			row := strings.Fields(rows[0])
			rows = rows[1:]
			return row, nil
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, KeyTable{Member: name + ".csv", Profile: p})
	}
	return list
}

func TestForeignKeysNeedNamesAndValues(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what, want string
		tables     []string
	}{
		{"the table's name", "orders.csv 2 -> customers.csv 1",
			[]string{"customers: id name; 1 a; 2 b; 3 c", "orders: id customer_id; 7 1; 8 1; 9 3"}},
		{"the key's name", "Album.csv 2 -> Artist.csv 1",
			[]string{"Artist: ArtistId Name; 1 a; 2 b", "Album: AlbumId ArtistId; 7 1; 8 1; 9 2"}},
		{"irregular plurals", "t.csv 2 -> companies.csv 1",
			[]string{"companies: company_code x; AA a; BB b", "t: n company_code; 7 AA; 8 AA"}},
		{"transport", "stop_times.csv 2 -> stops.csv 1, stop_times.csv 1 -> trips.csv 1, trips.csv 2 -> calendar.csv 1",
			[]string{"stops: stop_id n; s1 a; s2 b", "stop_times: trip_id stop_id stop_sequence; t1 s1 1; t1 s2 2; t2 s1 1",
				"calendar: service_id monday; w1 1", "trips: trip_id service_id; t1 w1; t2 w1"}},
		{"a value that is no key", "", []string{"customers: id name; 1 a; 2 b", "orders: id customer_id; 7 1; 8 5"}},
		{"no key", "", []string{"customers: id name; 1 a; 1 b", "orders: id customer_id; 7 1; 8 1"}},
		{"two ids", "", []string{"a: id x; 1 a; 2 b", "b: id y; 1 a; 2 b"}},
		{"two tables that could be meant", "",
			[]string{"customers: customer_id x; 1 a; 2 b", "old/customers: customer_id y; 1 a; 2 b", "orders: n customer_id; 7 1; 8 1"}},
		{"figures by region", "", []string{"over80: region_code n; 1 a; 2 b", "by_age: region_code age; 1 10; 1 20; 2 10"}},
		{"years", "", []string{"gdp: year x; 2001 a; 2002 b", "births: n year; 7 2001; 8 2001"}},
		{"its own key", "", []string{"stops: stop_id n; s1 a; s1 b", "other: stop_id n; s1 a"}},
	} {
		list := archive(t, test.tables...)
		FindKeys(list)
		var got []string
		for _, table := range list {
			for _, key := range table.Profile.ForeignKeys {
				got = append(got, fmt.Sprintf("%s %d -> %s %d", table.Member, key.Columns[0], key.Member, key.To[0]))
			}
		}
		slices.Sort(got)
		want := strings.Split(test.want, ", ")
		slices.Sort(want)
		if strings.Join(got, ", ") != strings.Join(want, ", ") {
			t.Errorf("%s: %q, want %q", test.what, got, want)
		}
	}
}

func TestDeclaredKeysAreKept(t *testing.T) {
	t.Parallel()
	list := archive(t, "customers: id name; 1 a; 2 b", "orders: id customer_id boss_id; 7 1 1; 8 1 1")
	list[0].Member, list[1].Member, list[1].Index = "", "", 1
	list[0].Profile.Name, list[1].Profile.Name = "customers", "orders"
	list[1].Profile.ForeignKeys = []ForeignKey{{Columns: []int{3}, To: []int{1}}}
	FindKeys(list)
	if got := fmt.Sprint(list[1].Profile.ForeignKeys); got != "[{[3]  0 [1] false}]" {
		t.Errorf("%s", got)
	}
}

func TestWordsOfNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"CustomerID": "customer id", "customer_id": "customer id", "HTTPStatus": "http status",
		"park.key": "park key", "größe": "größe", "": "", "a1": "a1"} {
		if got := strings.Join(keyWords(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestInclusionOfLargeColumns compares columns of more values than a sketch has.
func TestInclusionOfLargeColumns(t *testing.T) {
	t.Parallel()
	sketch := func(from, to, step int) Sketch {
		rows := &strings.Builder{}
		rows.WriteString("id,x\n")
		for i := from; i < to; i += step {
			fmt.Fprintf(rows, "v%d,a\n", i)
		}
		p, err := Read(t.Context(), strings.NewReader(rows.String()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p.Columns[0].Sketch
	}
	all := sketch(0, 100_000, 1)
	if !included(sketch(0, 100_000, 7), all) || !included(sketch(50, 80_000, 300), all) {
		t.Error("values are among those of the other column")
	}
	if included(sketch(50_000, 150_000, 5), all) || included(all, sketch(0, 100_000, 2)) || included(nil, all) || included(all, nil) {
		t.Error("values are not among those of the other column")
	}
}

// TestManyColumnsOfOneName checks that columns are not compared with more than maxParents others.
func TestManyColumnsOfOneName(t *testing.T) {
	t.Parallel()
	for parents, want := range map[int]int{maxParents: 1, maxParents + 1: 0} {
		var names, first, second []string
		for i := range parents {
			names = append(names, "x"+strings.Repeat("-", i+1)+"id")
			first, second = append(first, fmt.Sprint("v", i)), append(second, fmt.Sprint("w", i))
		}
		list := archive(t, "x: "+strings.Join(names, " ")+"; "+strings.Join(first, " ")+"; "+strings.Join(second, " "),
			"y: n x_id; 1 v3; 2 w3; 3 v3")
		FindKeys(list)
		if got := len(list[1].Profile.ForeignKeys); got != want {
			t.Errorf("%d columns: %d keys, want %d", parents, got, want)
		}
	}
}
