package store

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/copies/vault"
	"odarchive/triplestore/kv"
)

// world is a data directory and its settings.
type world struct {
	*testing.T
	cfg config.Config
}

func newWorld(t *testing.T) *world {
	t.Parallel()
	w := &world{t, config.Defaults()}
	w.cfg.Data = filepath.Join(t.TempDir(), "data")
	return w
}

// open opens the directory as a command would, with the backup of its settings or the one it remembers.
func (w *world) open(reads Reading) (*Store, error) {
	s, err := Open(w.Context(), w.cfg, slog.New(slog.DiscardHandler), Options{Create: true, Reads: reads})
	if err != nil {
		return nil, err
	}
	if err := s.BeginBackup(w.Context(), ""); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// write writes in the directory for a moment, and returns the backup in effect.
func (w *world) write() (config.Backup, error) {
	s, err := w.open(NeverReadOnly)
	if err != nil {
		return config.Backup{}, err
	}
	defer s.Close()
	if s.BackupKeeper() != nil {
		w.copy(s)
	}
	return s.Config.Backup, nil
}

// copy runs the backup until it has everything.
func (w *world) copy(s *Store) {
	k := s.BackupKeeper()
	ctx, stop := context.WithCancel(w.Context())
	ended := make(chan error)
	go func() { ended <- k.Run(ctx) }()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline) && !(k.State().Whole && k.State().Behind == 0); {
		time.Sleep(time.Millisecond)
	}
	stop()
	<-ended
}

func (w *world) mustWrite() config.Backup {
	w.Helper()
	to, err := w.write()
	if err != nil {
		w.Fatal(err)
	}
	return to
}

// fresh returns the settings of somebody who names no backup.
func (w *world) fresh() *world {
	other := *w
	other.cfg.Backup = config.Defaults().Backup
	return &other
}

// replace makes another directory the writer of the backup.
func (w *world) replace() {
	w.Helper()
	other := *w
	other.cfg.Data = filepath.Join(w.TempDir(), "other")
	if err := os.CopyFS(other.cfg.Data, os.DirFS(w.cfg.Data)); err != nil {
		w.Fatal(err)
	}
	if _, err := Detach(other.cfg.Data); err != nil { // a copy, which gets an identity of its own
		w.Fatal(err)
	}
	other.cfg.Backup.Promote = true
	other.mustWrite()
}

