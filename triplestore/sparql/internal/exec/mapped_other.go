//go:build !unix

package exec

import (
	"errors"
	"os"
)

func mapFile(*os.File, int) ([]byte, error) { return nil, errors.ErrUnsupported }
func unmapFile([]byte)                      {}
