package backup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/backup"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/person"
	"aliquot/internal/files"
	"aliquot/internal/record"
	"aliquot/internal/seed"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
)

// instance is a database with a folder of files.
type instance struct {
	*testing.T
	db     *store.DB
	folder *files.Folder
}

// empty is where an instance can be restored to.
func empty(t *testing.T, kind string) (where string, folder *files.Folder) {
	t.Helper()
	where = filepath.Join(t.TempDir(), "aliquot.db")
	if kind == storetest.PostgreSQL {
		where = storetest.Clone(t, "aliquot_empty", func(string) error { return nil })
	}
	folder, err := files.OpenFolder(filepath.Join(t.TempDir(), "files"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	return where, folder
}

func quiet(exchange.Progress) {}

// seeded makes an instance with materials, requests and documents, and a log that is signed.
func seeded(t *testing.T, kind string) instance {
	t.Helper()
	where, folder := empty(t, kind)
	size := seed.Size{Materials: 40, Requests: 60}
	if err := store.Load(t.Context(), where, size.String(), func(ctx context.Context, l *store.Loader) error {
		return seed.Fill(ctx, l, size, quiet)
	}); err != nil {
		t.Fatal(err)
	}
	in := instance{t, storetest.At(t, where), folder}
	user := in.user("Zoë\tO’\\Neill\n\"x\"")
	for n := range 5 {
		in.attachment(user, fmt.Sprintf("content %d", n))
	}
	in.sign()
	return in
}

func (in instance) write(do func(ctx context.Context, tx store.Conn) error) {
	in.Helper()
	if err := in.db.Tx(in.Context(), do); err != nil {
		in.Fatal(err)
	}
}

func (in instance) user(name string) uuid.UUID {
	in.Helper()
	id := uuid.New()
	in.write(func(ctx context.Context, tx store.Conn) error {
		return tx.Users.Insert(ctx, person.User{ID: id, Username: id.String(), LastName: name, RegistryID: id.String()})
	})
	return id
}

func (in instance) attachment(user uuid.UUID, text string) (id int64) {
	in.Helper()
	content, err := in.folder.Put(in.Context(), strings.NewReader(text), 1<<20)
	if err != nil {
		in.Fatal(err)
	}
	in.write(func(ctx context.Context, tx store.Conn) (err error) {
		id, err = tx.Attachments.Insert(ctx, document.Attachment{Filename: "a.txt", OwnedByUser: &user, Content: &content,
			Version: 1})
		return err
	})
	return id
}

const origin = "aliquot.example.org/log/2026"

// sign puts all events into the log, and signs that.
func (in instance) sign() (c record.Checkpoint) {
	in.Helper()
	for n := 1; n > 0; {
		in.write(func(ctx context.Context, tx store.Conn) (err error) {
			n, err = tx.Log.Append(ctx, 1000)
			return err
		})
	}
	keys, err := record.NewKeys(origin)
	if err == nil {
		c, err = in.db.Read().Log.Head(in.Context())
	}
	if err != nil {
		in.Fatal(err)
	}
	c.Origin = origin
	note, err := c.Sign(keys.Signers...)
	if err != nil {
		in.Fatal(err)
	}
	in.write(func(ctx context.Context, tx store.Conn) error {
		return tx.Log.SaveCheckpoint(ctx, c.Size, string(note))
	})
	return c
}

func (in instance) backup() []byte {
	in.Helper()
	archive, taken := in.backupOf(in.folder)
	if len(taken.Lost) > 0 {
		in.Errorf("lost: %v", taken.Lost)
	}
	return archive
}

func (in instance) backupOf(content files.Store) ([]byte, backup.Taken) {
	in.Helper()
	var b bytes.Buffer
	taken, err := backup.Taker{DB: in.db, Files: content, Program: "aliquot test", Progress: quiet,
		Fingerprints: map[string]string{"secret-key": "sha256:ab"}}.Take(in.Context(), &b)
	if err != nil {
		in.Fatal(err)
	}
	return b.Bytes(), taken
}

// restore restores an archive into a new place of a kind.
func restore(t *testing.T, kind string, archive []byte, change func(*backup.Place)) (instance, backup.Restored, error) {
	t.Helper()
	where, folder := empty(t, kind)
	p := backup.Place{Database: where, Files: folder, Progress: quiet,
		SaveKey: func(string, string) error { return errors.New("a key") }}
	p.Check = func(ctx context.Context, c store.Conn, fault func(error)) error {
		var since []record.Checkpoint
		if p.Since != nil {
			since = append(since, *p.Since)
		}
		_, err := c.VerifyRecord(ctx, fault, nil)
		return errors.Join(err, c.Log.Verify(ctx, fault, since...))
	}
	if change != nil {
		change(&p)
	}
	restored, err := p.Restore(t.Context(), bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return instance{}, restored, err
	}
	return instance{t, storetest.At(t, where), folder}, restored, nil
}

// parts are those of an archive, with the lines of tables in order, and without the time of the backup.
func parts(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	all := map[string]string{}
	_, err := backup.Read(bytes.NewReader(archive), func(name string, r io.Reader) error {
		b, err := io.ReadAll(r)
		if lines := strings.Split(string(b), "\n"); strings.HasPrefix(name, "database/") {
			slices.Sort(lines)
			b = []byte(strings.Join(lines, "\n"))
		} else if name == "about.json" {
			var a backup.About
			err = errors.Join(err, json.Unmarshal(b, &a))
			a.TakenAt = time.Time{}
			b = fmt.Appendf(nil, "%+v", a)
		}
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// found is what the search index has, but for the words, which each database has in its own form.
func (in instance) found() (list []string) {
	in.Helper()
	for _, table := range []string{"material_index", "organization_index", "user_index"} {
		rows, err := storetest.SQL(in, in.db).Query("SELECT CAST(id AS TEXT) || ' ' || CAST(rank AS TEXT) || ' ' || digest FROM " +
			table)
		if err != nil {
			in.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				in.Fatal(err)
			}
			list = append(list, table+" "+text)
		}
		if err := rows.Err(); err != nil {
			in.Fatal(err)
		}
	}
	slices.Sort(list)
	return list
}

// eachPair runs test from each kind of database to each.
func eachPair(t *testing.T, test func(t *testing.T, from, to string)) {
	for _, from := range storetest.Kinds() {
		for _, to := range storetest.Kinds() {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				test(t, from, to)
			})
		}
	}
}

func TestRestore_GivesBackEveryRowOnEitherDatabase(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, from, to string) {
		old := seeded(t, from)
		archive := old.backup()
		restored, report, err := restore(t, to, archive, nil)
		if err != nil {
			t.Fatal(err, report.Faults)
		}
		want, got := parts(t, archive), parts(t, restored.backup())
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s is\n%.300q, was\n%.300q", name, got[name], want[name])
			}
		}
		if len(got) != len(want) || report.Entries == 0 {
			t.Errorf("%d parts, were %d; %d entries of the log", len(got), len(want), report.Entries)
		}
		if got, want := restored.found(), old.found(); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%d are found, were %d", len(got), len(want))
		}
		restored.user("somebody new") // gets ids that nobody had
		restored.attachment(restored.user("another"), "more")
	})
}

