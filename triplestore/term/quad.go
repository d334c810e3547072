package term

// Quad is a statement of terms. G is the empty Key for the default graph.
type Quad struct{ S, P, O, G Key }

// ID names a term within one store. The four highest bits are its Tag, the others its payload. Inline ids carry their
// value and, within one tag, compare in value order. Dictionary ids are arbitrary but stable for the life of the store.
type ID uint64

// Tag is the class of an ID.
type Tag byte

const (
	TagNone     Tag = 0x0 // ID 0 is no term: a wildcard in a Pattern, unbound in a solution
	TagGraph    Tag = 0x1 // only DefaultGraph
	TagIRI      Tag = 0x2 // dictionary
	TagBlank    Tag = 0x3 // dictionary
	TagLiteral  Tag = 0x4 // dictionary
	TagTriple   Tag = 0x5 // dictionary (RDF 1.2 triple terms)
	TagString   Tag = 0x6 // inline: xsd:string of up to 7 bytes
	TagBoolean  Tag = 0x7 // inline: canonical "true" or "false"
	TagInteger  Tag = 0x8 // inline: canonical xsd:integer in 60 bits, offset binary
	TagDecimal  Tag = 0x9 // inline: canonical xsd:decimal that fits
	TagDouble   Tag = 0xA // inline: canonical xsd:double that fits
	TagDateTime Tag = 0xB // inline: xsd:dateTime, milliseconds in UTC, time zone, precision as written
	TagDate     Tag = 0xC // inline: xsd:date with time zone
	TagGYear    Tag = 0xD // inline: xsd:gYear with time zone
	TagLocal    Tag = 0xF // never stored: values computed by one query, numbered by the query engine
)

// DefaultGraph is the id of the default graph in IDQuad.G. In Pattern.G, AnyNamed means every graph but the default
// graph, and AnyGraph, which is zero, means all graphs.
const (
	DefaultGraph ID = ID(TagGraph)<<60 | 1
	AnyNamed     ID = ID(TagGraph)<<60 | 2
	AnyGraph     ID = 0
)

// Tag returns the tag of the id.
func (id ID) Tag() Tag { return Tag(id >> 60) }

// Payload returns the id without its tag.
func (id ID) Payload() uint64 { return uint64(id) & (1<<60 - 1) }

// Make returns an id with a tag and a payload of at most 60 bits.
func Make(t Tag, payload uint64) ID { return ID(t)<<60 | ID(payload&(1<<60-1)) }

// Kind returns the kind of the term that the id names.
func (id ID) Kind() Kind {
	switch t := id.Tag(); {
	case t == TagIRI:
		return KindIRI
	case t == TagBlank:
		return KindBlank
	case t == TagTriple:
		return KindTriple
	case t == TagLiteral, t >= TagString && t <= TagGYear:
		return KindLiteral
	}
	return KindNone
}

// IDQuad is a statement of ids. G is DefaultGraph or the id of a graph's name.
type IDQuad struct{ S, P, O, G ID }

// Pattern selects quads. Each position is an id, or zero for any. G may also be DefaultGraph or AnyNamed.
type Pattern struct{ S, P, O, G ID }

// Order is a sort order of quads: by the components in the order of the letters, then by graph.
type Order byte

const (
	SPO Order = iota
	POS
	OSP
	PSO // a store that does not keep this order omits it from Orders
)

func (o Order) String() string { return [...]string{"SPO", "POS", "OSP", "PSO"}[o&3] }

// Cursor returns matching quads in one order, in batches.
//
//	for {
//		quads, err := c.Next()
//		if err != nil || len(quads) == 0 { break }
//		...
//	}
//	c.Close()
//
// The slice belongs to the cursor and is valid until the next call. An empty slice without an error is the end. SeekGE
// skips everything before the given quad in the cursor's order; it moves forward only and is cheap over long distances.
// A Cursor must not be used concurrently. Close may be called twice.
type Cursor interface {
	Next() ([]IDQuad, error)
	SeekGE(IDQuad)
	Close()
}

// Estimate is the estimated result of a Scan.
type Estimate struct {
	Count    float64    // matching quads
	Exact    bool       // Count is exact
	Distinct [3]float64 // distinct subjects, predicates and objects among them; 0 if unknown
}

// Dataset is one immutable state of a quad store, addressed by id: what a query engine reads. A store's snapshot is
// one. All methods may be called concurrently.
type Dataset interface {
	// Scan returns the quads that match p, sorted by o, then by graph. o must be one of Orders.
	Scan(p Pattern, o Order) Cursor
	// Orders returns the sort orders that Scan serves without sorting.
	Orders() []Order
	// Estimate returns within a few microseconds.
	Estimate(p Pattern) Estimate
	// Lookup returns the id of a term. ok is false if the term is not inline and no quad of the store contains it.
	Lookup(k Key) (id ID, ok bool, err error)
	// Keys sets keys[i] to the term of ids[i]. It is fastest for many ids in ascending order. An unknown id is an
	// error.
	Keys(ids []ID, keys []Key) error
	// Graphs calls f with each non-empty named graph, in id order, until f returns false.
	Graphs(f func(ID) bool) error
}
