package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
)

// FuzzWriteSet checks that every log record either decodes or is an error, and that what decodes encodes to the same
// entries.
func FuzzWriteSet(f *testing.F) {
	l := &layer{}
	l.set("\x01key", write{val: []byte("value")})
	l.set("\x01gone", write{deleted: true})
	f.Add(encodeWrites(l))
	l.set("\x01long", write{val: bytes.Repeat([]byte("long"), 200)})
	f.Add(encodeWrites(l))
	f.Add(encodeDrop(SpaceTest))
	f.Add([]byte{kindWrites, 0xff, 0xff, 0xff, 0xff, 0x0f, 0})
	f.Fuzz(func(t *testing.T, record []byte) {
		w, err := decodeWriteSet(record, nil)
		if err != nil || len(w.entries) > 1<<20 { // a few bytes may decode to a million entries
			return
		}
		again := &layer{}
		err = w.each(func(key, val []byte, deleted bool) error {
			again.set(string(key), write{val: bytes.Clone(val), deleted: deleted})
			return nil
		})
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		if err != nil || w.drop != 0 || len(again.writes) == 0 {
			return
		}
		second, err := decodeWriteSet(encodeWrites(again), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		err = second.each(func(key, val []byte, deleted bool) error {
			n++
			if o, _ := again.get(key); o.deleted != deleted || !bytes.Equal(o.val, val) {
				t.Errorf("%q is another entry", key)
			}
			return nil
		})
		if err != nil || n != len(again.writes) {
			t.Errorf("%d entries of %d, %v", n, len(again.writes), err)
		}
	})
}

// FuzzStateFile checks that every state file, with valid checksums or not, is either read or an error, and that a pass
// over the checksums and one over the entries agree, unless the checksums were forged.
func FuzzStateFile(f *testing.F) {
	fsys := disktest.NewCrash(1)
	s, err := openStates(fsys, "snapshots", true)
	if err != nil {
		f.Fatal(err)
	}
	err = s.save(7, true, func(add func(key, val []byte, version uint64) error) error {
		return errors.Join(add([]byte("\x01a"), []byte("value"), 3), add([]byte("\x01ab"), nil, 7), add([]byte("\x02"), []byte("x"), 1))
	}, func() error { return nil })
	if err != nil {
		f.Fatal(err)
	}
	b, err := disk.ReadFile(fsys, s.path(s.newest()), 1<<20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, false)
	f.Add(b, true)
	f.Add(b[:len(b)-1], false)
	f.Fuzz(func(t *testing.T, b []byte, fits bool) {
		if fits {
			b = fitState(bytes.Clone(b))
		}
		fsys := disktest.NewCrash(1)
		if err := disk.WriteFile(fsys, "state", b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, sums := readState(t.Context(), fsys, "state", nil, nil)
		_, err := readState(t.Context(), fsys, "state", nil, func(key, val []byte, _ uint64) error {
			if len(key) == 0 || len(key)+len(val) > maxBlock {
				t.Errorf("an entry of %d and %d bytes", len(key), len(val))
			}
			return nil
		})
		if sums != nil && err == nil {
			t.Errorf("its entries are read, and of its checksums is said: %v", sums)
		}
	})
}

// fitState sets the checksums of a state file.
func fitState(b []byte) []byte {
	if len(b) < stateHead {
		return b
	}
	copy(b, stateMagic)
	sum := crc32.Checksum(b[:16], castagnoli)
	binary.LittleEndian.PutUint32(b[16:], sum)
	for at := stateHead; at+blockHead <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at+4:]))
		if n > len(b)-at-blockHead {
			break
		}
		sum = frameSum(sum, b[at:at+8], b[at+blockHead:at+blockHead+n])
		binary.LittleEndian.PutUint32(b[at+8:], sum)
		at += blockHead + n
	}
	return b
}

