package examine

import (
	"os"

	"odarchive/crawler/inspect/apart"
)

// IsChild reports whether this process was started as a child: then it must do nothing but Serve.
func IsChild() bool { return len(os.Args) == 2 && os.Args[1] == apart.Argument }

// Serve is the whole life of a child. It returns the exit status.
func Serve() int {
	ops := map[string]apart.Op{"detect": opDetect, "profile": opProfile, "examine": opExamine, "diff": opDiff, "rows": opRows,
		"extract": opExtract,
		"sample":  opSample}
	for name, op := range ops {
		ops[name] = func(j *apart.Job) ([]byte, error) {
			answer, err := op(j)
			return answer, coded(err)
		}
	}
	return apart.Serve(ops)
}
