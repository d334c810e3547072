package frontier

import (
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

func TestPrioritiesThatAnOperatorSetStay(t *testing.T) {
	t.Parallel()
	f, _ := start(t)
	if _, err := f.Add(t.Context(), catalog.Seed{URL: "http://a.example/1", Priority: 1}, catalog.Seed{URL: "http://a.example/2"},
		catalog.Seed{URL: "http://a.example/3"}); err != nil {
		t.Fatal(err)
	}
	score := 5.0
	if _, err := f.Inject(t.Context(), Injection{URL: "http://a.example/3", Score: &score}); err != nil {
		t.Fatal(err)
	}
	change := func(list ...Prioritisation) {
		t.Helper()
		if err := f.db.Update(t.Context(), func(txn *kv.Txn) error { return f.PrioritiseIn(txn, list...) }); err != nil {
			t.Fatal(err)
		}
	}
	change(Prioritisation{"http://a.example/1", 1, -2}, Prioritisation{"http://a.example/2", 0, 3},
		Prioritisation{"http://a.example/3", 0, -4},
		Prioritisation{"http://b.example/unknown", 0, 1}, Prioritisation{"nowhere", 0, 1})
	l := lease(t, f)
	var order []string
	for _, j := range l.Jobs {
		order = append(order, j.URL[len(j.URL)-1:])
	}
	if len(order) != 3 || order[0] != "3" || order[1] != "2" || order[2] != "1" {
		t.Errorf("order of visits: %v", order)
	}
	if err := inconsistency(f); err != nil {
		t.Error(err)
	}
}
