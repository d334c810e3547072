// Package columnar reads tables that are stored by column: Parquet.
package columnar

import "odarchive/crawler/inspect/tables/source"

// Reader returns the reader for a media type (lower case, without parameters), nil if it is not one of this package.
func Reader(mediaType string) source.Reader {
	switch mediaType {
	case "application/vnd.apache.parquet":
		return parquetFile
	}
	return nil
}
