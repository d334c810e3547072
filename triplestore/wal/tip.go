package wal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"

	"odarchive/triplestore/disk"
)

// The file tipName holds the number of the last synced record. It is not synced itself, so after a power failure it may
// name an earlier record. If it is missing, the end of the log is trusted. Options.Witness is a second tip elsewhere,
// which reveals that the log was replaced by an old copy.
const (
	tipName = "tip"
	tipSize = 28 // the log's id, the number, CRC-32C of both
)

// tipPaths returns the paths of the tips.
func (l *Log) tipPaths() []string {
	paths := []string{filepath.Join(l.dir, tipName)}
	if l.opts.Witness != "" {
		paths = append(paths, l.opts.Witness)
	}
	return paths
}

// readTip returns the highest number in the tips of this log, or 0 if there is none.
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
		f, err := l.fs.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			l.opts.Log.Warn("cannot open the log's tip", "file", path, "error", err)
			continue
		}
		l.tips = append(l.tips, f)
	}
}

// writeTips records that everything appended so far is synced. If that fails, the log continues without tips.
func (l *Log) writeTips() {
	if len(l.tips) == 0 || l.opts.NoSync {
		return
	}
	b := append(make([]byte, 0, tipSize), l.id[:]...)
	b = binary.LittleEndian.AppendUint64(b, l.next-1)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	for _, f := range l.tips {
		if _, err := f.WriteAt(b, 0); err != nil {
			l.opts.Log.Warn("cannot write the log's tips", "file", f.Name(), "error", err)
			l.closeTips()
			return
		}
	}
}

// syncTips makes the tips durable, so that later damage to a closed log is noticed.
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