// meanwhile does something when the first content is read.
type meanwhile struct {
	files.Store
	do func()
}

func (m *meanwhile) Open(ctx context.Context, key string) (files.File, error) {
	if m.do != nil {
		do := m.do
		m.do = nil
		do()
	}
	return m.Store.Open(ctx, key)
}

func TestTake_SurvivesContentThatComesAndGoes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, _ *store.DB) {
		kind := strings.TrimPrefix(t.Name(), "TestTake_SurvivesContentThatComesAndGoes/")
		in := seeded(t, kind)
		user := in.user("somebody")
		gone := in.attachment(user, "going")
		archive, taken := in.backupOf(&meanwhile{in.folder, func() {
			in.attachment(user, "too late")
			in.write(func(ctx context.Context, tx store.Conn) error {
				a, err := tx.Attachments.Get(ctx, gone)
				if err != nil {
					return err
				}
				if err := in.folder.Delete(ctx, a.Content.Key); err != nil {
					return err
				}
				a.Content, a.ContentDeleted = nil, true
				return tx.Attachments.Update(ctx, a)
			})
		}})
		if len(taken.Lost) > 0 || taken.Files != 5 {
			t.Errorf("%d files, lost %v", taken.Files, taken.Lost)
		}
		restored, report, err := restore(t, kind, archive, nil)
		if err != nil {
			t.Fatal(err, report.Faults)
		}
		a, err := restored.db.Read().Attachments.Get(t.Context(), gone)
		if err != nil || a.Content != nil || !a.ContentDeleted {
			t.Errorf("the attachment is %+v, %v", a, err)
		}
		if _, err := restored.db.Read().VerifyRecord(t.Context(), func(err error) { t.Error(err) }, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestRestore_RefusesWhatIsNotAsItWas(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			in := seeded(t, kind)
			for _, statement := range []string{"UPDATE material_requests SET status = 'VERIFIED' WHERE id = 7",
				"UPDATE attachments SET sha256 = '" + strings.Repeat("ab", 32) + "' WHERE filename = 'a.txt'"} {
				if _, err := storetest.SQL(t, in.db).Exec(statement); err != nil {
					t.Fatal(err)
				}
			}
			archive := in.backup()
			_, report, err := restore(t, kind, archive, nil)
			text := fmt.Sprint(report.Faults)
			if !errors.Is(err, backup.ErrFaults) || !strings.Contains(text, "request/7") ||
				!strings.Contains(text, "it was altered: its SHA-256 is") {
				t.Errorf("error %v, faults %s", err, text)
			}
			if _, _, err := restore(t, kind, archive, func(p *backup.Place) { p.Despite = true }); err != nil {
				t.Errorf("despite faults: %v", err)
			}
		})
	}
}

