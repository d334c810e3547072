package wal

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"

	"odarchive/triplestore/disk"
)

// tipName is the file with the number of the last record that was synced. It is written without a sync, so after a power
// failure it may name an earlier one. It can be missing: then the end of the log is believed.
const (
	tipName = "tip"
	tipSize = 28 // the log's id, the number, CRC-32C of both
)

// readTip returns the number in the tip, 0 if there is none for this log.
func (l *Log) readTip() uint64 {
	b, err := disk.ReadFile(l.fs, filepath.Join(l.dir, tipName), tipSize)
	if err != nil || len(b) != tipSize || crc32.Checksum(b[:24], castagnoli) != binary.LittleEndian.Uint32(b[24:]) {
		return 0
	}
	if [16]byte(b) != l.id && l.id != [16]byte{} {
		return 0 // of the log before a Reset
	}
	return binary.LittleEndian.Uint64(b[16:])
}

func (l *Log) openTip() {
	f, err := l.fs.OpenFile(filepath.Join(l.dir, tipName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		l.opts.Log.Warn("the log's tip is not kept", "error", err)
		return
	}
	l.tip = f
}

// writeTip notes that everything appended so far was synced. If that fails, the tip is done without.
func (l *Log) writeTip() {
	if l.tip == nil || l.opts.NoSync {
		return
	}
	b := append(make([]byte, 0, tipSize), l.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, l.next-1)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := l.tip.WriteAt(b, 0); err != nil {
		l.opts.Log.Warn("the log's tip is not kept", "error", err)
		l.closeTip()
	}
}

func (l *Log) closeTip() {
	if l.tip != nil {
		l.tip.Close()
		l.tip = nil
	}
}
