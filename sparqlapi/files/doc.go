// Package files serves the bytes of versions: one by one, as zip, WARC and WACZ of what a query finds, by time
// (Memento), with the proofs that they are in the transparency log.
package files
