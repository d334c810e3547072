//go:build !unix

package apart

import (
	"os"
	"time"
)

// confine says what the server has limited.
func confine(_ int64, limits bool) (string, error) {
	if !limits {
		return "files are examined in processes of their own, without limits of the system", nil
	}
	return "files are examined in processes of their own, which watch their memory; the system limits neither files nor network", nil
}

// limitProcessorTime does nothing: the server ends a child by the clock.
func limitProcessorTime(time.Duration) {}

func endOnSignals() {}

func endedBy(*os.ProcessState) (name string, byOthers bool) { return "", false }

func peakOf(*os.ProcessState) int64 { return 0 }
