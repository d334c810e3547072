package vault

import (
	"errors"
	"time"
)

// State says how a Keeper is doing.
type State struct {
	Every, Keep time.Duration
	Wait        bool
	Epoch       uint64 // 0 until this process is the writer
	Whole       bool   // there is a complete copy; before that, nothing can be restored
	Fenced      bool   // another process is the writer
	Lost        bool   // the vault is not there any more
	Lag         time.Duration
	Behind      uint64    // write sets that are not in the vault
	Last        time.Time // when the vault had everything for the last time
	Snapshot    time.Time // of the newest state file
	LogBytes    int64     // sent by this process
	PackBytes   int64
	StateBytes  int64
	Objects     int64
	Failures    int64
	Error       string    // of the last failure; "" if something was copied since
	Failing     time.Time // of the first failure since something was copied; zero if there was none
}

// State returns how the Keeper is doing.
func (k *Keeper) State() State {
	behind := k.src.DB.Committed()
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.state
	if k.writer != nil {
		s.Whole = k.last.key != "" && (!k.writer.IsNew() || k.last.epoch == k.writer.Epoch()) && k.writer.IsWhole()
		behind -= min(behind, k.writer.At().Number)
	}
	s.Behind = behind
	if at, ok := k.gate.oldest(); ok && behind > 0 {
		s.Lag = max(time.Since(at.time()), 0)
	}
	bytes, objects := k.packs.figures()
	s.PackBytes, s.Objects = bytes, s.Objects+objects
	s.Snapshot = k.last.at.time()
	return s
}

// reached notes that everything committed is in the vault, or bytes more of it.
func (k *Keeper) reached(bytes int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.Error, k.state.Failing = "", time.Time{}
	k.gate.setTrouble("")
	k.state.LogBytes += int64(bytes)
	if bytes > 0 {
		k.state.Objects++
	}
	k.state.Last = time.Now()
}

func (k *Keeper) failed(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.Failures++
	k.state.Error, k.state.Lost = err.Error(), errors.Is(err, ErrNotThere)
	if k.state.Failing.IsZero() {
		k.state.Failing = time.Now()
	}
	k.gate.setTrouble(k.state.Error)
}
