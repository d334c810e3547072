package listen

import "testing"

func TestConnectionsLeaveFilesForTheArchive(t *testing.T) {
	t.Parallel()
	for files, want := range map[int]int{20: 16, 256: 64, 1024: 256, 2048: 1024, 20000: 15000, 1 << 20: 16384} {
		if got := connectionsOf(files); got != want {
			t.Errorf("of %d files: %d connections, want %d", files, got, want)
		}
	}
	if MaxConnections() < 16 {
		t.Error(MaxConnections())
	}
}
