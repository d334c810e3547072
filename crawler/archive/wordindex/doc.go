// Package wordindex is an inverted index in the database: which numbered documents hold a word.
//
// Words makes the words of a text as the index has them: folded to lower case without accents, cut at everything that is
// neither letter nor digit. A document's words stand in fields (title, address, column names ...), one byte each, that are
// looked up apart. Changes gathers what one transaction changes and writes it as a part of that transaction; Find reads
// a word, and what begins with it, from any transaction.
//
// The index holds no text and knows nothing of relevance: its answers are sets of document numbers. It can always be
// made again from the documents, so it has no repair of its own. The format is in FORMAT.md.
package wordindex
