package kv

import "testing"

func TestStateFilesAreRarerOnlyDuringBulkWork(t *testing.T) {
	t.Parallel()
	db, err := Open(t.TempDir(), Options{SaveAt: 1000, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	first := db.SaveRarely()
	second := db.SaveRarely()
	first()
	first() // counts once
	if got := db.saveAt(); got != 8*1000*rarely {
		t.Errorf("during bulk work the first state file is due after %d bytes", got)
	}
	setStates := func(list []stateFile) {
		db.states.mu.Lock()
		defer db.states.mu.Unlock()
		db.states.list = list
	}
	setStates([]stateFile{{size: 100_000}})
	if got := db.saveAt(); got != 100_000*rarely {
		t.Errorf("during bulk work the next state file is due after %d bytes", got)
	}
	setStates(nil)
	second()
	if got := db.saveAt(); got != 1000 {
		t.Errorf("after bulk work a state file is due after %d bytes", got)
	}
}

func TestGrowthThatAStateFileCoversAsksForNoOther(t *testing.T) {
	t.Parallel()
	db, err := Open(t.TempDir(), Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 3 { // the third waits until the first was dealt with
		db.grown <- struct{}{}
	}
	if files := db.states.files(); len(files) > 0 {
		t.Errorf("%d state files were written of an empty log", len(files))
	}
}