func TestRestore_GoesNotBehindACheckpoint(t *testing.T) {
	t.Parallel()
	in := seeded(t, storetest.SQLite)
	before, err := in.db.Read().Log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before.Origin = origin
	old := in.backup()
	in.user("somebody")
	after := in.sign()
	rewritten, stranger := before, before
	rewritten.Root[0] ^= 1
	stranger.Origin = "elsewhere.example.org/log/2026"
	for name, tc := range map[string]struct {
		archive []byte
		since   record.Checkpoint
		want    string // "": it is restored
	}{
		"the same":           {old, before, ""},
		"a later backup":     {in.backup(), before, ""},
		"an older backup":    {old, after, "the backup is older than the checkpoint"},
		"another history":    {old, rewritten, "not those of the checkpoint"},
		"another instance":   {old, stranger, "the backup is of another instance"},
		"a later rewritten":  {in.backup(), rewritten, "not those of the checkpoint"},
		"a checkpoint empty": {old, record.Checkpoint{Origin: origin}, ""},
	} {
		_, report, err := restore(t, storetest.SQLite, tc.archive, func(p *backup.Place) { p.Since = &tc.since })
		if got := fmt.Sprint(err, report.Faults); (tc.want == "") != (err == nil) || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s, want %q", name, got, tc.want)
		}
	}
}

// hostile is an archive whose parts are changed: nil leaves one out.
func hostile(t *testing.T, archive []byte, change map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := backup.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	all := map[string][]byte{}
	if _, err := backup.Read(bytes.NewReader(archive), func(name string, r io.Reader) (err error) {
		all[name], err = io.ReadAll(r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, content := range change {
		if all[name] = content; content == nil {
			delete(all, name)
		}
	}
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := w.Add(name, bytes.NewReader(all[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRestore_RefusesHostilePartsNamingThem(t *testing.T) {
	t.Parallel()
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			archive := seeded(t, kind).backup()
			key := strings.Repeat("ab", 32)
			for name, tc := range map[string]struct {
				change map[string][]byte
				want   string
			}{
				"no about":        {map[string][]byte{"about.json": nil}, "there is no about.json"},
				"an empty about":  {map[string][]byte{"about.json": []byte("{}")}, `part "about.json": it does not say when`},
				"a table more":    {map[string][]byte{"database/sqlite_master": []byte("a\n")}, `part "database/sqlite_master": there is no such table`},
				"a table less":    {map[string][]byte{"database/tokens": nil}, "the table tokens is missing"},
				"another column":  {map[string][]byte{"database/tokens": []byte("hash\tid; DROP TABLE users\n")}, `no further column "id; DROP`},
				"a column twice":  {map[string][]byte{"database/log_head": []byte("size\tsize\n")}, "no further column"},
				"a column less":   {map[string][]byte{"database/tokens": []byte("id\n")}, "1 of the"},
				"an empty table":  {map[string][]byte{"database/tokens": nil, "database/turns": nil}, "is missing"},
				"no line":         {map[string][]byte{"database/log_head": {}}, `part "database/log_head": line 1`},
				"a cut line":      {map[string][]byte{"database/log_head": []byte("size\n12")}, ""},
				"a word for size": {map[string][]byte{"database/log_head": []byte("size\nten\n")}, "log_head"},
				"a content more":  {map[string][]byte{"files/" + key: []byte("x")}, `part "files/` + key + `": the database names no such content`},
				"no key":          {map[string][]byte{"files/x": []byte("x")}, `part "files/x": the database names no such content`},
				"no end of files": {map[string][]byte{"files/gone": nil}, "there is no about.json or no files/gone"},
				"a strange part":  {map[string][]byte{"bin/sh": []byte("x")}, `part "bin/sh": a backup has no such part`},
				"a key unasked":   {map[string][]byte{"keys/a": []byte("x"), "keys/b": []byte("x")}, `part "keys/b": there are more keys`},
			} {
				if kind == storetest.PostgreSQL && name != "another column" && name != "a word for size" {
					continue // what is refused before it reaches the database
				}
				_, _, err := restore(t, kind, hostile(t, archive, tc.change), nil)
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: %v, want %q", name, err, tc.want)
				}
			}
		})
	}
}
