package wal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"

	"odarchive/triplestore/disk"
)

// tipName is the file with the number of the last record that was synced. It is written without a sync, so after a power
// failure it may name an earlier one. It can be missing: then the end of the log is believed. Options.Witness is a second one,
// elsewhere, so that a log that was replaced by an old copy of itself is noticed, too.
const (
	tipName = "tip"
	tipSize = 28 // the log's id, the number, CRC-32C of both
)

// tipPaths are the names of the tips.
func (l *Log) tipPaths() []string {
	paths := []string{filepath.Join(l.dir, tipName)}
	if l.opts.Witness != "" {
		paths = append(paths, l.opts.Witness)
	}
	return paths
}

// readTip returns the highest number in a tip of this log, 0 if there is none.
func (l *Log) readTip() (number uint64) {
	for _, path := range l.tipPaths() {
		b, err := disk.ReadFile(l.fs, path, tipSize)
		if err != nil || len(b) != tipSize || crc32.Checksum(b[:24], castagnoli) != binary.LittleEndian.Uint32(b[24:]) {
			continue
		}
		if [16]byte(b) != l.id && l.id != [16]byte{} {
			continue // of the log before a Reset
		}
		number = max(number, binary.LittleEndian.Uint64(b[16:]))
	}
	return number
}

func (l *Log) openTips() {
	for _, path := range l.tipPaths() {
		f, err := l.fs.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			l.opts.Log.Warn("the log's tip is not kept", "file", path, "error", err)
			continue
		}
		l.tips = append(l.tips, f)
	}
}

// writeTips notes that everything appended so far was synced. If that fails, the tip is done without.
func (l *Log) writeTips() {
	if len(l.tips) == 0 || l.opts.NoSync {
		return
	}
	b := append(make([]byte, 0, tipSize), l.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, l.next-1)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	for _, f := range l.tips {
		if _, err := f.WriteAt(b, 0); err != nil {
			l.opts.Log.Warn("the log's tips are not kept", "file", f.Name(), "error", err)
			l.closeTips()
			return
		}
	}
}

// syncTips has the tips on disk, so that damage that happens to a closed log is seen.
func (l *Log) syncTips() (err error) {
	for _, f := range l.tips {
		err = errors.Join(err, f.Sync())
	}
	return err
}

func (l *Log) closeTips() {
	for _, f := range l.tips {
		f.Close()
	}
	l.tips = nil
}
