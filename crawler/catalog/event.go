package catalog

import "time"

// Event is an entry of the archive's log of changes, with its details. Feeds list events, hooks send them.
type Event struct {
	Seq   uint64 // number of the event, from 0; it never changes
	Kinds []string
	At    time.Time // not always in the order of the numbers

	URL      string // of the file; in an event of a dataset, the URL of one of its files, or ""
	Title    string // of the file or dataset
	Portals  []string
	Datasets []string

	Version  string    // id of the new version, "" if the event is not about a version
	N        int       // number of the event's version, -1 if it has none
	Previous string    // id of the version before, "" if there is none
	Type     string    // media type of the version
	Size     int64     // of the version, in bytes
	Before   int64     // size of the version before, -1 if there is none
	Crawled  time.Time // when the version was fetched

	Rows    RowChange
	Columns SchemaChange
	From    string // licence before, "" for none
	To      string // licence now, "" for none
	Why     string // why the file is gone, in one sentence
}

// RowChange has the numbers of rows that were added, removed and changed.
type RowChange struct {
	Added   int64 `json:"added"`
	Removed int64 `json:"removed"`
	Changed int64 `json:"changed"`
}

// SchemaChange names the columns that were added, removed, and got another datatype.
type SchemaChange struct {
	Added, Removed []string
	Retyped        []Retyped
}

// IsZero reports whether no column changed.
func (c SchemaChange) IsZero() bool { return len(c.Added)+len(c.Removed)+len(c.Retyped) == 0 }

// Retyped is a column with another datatype than before.
type Retyped struct {
	Name string `json:"name"`
	From string `json:"from"`
	To   string `json:"to"`
}

// EventQuery selects events. At most one of URL, Dataset, Portal and Text may be set; if none is, the query is about
// the whole archive.
type EventQuery struct {
	URL     string // of a file
	Dataset string // IRI
	Portal  string // IRI
	Text    string // selects events of the files that a search for the text finds (see Search.Text)
	Kinds   string // words separated by commas; "" for the usual ones
	Before  uint64 // selects events with lower numbers; 0 means all
	Limit   int    // default 50, at most 500
}

// Events is one page of events.
type Events struct {
	List []Event
	// Next is EventQuery.Before of the next page, 0 if this is the last. A page that has a next page may still be
	// shorter than the limit, or empty: the search for events stops after a while.
	Next  uint64
	Title string // of the file, dataset or portal asked for
}
