package kv

import "testing"

func TestTablesBecomeLargerBeforeThereAreTooManyToMap(t *testing.T) {
	t.Parallel()
	for all, want := range map[int64]int64{0: minTable, 1 << 30: minTable, 8 << 30: minTable, 9 << 30: 2 * minTable, 1 << 40: maxTable} {
		got := tableSize(all)
		if got != want {
			t.Errorf("tables of %d bytes in a database of %d, want %d", got, all, want)
		}
		if n := all / got; n > maxTables && got < maxTable {
			t.Errorf("%d tables in a database of %d bytes", n, all)
		}
	}
}
