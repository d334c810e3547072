// Package jobs has what is done to an archive as a whole, beside visits: taking in what others have archived.
//
// A job's struct names what it works on, and its methods may be called while the archive is crawled and served. Opening
// and closing is not theirs; cmd/internal/crawl wires them.
package jobs
