// This is an inverted index in the database: which numbered documents contain a word.
//
// Words splits a text into words as the index has them: folded to lower case without accents, cut at everything that is
// neither letter nor digit. The words of a document belong to fields (title, address, column names ...), one byte each,
// which are searched separately. Changes gathers what a transaction changes and writes it as a part of that
// transaction; Find reads the documents of a word, and of words that begin with it, in any transaction.
//
// The index stores no text and ranks nothing: its results are sets of document numbers. It can always be rebuilt from
// the documents, so it has no repair. FORMAT.md describes the format.

package search
