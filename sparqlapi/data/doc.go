// Package data serves what is in tables: their rows and columns, their history, changes, and the search over all.
package data
