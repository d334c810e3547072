package catalog

import "time"

// Event is one change that the archive noticed, with its details: what feeds list and hooks send.
type Event struct {
	Seq   uint64 // its number, from 0; it never changes
	Kinds []string
	At    time.Time // need not follow the order of numbers

	URL      string // of the file; of a dataset's event, that of one of its files, or ""
	Title    string // of the file or dataset
	Portals  []string
	Datasets []string

	Version  string // id of the version that came, "" if none did
	N        int    // its number
	Previous string // id of the version before it, ""  if there is none
	Type     string // media type of the version
	Size     int64  // of the version
	Before   int64  // size of the version before, -1 if there is none
	Crawled  time.Time

	Rows    RowChange
	Columns SchemaChange
	From    string // licence before, "" for none
	To      string // licence now, "" for none
	Why     string // why the file is gone, in one sentence
}

// RowChange is how many rows came, went and changed.
type RowChange struct{ Added, Removed, Changed int64 }

// SchemaChange names the columns that came, went, and changed their type.
type SchemaChange struct {
	Added, Removed []string
	Retyped        []Retyped
}

// IsZero reports whether no column changed.
func (c SchemaChange) IsZero() bool { return len(c.Added)+len(c.Removed)+len(c.Retyped) == 0 }

// Retyped is a column with another datatype than before.
type Retyped struct{ Name, From, To string }

// EventQuery selects events, newest first. At most one of URL, Dataset, Portal and Text is set; without any, all events
// are selected.
type EventQuery struct {
	URL     string
	Dataset string // IRI
	Portal  string // IRI
	Text    string // as Search.Text: events of the files that are found
	Kinds   string // words that commas separate; "" for the usual ones
	Before  uint64 // only events with lower numbers; 0 for the newest
	Limit   int    // default 50, at most 500
}

// Events is one page of events.
type Events struct {
	List []Event
	// Next is EventQuery.Before of the next page, 0 at the end. A page may be shorter than the limit, and even empty, and
	// have a next page, if reading on would have cost too much.
	Next  uint64
	Title string // of the file, dataset or portal asked for
}