// FuzzLoad checks that every backup stream either loads or is an error, and that the database remains usable. run and
// list are the contents of the chunks; with raw, run is everything after the first line instead.
func FuzzLoad(f *testing.F) {
	db := inMemory(f)
	for _, k := range []string{"a", "ab", "b"} {
		put(f, db, k, "value of "+k)
	}
	var b bytes.Buffer
	if _, err := db.Backup(&b, 0); err != nil {
		f.Fatal(err)
	}
	f.Add(byte(3), true, b.Bytes()[len(backupMagic):], []byte{})
	r := &chunkReader{r: bytes.NewReader(b.Bytes()[len(backupMagic):])}
	run := readChunks(f, r)
	list := readChunks(f, &chunkReader{r: r.r})
	f.Add(byte(3), false, run, list)
	frame, err := proto.Marshal(&pb.KVList{
		Kv: []*pb.KV{{Key: []byte("\x01a"), Value: []byte("v"), Version: 2}, {Key: []byte("\x01b"), Version: 3, Meta: []byte{1}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(byte(2), false, append(binary.LittleEndian.AppendUint64(nil, uint64(len(frame))), frame...), []byte{0, 2, 1, 'a'})
	f.Fuzz(func(t *testing.T, version byte, raw bool, run, list []byte) {
		db, err := Open("", Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		stream := bytes.NewBufferString(backupFamily + string('1'+version%3) + "\n")
		if raw {
			stream.Write(run)
		} else {
			for _, part := range [][]byte{run, list} {
				c := &chunkWriter{w: stream}
				if _, err := c.Write(part); err != nil {
					t.Fatal(err)
				}
				if err := c.end(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := db.Load(stream); err != nil {
			return
		}
		put(t, db, "afterwards", "value")
		if _, err := db.Backup(&bytes.Buffer{}, 0); err != nil {
			t.Fatal(err)
		}
		_ = all(t, db, "", "")
	})
}

func readChunks(t testing.TB, r *chunkReader) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzManifest checks that every MANIFEST is either listed or an error, and that Badger reads those found sound.
func FuzzManifest(f *testing.F) {
	b, _ := badgerFiles(f)
	f.Add(b)
	f.Add(b[:len(b)-3])
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > manifestHead {
			b = fitManifest(bytes.Clone(b))
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, badger.ManifestFilename), b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := manifest(dir); err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}

// fitManifest sets the checksums of the entries.
func fitManifest(b []byte) []byte {
	for at := manifestHead; at+manifestEntry <= len(b); {
		n := int(binary.BigEndian.Uint32(b[at:]))
		if n > len(b)-at-manifestEntry {
			break
		}
		binary.BigEndian.PutUint32(b[at+4:], crc32.Checksum(b[at+manifestEntry:at+manifestEntry+n], castagnoli))
		at += manifestEntry + n
	}
	return b
}

// FuzzTable checks that every table file is found sound or damaged, and that changing one byte makes it damaged.
func FuzzTable(f *testing.F) {
	_, table := badgerFiles(f)
	f.Add(table, uint16(0), byte(0))
	f.Add(table, uint16(9), byte(1))
	f.Add(table[:len(table)/2], uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, flip byte) {
		if len(b) > 0 {
			b = bytes.Clone(b)
			b[int(at)%len(b)] ^= flip
		}
		name := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := verifyTable(t.Context(), name, nil, nil)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	})
}

// badgerFiles returns the MANIFEST and a table of a small database.
func badgerFiles(t testing.TB) (manifestFile, table []byte) {
	t.Helper()
	dir := t.TempDir()
	db := open(t, dir, Options{MinFree: -1})
	for _, k := range []string{"a", "ab", "b"} {
		put(t, db, k, "value of "+k)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, cacheDir, "*.sst"))
	if err != nil || len(names) == 0 {
		t.Fatalf("tables: %v, %v", names, err)
	}
	table, err = os.ReadFile(names[0])
	if err == nil {
		manifestFile, err = os.ReadFile(filepath.Join(dir, cacheDir, badger.ManifestFilename))
	}
	if err != nil {
		t.Fatal(err)
	}
	return manifestFile, table
}
