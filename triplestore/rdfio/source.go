package rdfio

import (
	"errors"
	"io"
)

// Source is the input of a Reader that remembers why it could not be read further. A Reader reports such a failure like
// a syntax error of the document; Err tells them apart.
type Source struct {
	r   io.Reader
	err error
}

// NewSource returns a Source that reads from r.
func NewSource(r io.Reader) *Source { return &Source{r: r} }

// Read implements io.Reader.
func (s *Source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// Err returns the last error of the underlying reader, other than io.EOF. It is nil for a nil Source.
func (s *Source) Err() error {
	if s == nil {
		return nil
	}
	return s.err
}
