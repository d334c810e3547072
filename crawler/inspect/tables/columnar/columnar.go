// Package columnar reads tables in files of columns or rows with a schema: Parquet, Arrow and Feather,
// Avro.
package columnar

import "odarchive/crawler/inspect/tables/source"

// Readers returns the readers of the family.
func Readers() source.Readers {
	return source.Readers{
		"application/vnd.apache.parquet":      parquetFile,
		"application/vnd.apache.arrow.file":   arrowTable,
		"application/vnd.apache.arrow.stream": arrowTable,
		"application/vnd.apache.avro+binary":  avroTable,
	}
}
