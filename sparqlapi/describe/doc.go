// Package describe serves what is known of files and datasets: as linked data, citations, feeds and event streams.
package describe
