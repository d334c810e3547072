// Package columnar reads tables in files of columns or rows with a schema: Parquet, Arrow and Feather,
// Avro.
package columnar

import "odarchive/crawler/inspect/tables/source"

// Reader returns the reader for a media type (lower case, without parameters), nil if it is not one of this package.
func Reader(mediaType string) source.Reader {
	switch mediaType {
	case "application/vnd.apache.parquet":
		return parquetFile
	case "application/vnd.apache.arrow.file", "application/vnd.apache.arrow.stream":
		return arrowTable
	case "application/vnd.apache.avro+binary":
		return avroTable
	}
	return nil
}
