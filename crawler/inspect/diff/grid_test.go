package diff

import (
	"bytes"
	"strings"
	"testing"
)

func TestRowsThatChangedStandBelowTheHeadsOfTheirColumns(t *testing.T) {
	t.Parallel()
	r := compare(t, "text/csv", "id,gone,name\n1,x,Ada\n2,y,Bob\n3,z,Cy\n", "name,id,new\nAdam,1,p\nCy,3,q\nDi,4,r\n",
		Options{Key: []string{"id"}})
	var page bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<th scope="col">name</th><th scope="col">id</th><th scope="col">new</th><th scope="col">gone</th>`,
		"<td><del>Ada</del> <ins>Adam</ins></td><td>1</td><td><ins>p</ins></td><td></td>",
		"<td><del>Bob</del></td><td><del>2</del></td><td></td><td><del>y</del></td>",
		"<td><ins>Di</ins></td><td><ins>4</ins></td><td><ins>r</ins></td><td></td>",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %s in %s", want, page.String())
		}
	}
}

func TestRowsOfWideTablesAreListsOfValues(t *testing.T) {
	t.Parallel()
	wide := "c0"
	for i := 1; i <= gridColumns; i++ {
		wide += ",c" + strings.Repeat("x", i)
	}
	row := strings.Repeat(",v", gridColumns) + "\n"
	r := compare(t, "text/csv", wide+"\n1"+row+"2"+row, wide+"\n1"+row+"3"+row, Options{})
	var page bytes.Buffer
	if err := r.WriteHTML(&page); err != nil || !strings.Contains(page.String(), `<th scope="col">Values</th>`) {
		t.Errorf("%v: %s", err, page.String())
	}
}
