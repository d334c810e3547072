package store

import (
	"context"
	"log/slog"
	"path/filepath"
	"runtime"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/memory"
	"odarchive/crawler/inspect/examine"
)

// NewExaminer returns what examines files, as the settings say. n is how many files are examined at a time for the
// crawl, 0 for as many as there are processors; notes is the directory of notes of what is being examined, "" for none.
// The caller closes it.
func NewExaminer(cfg config.Config, log *slog.Logger, n int, notes string) (*examine.Pool, error) {
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	all := 0
	for _, lane := range examine.Lanes(n) {
		all += lane
	}
	level := slog.LevelInfo
	if notes == "" {
		level = slog.LevelDebug // whoever only reads says what was asked for and no more
	}
	return examine.New(examine.Options{
		Children: n, Memory: memory.ForChild(all), Notes: notes,
		InProcess: cfg.Examine == config.ExamineHere || cfg.Examine == "", Unlimited: cfg.Examine == config.ExamineUnlimited,
		Said: func(what string) { log.Log(context.Background(), level, what, "MiB of each", memory.ForChild(all)>>20) },
	})
}

// openExaminer opens what examines files, or takes what the caller has for all its stores.
func (s *Store) openExaminer(opts Options) (err error) {
	if s.Examine = opts.Examine; s.Examine != nil {
		return nil
	}
	notes := ""
	if !s.DB.ReadOnly() {
		notes = filepath.Join(s.Config.Data, "examining")
	}
	if s.Examine, err = NewExaminer(s.Config, s.Log, 0, notes); err != nil {
		return err
	}
	s.onClose(s.Examine.Close)
	return nil
}
