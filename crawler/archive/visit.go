package archive

import (
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/packed"
)

// Visit is one finished fetch on its way into the archive.
type Visit struct {
	// Activity is what came of the fetch. URL, Start, End and Outcome must be set; Commit sets ID and Version.
	Activity catalog.Activity
	// Kept is the body to be kept; nil if there is none.
	Kept *Kept
	// ErrorPage is the digest of a body that was recognised as an error page, which many URLs of the host return.
	// Versions with these bytes that were kept earlier are marked. nil if there is none.
	ErrorPage *[32]byte
	// Examined is the digest of a body that was fetched and not refused, so that parts of it may be on disk although it
	// is not kept. If it has been withdrawn meanwhile, it is purged again. nil if there is none.
	Examined *[32]byte
	// Confirms is the version that was the latest when the visit asked, if the answer was that it is unchanged, without
	// its bytes. "" if that is not known: then it is the version that is the latest when the visit commits.
	Confirms string
	// Past places the version, or the visit, by its date, among those that were stored before it: for what other
	// archives fetched.
	Past *Past
	// Fault describes how this program failed to examine the bytes, which are kept nevertheless; "" if it did not fail.
	Fault string
}

// Kept is a body whose bytes are on disk already, and what is known of it.
type Kept struct {
	Placed       *content.Placed // the bytes, which join the content store with the commit; the caller releases them
	Ref          content.Ref     // of bytes that are in the content store already, if Placed is nil
	Type         string          // media type
	Charset      string
	Because      string
	FileName     string
	Truncated    string // why the bytes are not the whole file, "" if they are
	LastModified string
	ETag         string
	Headers      map[string][]string
	Request      map[string][]string
	Exchange     *catalog.Exchange // what was on the wire; nil if that is not known
	Block        BlockDigest       // of the version's record in a WARC file, without Version; zero if it is not known
	Inside       *inspect.Inside   // nil if nothing is known

	Packed *packed.Inside // Inside as it was encoded elsewhere, to spare encoding it again; nil if it was not
	Change *diff.Summary  // against the version before; nil for the first
	Former Former         // the version before, if the caller has read it, to spare reading it again

	// Withdrawn says that another archive withdrew the bytes. Only the record of a version is made, and Ref has the
	// digests and the size. From then on the bytes are refused, unless another version has them, or retention took them
	// away.
	Withdrawn *catalog.Withdrawal

	// Version is called with the version that the body became, to spare reading it again; nil for no call. It is called
	// in the transaction, which may be repeated, so the last call counts, and only once Commit has returned without an
	// error.
	Version func(catalog.Version)

	lost      bool     // the bytes are not there, or those of an error page: there is no stored record
	head      [32]byte // digest of the head, for the transparency log
	leafFlags byte     // of the leaf there

	packed   packed.Inside // Inside
	exchange []byte        // Exchange, encoded
	draft    draft
}

// Former is a version and what is inside it.
type Former struct {
	Version string // its id
	Inside  *inspect.Inside
}

// bounded returns the visit with strangers' texts cut to what a record may hold, and with Inside encoded.
func (v Visit) bounded() (Visit, error) {
	v.Activity = boundActivity(v.Activity)
	if v.Kept == nil {
		return v, nil
	}
	kept := *v.Kept
	kept.bound()
	var err error
	if kept.Packed != nil && kept.Packed.Inside == kept.Inside {
		kept.packed = *kept.Packed
	} else {
		kept.packed, err = packed.Pack(kept.Inside, packed.Sample)
	}
	kept.Inside, v.Kept = kept.packed.Inside, &kept
	if err == nil {
		kept.exchange, err = records.PackExchange(kept.Exchange, v.Activity.URL)
		kept.head = headOf(kept.Exchange)
	}
	if v.Past != nil {
		kept.leafFlags = transparency.FromOthers
	}
	return v, err
}

// mayShare reports whether the visit may be committed in one transaction with others: not if it changes their records.
func (v Visit) mayShare() bool {
	return v.Past == nil && v.ErrorPage == nil && (v.Kept == nil || v.Kept.Withdrawn == nil)
}

// size returns about how many bytes the visit writes.
func (v Visit) size() int {
	if v.Kept == nil {
		return bareShare
	}
	return bareShare + v.Kept.packed.Size() + len(v.Kept.exchange)
}
