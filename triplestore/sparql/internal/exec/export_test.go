package exec

// Busy returns how many goroutines are counted.
func Busy(w *Workers) int { return int(w.busy.Load()) }
