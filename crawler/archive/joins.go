package archive

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/csvprofile"
	"odarchive/crawler/describe"
	"odarchive/crawler/inspect"
	"odarchive/crawler/joins"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// Joins lists the columns that share values with those of a version, best first. Only the latest version of a resource
// has any.
func (a *Archive) Joins(ctx context.Context, versionID string) (found []joins.Match, err error) {
	err = a.view(func(t tables) error {
		if _, ok, err := t.version(versionID); err != nil || !ok {
			return orNotFound(err, "version", versionID)
		}
		found, err = joins.Of(t.txn, versionID)
		return err
	})
	return found, err
}

// join takes the columns of version old ("" for none) out of the index of columns, puts those of id in, and makes the
// triples follow.
func (a *Archive) join(txn *triplestore.Txn, old, id string, in *inspect.Inside) error {
	changes, err := joins.Update(txn.KV(), old, id, columnsOf(id, in))
	if err != nil {
		return err
	}
	for _, c := range changes {
		if err := replace(txn, describe.Joins(a.mint, c.Before), describe.Joins(a.mint, c.After)); err != nil {
			return err
		}
	}
	return nil
}

// columnsOf are the columns of a version's tables that may be joined with others.
func columnsOf(id string, in *inspect.Inside) (all []joins.Column) {
	if in == nil {
		return nil
	}
	add := func(member string, tables []*csvprofile.Profile) {
		for i, t := range tables {
			for j, c := range t.Columns {
				if joins.Eligible(c) {
					all = append(all, joins.Column{Place: joins.Place{Version: id, Member: member, Table: i, Column: j}, Name: c.Name, Distinct: c.Distinct, Key: c.Unique, Sketch: c.Sketch})
				}
			}
		}
	}
	add("", in.Tables)
	for _, m := range in.Members {
		add(m.Path, m.Tables)
	}
	return all
}

// joinsIndexed is set once all latest versions are in the index of columns.
const joinsIndexed = "archive/joins"

// Upgrade brings the records of a directory that an older program wrote up to date: it indexes the columns of the latest
// versions. It may be stopped at any time and goes on when called again; where there is nothing to do it is quick.
func (a *Archive) Upgrade(ctx context.Context) error {
	var from []byte
	err := a.db.View(func(txn *kv.Txn) (err error) {
		from, _, err = txn.Get(kv.SpaceMeta, []byte(joinsIndexed))
		return err
	})
	for err == nil && string(from) != upgraded {
		from, err = a.indexSome(ctx, string(from))
	}
	if err != nil {
		return fmt.Errorf("archive: index columns: %w", err)
	}
	return nil
}

const (
	upgraded = "done"
	someTodo = 4 // resources a transaction, each of which may take some ten thousand entries
)

// indexSome indexes the resources after the given id, and gives the last one, or upgraded.
func (a *Archive) indexSome(ctx context.Context, after string) (last []byte, err error) {
	err = a.triples.Update(ctx, func(txn *triplestore.Txn) error {
		t := tables{txn: txn.KV()}
		var todo []string
		last = []byte(upgraded)
		err := t.eachResource(ctx, after, func(r record) error {
			if len(todo) == someTodo {
				return errStop
			}
			if after = r.ID; r.Versions > 0 {
				todo = append(todo, ns.VersionID(r.ID, r.Versions-1))
			}
			return nil
		})
		if errors.Is(err, errStop) {
			last, err = []byte(after), nil
		}
		if err != nil {
			return err
		}
		for _, id := range todo {
			in, err := t.inside(id)
			if err == nil {
				err = a.join(txn, id, id, in)
			}
			if err != nil {
				return err
			}
		}
		return t.txn.Set(kv.SpaceMeta, []byte(joinsIndexed), last)
	})
	return last, err
}
