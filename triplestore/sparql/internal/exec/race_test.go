package exec_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

var _ term.Dataset = (*triplestore.Snapshot)(nil)

// TestQueriesSeeOneStateWhileTheStoreChanges lets readers query the real store while a writer moves money between
// accounts: in every snapshot the total is the same, by every plan.
func TestQueriesSeeOneStateWhileTheStoreChanges(t *testing.T) {
	t.Parallel()
	db, err := kv.Open(t.TempDir(), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const accounts, total = 40, 4000
	holds := func(i, n int) term.Quad {
		return term.Quad{S: term.IRI(fmt.Sprintf("http://account/%d", i)), P: term.IRI("http://holds"),
			O: term.Typed(fmt.Sprint(n), "http://www.w3.org/2001/XMLSchema#integer")}
	}
	amount := make([]int, accounts)
	err = store.Update(context.Background(), func(tx *triplestore.Txn) error {
		for i := range amount {
			amount[i] = total / accounts
			tag := term.Quad{S: holds(i, 0).S, P: term.IRI("http://kind"), O: term.String(fmt.Sprintf("kind of account number %d", i%3))}
			if err := errors.Join(tx.Insert(holds(i, amount[i])), tx.Insert(tag)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for r := range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			q := parse(t,
				"SELECT (SUM(?n) AS ?sum) (COUNT(DISTINCT ?k) AS ?kinds) { ?a <http://holds> ?n ; <http://kind> ?k FILTER EXISTS { ?a ?p "+
					"?x } }")
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				sn := store.Snapshot()
				rows, printed, err := solve(context.Background(), q, sn, ways[(r+i)%len(ways)])
				sn.Release()
				if err != nil || len(rows) != 1 || rows[0][0].Value() != fmt.Sprint(total) || rows[0][1].Value() != "3" {
					t.Errorf("got %q, %v\n%s", rows, err, printed)
					return
				}
			}
		}()
	}
	for i := range 100 {
		from, to := i*7%accounts, i*11%accounts
		if from == to || amount[from] == 0 {
			continue
		}
		err := store.Update(context.Background(), func(tx *triplestore.Txn) error {
			n := 1 + i%amount[from]
			err := errors.Join(tx.Delete(holds(from, amount[from])), tx.Delete(holds(to, amount[to])))
			amount[from], amount[to] = amount[from]-n, amount[to]+n
			return errors.Join(err, tx.Insert(holds(from, amount[from])), tx.Insert(holds(to, amount[to])))
		})
		if err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	readers.Wait()
}
