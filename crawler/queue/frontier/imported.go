package frontier

import "odarchive/triplestore/kv"

// imported is the Why of a URL of which the archive has imported versions only.
const imported = "imported: not crawled until it is added"

// ImportIn registers URLs of which other archives had versions, in a transaction. They are not fetched until Add or
// Requeue names them. Known URLs stay as they are.
func (f *Frontier) ImportIn(txn *kv.Txn, urls ...string) error {
	b := f.newBatch(txn, f.opts.Now())
	for _, url := range urls {
		u, known, err := b.lookup(url)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		u.URL, u.Blacklisted, u.Why = url, true, imported
		if err := b.register(u); err != nil {
			return err
		}
	}
	return b.finish()
}