func TestADirectoryThatWasReplacedIsNotWrittenWithoutItsBackup(t *testing.T) {
	w := newWorld(t)
	s, err := w.open(NeverReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	s.Config.Backup.To = "file://" + t.TempDir()
	if err := errors.Join(s.NoteReplaced(errors.New("something else")), s.Close()); err != nil {
		t.Fatal(err)
	}
	w.mustWrite()
	if err := s.NoteReplaced(&vault.FencedError{URL: "http://new.example/"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.open(NeverReadOnly); !errors.Is(err, ErrReplaced) ||
		!strings.Contains(err.Error(), "(http://new.example/): follow it with --follow") {
		t.Error(err)
	}
	for _, reads := range []Reading{IfUnwritable, IfHeld} {
		if s, err = w.open(reads); err != nil {
			t.Fatal(err)
		}
		if !s.DB.ReadOnly() || !strings.Contains(s.ReadOnlyReason, ErrReplaced.Error()) || s.ReadsOnly {
			t.Errorf("read-only because of %q", s.ReadOnlyReason)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Detach(w.cfg.Data); err != nil {
		t.Fatal(err)
	}
	w.mustWrite()
}

func TestADirectoryGoesOnWithTheBackupThatItRemembers(t *testing.T) {
	w := newWorld(t)
	w.cfg.Backup.To, w.cfg.Backup.Days, w.cfg.Backup.Wait = "file://"+t.TempDir(), 90, true
	given := w.mustWrite()
	again := w.fresh()
	is := func(what string, w *world) {
		t.Helper()
		if got := w.mustWrite(); got != given {
			t.Errorf("%s: it remembers %+v, want %+v", what, got, given)
		}
	}
	is("as it was", again)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.cfg.Data, link); err != nil {
		t.Fatal(err)
	}
	linked := *again
	linked.cfg.Data = link
	is("through a link", &linked)
	if born(filepath.Join(w.cfg.Data, holderFile)) != 0 {
		moved := *again
		moved.cfg.Data = filepath.Join(filepath.Dir(w.cfg.Data), "moved")
		if err := os.Rename(w.cfg.Data, moved.cfg.Data); err != nil {
			t.Fatal(err)
		}
		is("renamed", &moved)
		if err := os.Rename(moved.cfg.Data, w.cfg.Data); err != nil {
			t.Fatal(err)
		}
	}
	w.cfg.Backup = config.Backup{To: config.NoBackup, Every: given.Every}
	w.mustWrite()
	if got := again.mustWrite(); got.On() {
		t.Errorf("it was given up, and goes on with %+v", got)
	}
}

func TestACopyIsAskedWhatItIs(t *testing.T) {
	w := newWorld(t)
	w.cfg.Backup.To = "file://" + t.TempDir()
	given := w.mustWrite()
	copied := w.fresh()
	copied.cfg.Data = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied.cfg.Data, os.DirFS(w.cfg.Data)); err != nil {
		t.Fatal(err)
	}
	if _, err := copied.write(); !errors.Is(err, ErrMoved) || !strings.Contains(err.Error(), "--detach") {
		t.Errorf("a copy: %v", err)
	}
	s, err := copied.open(IfHeld)
	if err != nil || !s.DB.ReadOnly() {
		t.Fatalf("a copy is read: %v", err)
	}
	s.Close()
	if to, err := Attach(copied.cfg.Data); err != nil || to != given.To {
		t.Fatal(to, err)
	}
	if got := copied.mustWrite(); got.To != given.To {
		t.Errorf("attached, it goes on with %+v", got)
	}
	if to, err := Detach(copied.cfg.Data); err != nil || to != given.To {
		t.Fatal(to, err)
	}
	if got := copied.mustWrite(); got.On() {
		t.Errorf("detached, it goes on with %+v", got)
	}
}

func TestAReplacedDirectoryDoesNotEscapeToAnotherBackup(t *testing.T) {
	w := newWorld(t)
	w.cfg.Backup.To = "file://" + t.TempDir()
	w.mustWrite()
	w.replace()
	other := w.fresh()
	other.cfg.Backup.To = "file://" + t.TempDir()
	if _, err := other.write(); !errors.Is(err, ErrReplaced) {
		t.Errorf("with another backup: %v", err)
	}
	if _, err := w.fresh().write(); !errors.Is(err, ErrReplaced) {
		t.Errorf("without a word: %v", err)
	}
	if _, err := w.write(); !errors.Is(err, vault.ErrNotOwner) {
		t.Errorf("with its own: %v", err)
	}
	w.cfg.Backup.Promote = true
	w.mustWrite()
	w.cfg.Backup.Promote = false
	if got := w.fresh().mustWrite(); got.To != w.cfg.Backup.To {
		t.Errorf("it is the writer again, and goes on with %+v", got)
	}
}

func TestNothingIsForgottenBeforeTheDirectoryIsHeld(t *testing.T) {
	w := newWorld(t)
	w.cfg.Backup.To = "file://" + t.TempDir()
	s, err := w.open(NeverReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	none := w.fresh()
	none.cfg.Backup.To = config.NoBackup
	if _, err := none.write(); !errors.Is(err, kv.ErrLocked) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := w.fresh().mustWrite(); got.To != w.cfg.Backup.To {
		t.Errorf("it goes on with %+v", got)
	}
}

func TestADamagedNoteIsNotBelieved(t *testing.T) {
	w := newWorld(t)
	w.cfg.Backup.To = "file://" + t.TempDir()
	w.mustWrite()
	name := filepath.Join(w.cfg.Data, noteFile)
	sound, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damages := [][]byte{nil, []byte("null\n"), []byte("{}"), sound[:len(sound)/2]}
	for bit := range 8 * len(sound) {
		if bit%7 == 0 {
			one := append([]byte(nil), sound...)
			one[bit/8] ^= 1 << (bit % 8)
			damages = append(damages, one)
		}
	}
	for _, text := range damages {
		if _, err := parseNote(text); !errors.Is(err, errNote) {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if err := os.WriteFile(name, sound[1:], 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := w.fresh().write(); !errors.Is(err, errNote) || !strings.Contains(err.Error(), "--backup-to") {
		t.Errorf("without a word: %v", err)
	}
	s, err := w.fresh().open(IfHeld)
	if err != nil || !s.DB.ReadOnly() {
		t.Fatalf("it can be read: %v", err)
	}
	s.Close()
	w.mustWrite()
	if got := w.fresh().mustWrite(); got.To != w.cfg.Backup.To {
		t.Errorf("named once, it goes on with %+v", got)
	}
}

// What is refused has written nothing: an older copy of a directory does not part from its backup by being asked.
func TestWhatIsRefusedWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.cfg.Backup.To = "file://" + t.TempDir()
	w.mustWrite()
	older := filepath.Join(t.TempDir(), "older")
	if err := os.CopyFS(older, os.DirFS(w.cfg.Data)); err != nil {
		t.Fatal(err)
	}
	s, err := w.open(NeverReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetSetting(t.Context(), "test", "1"); err != nil {
		t.Fatal(err)
	}
	w.copy(s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	w.cfg.Data = older
	for range 3 {
		if _, err := w.write(); !errors.Is(err, vault.ErrBehind) || !strings.Contains(err.Error(), "is older") {
			t.Fatal(err)
		}
	}
}

func TestTheBackupOfAnotherArchiveIsNotTaken(t *testing.T) {
	w := newWorld(t)
	w.cfg.Backup.To = "file://" + t.TempDir()
	w.mustWrite()
	other := *w
	other.cfg.Data = filepath.Join(t.TempDir(), "other")
	other.cfg.Backup.Promote = true
	if _, err := other.write(); !errors.Is(err, vault.ErrOtherArchive) {
		t.Error(err)
	}
	w.mustWrite()
}

func TestABackupThatIsNotThereAnyMoreIsNotBegunUnasked(t *testing.T) {
	w := newWorld(t)
	at := filepath.Join(t.TempDir(), "mounted")
	w.cfg.Backup.To = "file://" + at
	w.mustWrite()
	if err := os.Rename(at, at+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*world{w, w.fresh()} {
		if _, err := w.write(); err == nil || !strings.Contains(err.Error(), "--detach") {
			t.Error(err)
		}
	}
	if _, err := Detach(w.cfg.Data); err != nil {
		t.Fatal(err)
	}
	w.mustWrite()
}

// A directory that goes on with another backup, or none, tells the former one; a copy of it has nothing to tell.
func TestWhoLeavesItsBackupSaysSoThere(t *testing.T) {
	w := newWorld(t)
	former := "file://" + t.TempDir()
	w.cfg.Backup.To = former
	w.mustWrite()
	left := func() string {
		t.Helper()
		is := AskWriter(t.Context(), w.cfg, slog.New(slog.DiscardHandler), former)
		if is.Who != vault.ThisOne {
			t.Fatalf("%+v", is)
		}
		return is.Left
	}
	copied := *w
	copied.cfg.Data = filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied.cfg.Data, os.DirFS(w.cfg.Data)); err != nil {
		t.Fatal(err)
	}
	copied.cfg.Backup.To = config.NoBackup
	copied.mustWrite()
	if to := left(); to != "" {
		t.Errorf("by a copy: %q", to)
	}
	w.cfg.Backup.To = "file://" + t.TempDir()
	w.mustWrite()
	if to := left(); to != w.cfg.Backup.To {
		t.Errorf("for another one: %q", to)
	}
	w.cfg.Backup.To = former
	w.mustWrite()
	if to := left(); to != "" {
		t.Errorf("it has come back: %q", to)
	}
	w.cfg.Backup.To = config.NoBackup
	w.mustWrite()
	w.cfg.Backup.To = former
	if to := left(); to != config.NoBackup {
		t.Errorf("for none: %q", to)
	}
}

// With a damaged note, nobody knows here whether the directory was replaced: it is not written before the backup has
// said so.
func TestADamagedNoteWaitsForTheBackup(t *testing.T) {
	w := newWorld(t)
	at := filepath.Join(t.TempDir(), "backup")
	w.cfg.Backup.To = "file://" + at
	w.mustWrite()
	name := filepath.Join(w.cfg.Data, noteFile)
	for _, text := range []string{"", strings.Repeat("x", maxNote+1)} {
		if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at, at+".away"); err != nil {
			t.Fatal(err)
		}
		if _, err := w.write(); err == nil || !strings.Contains(err.Error(), "--detach") {
			t.Errorf("without the backup: %v", err)
		}
		if err := errors.Join(os.RemoveAll(at), os.Rename(at+".away", at)); err != nil {
			t.Fatal(err)
		}
	}
}

// A backup that is older than what the directory wrote names another one: that one did not replace it.
func TestAnOlderBackupReplacesNobody(t *testing.T) {
	w := newWorld(t)
	at := filepath.Join(t.TempDir(), "backup")
	w.cfg.Backup.To = "file://" + at
	other := *w
	other.cfg.Data = filepath.Join(t.TempDir(), "other")
	other.mustWrite()
	if err := os.CopyFS(at+".old", os.DirFS(at)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(w.cfg.Data, os.DirFS(other.cfg.Data)); err != nil {
		t.Fatal(err)
	}
	if _, err := Detach(w.cfg.Data); err != nil {
		t.Fatal(err)
	}
	w.cfg.Backup.Promote = true
	w.mustWrite()
	w.cfg.Backup.Promote = false
	if err := errors.Join(os.RemoveAll(at), os.Rename(at+".old", at)); err != nil {
		t.Fatal(err)
	}
	if is := AskWriter(t.Context(), w.cfg, slog.New(slog.DiscardHandler), w.cfg.Backup.To); is.Who != vault.NobodyKnows ||
		!strings.Contains(is.Err.Error(), "older") {
		t.Errorf("%+v", is)
	}
	if _, err := w.write(); !errors.Is(err, vault.ErrUnknownWriter) {
		t.Error(err)
	}
	w.cfg.Backup.Promote = true
	w.mustWrite()
}

func FuzzNote(f *testing.F) {
	f.Add([]byte("crc32c 00000000\n{}"))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if n, err := parseNote(text); err == nil && (n.To == "" || n.Dir == "") {
			t.Errorf("%+v", n)
		}
	})
}
